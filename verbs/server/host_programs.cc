#include "verbs/server/host_programs.h"

#include <algorithm>

namespace mrclab::verbs {
namespace {

void set_owner(std::map<uint32_t, ProgramShare*>& of, uint32_t number, ProgramShare* program) {
  if (program == nullptr) {
    of.erase(number);
  } else {
    of[number] = program;
  }
}

ProgramShare* find_owner(const std::map<uint32_t, ProgramShare*>& of, uint32_t number) {
  const auto found = of.find(number);
  return found != of.end() ? found->second : nullptr;
}

}  // namespace

HostPrograms::HostPrograms(endpoint::Device& device, HostFacts facts)
    : device_(device), facts_(std::move(facts)), controller_(device) {
  device_.set_user(this);
}

HostPrograms::~HostPrograms() { device_.set_user(nullptr); }

void HostPrograms::add(ProgramShare& program) { programs_.push_back(&program); }
void HostPrograms::remove(ProgramShare& program) { std::erase(programs_, &program); }

void HostPrograms::own(endpoint::CqHandle cq, ProgramShare* program) {
  set_owner(cqs_, cq.value, program);
}
void HostPrograms::own(Qpn qpn, ProgramShare* program) { set_owner(qps_, qpn.value, program); }
void HostPrograms::own(endpoint::SrqHandle srq, ProgramShare* program) {
  set_owner(srqs_, srq.value, program);
}

bool HostPrograms::deliver() {
  bool some = false;
  for (ProgramShare* const program : programs_) some = program->deliver() || some;
  return some;
}

bool HostPrograms::hand_out_events() {
  if (!events_) return false;
  events_ = false;
  while (const std::optional<endpoint::AsyncEvent> event = device_.next_async_event()) {
    using Kind = endpoint::AsyncEvent::Kind;
    const bool everyone = event->kind == Kind::kPortActive || event->kind == Kind::kPortError ||
                          event->kind == Kind::kGidChange;
    if (everyone) {
      for (ProgramShare* const program : programs_) program->note_event(*event);
    } else if (ProgramShare* const owner = owner_of(*event)) {
      owner->note_event(*event);
    }
  }
  return true;
}

ProgramShare* HostPrograms::owner_of(const endpoint::AsyncEvent& event) const {
  using Kind = endpoint::AsyncEvent::Kind;
  if (event.kind == Kind::kCqError) return find_owner(cqs_, event.cq.value);
  if (event.kind == Kind::kSrqLimit) return find_owner(srqs_, event.srq.value);
  return find_owner(qps_, event.qpn.value);
}

void HostPrograms::on_completion(endpoint::CqHandle cq) {
  if (ProgramShare* const owner = find_owner(cqs_, cq.value)) owner->note_completion(cq);
}

void HostPrograms::on_async_event() {
  if (events_) return;
  events_ = true;
  for (ProgramShare* const program : programs_) program->note_something();
}

/// The controller takes it when a program polls: one that is held looks again.
void HostPrograms::on_path_probe() { on_memory_written(); }

void HostPrograms::on_memory_written() {
  for (ProgramShare* const program : programs_) program->note_something();
}

void HostPrograms::on_wake() {
  deliver();
  // A program may end, and another may come, while one is called.
  for (size_t i = 0; i < programs_.size(); ++i) programs_[i]->wake();
}

/// Programs of a host that lost its power are gone with it.
void HostPrograms::on_power_lost() {
  for (ProgramShare* const program : programs_) program->note_power_lost();
}

}  // namespace mrclab::verbs
