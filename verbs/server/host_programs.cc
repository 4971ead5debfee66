#include "verbs/server/host_programs.h"

#include <algorithm>

#include "verbs/server/verbs_session.h"

namespace mrclab::verbs {
namespace {

template <class Number>
void set_owner(std::map<Number, VerbsSession*>& of, Number number, VerbsSession* session) {
  if (session == nullptr) {
    of.erase(number);
  } else {
    of[number] = session;
  }
}

template <class Number>
VerbsSession* find_owner(const std::map<Number, VerbsSession*>& of, Number number) {
  const auto found = of.find(number);
  return found != of.end() ? found->second : nullptr;
}

}  // namespace

HostPrograms::HostPrograms(endpoint::Device& device, HostFacts facts)
    : device_(device), facts_(std::move(facts)) {
  device_.set_user(this);
}

HostPrograms::~HostPrograms() { device_.set_user(nullptr); }

void HostPrograms::add(VerbsSession& session) { sessions_.push_back(&session); }
void HostPrograms::remove(VerbsSession& session) { std::erase(sessions_, &session); }

void HostPrograms::own(endpoint::CqHandle cq, VerbsSession* session) {
  set_owner(cqs_, cq.value, session);
}
void HostPrograms::own(Qpn qpn, VerbsSession* session) { set_owner(qps_, qpn.value, session); }
void HostPrograms::own(endpoint::SrqHandle srq, VerbsSession* session) {
  set_owner(srqs_, srq.value, session);
}

void HostPrograms::own_probe(uint64_t request, VerbsSession* session) {
  set_owner(probes_, request, session);
}

bool HostPrograms::deliver() {
  bool some = false;
  for (VerbsSession* const session : sessions_) some = session->deliver() || some;
  return some;
}

bool HostPrograms::hand_out_events() {
  if (!events_) return false;
  events_ = false;
  while (const std::optional<endpoint::PathProbe> probe = device_.next_path_probe()) {
    if (VerbsSession* const owner = find_owner(probes_, probe->request)) owner->note_probe(*probe);
  }
  while (const std::optional<endpoint::AsyncEvent> event = device_.next_async_event()) {
    using Kind = endpoint::AsyncEvent::Kind;
    const bool everyone = event->kind == Kind::kPortActive || event->kind == Kind::kPortError ||
                          event->kind == Kind::kGidChange;
    if (everyone) {
      for (VerbsSession* const session : sessions_) session->note_event(*event);
    } else if (VerbsSession* const owner = owner_of(*event)) {
      owner->note_event(*event);
    }
  }
  return true;
}

VerbsSession* HostPrograms::owner_of(const endpoint::AsyncEvent& event) const {
  using Kind = endpoint::AsyncEvent::Kind;
  if (event.kind == Kind::kCqError) return find_owner(cqs_, event.cq.value);
  if (event.kind == Kind::kSrqLimit) return find_owner(srqs_, event.srq.value);
  return find_owner(qps_, event.qpn.value);
}

void HostPrograms::on_completion(endpoint::CqHandle cq) {
  if (VerbsSession* const owner = find_owner(cqs_, cq.value)) owner->note_completion(cq);
}

void HostPrograms::on_async_event() {
  if (events_) return;
  events_ = true;
  for (VerbsSession* const session : sessions_) session->note_memory_written();
}

void HostPrograms::on_path_probe() { on_async_event(); }

void HostPrograms::on_memory_written() {
  for (VerbsSession* const session : sessions_) session->note_memory_written();
}

void HostPrograms::on_wake() {
  deliver();
  // A program may end, and another may come, while one is called.
  for (size_t i = 0; i < sessions_.size(); ++i) {
    if (SessionUser* const user = sessions_[i]->user_) user->on_wake();
  }
}

/// Programs of a host that lost its power are gone with it.
void HostPrograms::on_power_lost() {
  for (VerbsSession* const session : sessions_) session->note_power_lost();
}

}  // namespace mrclab::verbs
