#include "lab/live/outside_watch.h"

#include <fmt/format.h>

#include <cerrno>

#include "netio/kernel/system_error.h"

namespace mrclab::lab {

OutsideWatch::OutsideWatch(const Subjects& subjects, OutsideFaults& faults,
                           std::function<FabricTime()> now)
    : subjects_(subjects), links_(subjects.fabric), faults_(faults), now_(std::move(now)) {}

void OutsideWatch::look_at_links() {
  for (const OutsideLinkChange& change : links_.check()) {
    OutsideFault fault{
        .t = now_(),
        .what = fmt::format("somebody {} {} at {}", change.what,
                            subjects_.fabric.topology().port_name(change.port), to_string(now_())),
        .port = change.port};
    if (change.kind == OutsideLinkChange::Kind::kDown) fault.kind = OutsideFault::Kind::kLinkDown;
    if (change.kind == OutsideLinkChange::Kind::kUp) fault.kind = OutsideFault::Kind::kLinkUp;
    if (fault.kind != OutsideFault::Kind::kOther) {
      subjects_.routes.set_outside(change.port, change.kind == OutsideLinkChange::Kind::kUp);
    }
    faults_.add(std::move(fault));
  }
}

void OutsideWatch::look_at_processes() {
  std::optional<std::string> ended;
  if (subjects_.ovs != nullptr) ended = subjects_.ovs->check();
  if (!ended && subjects_.speakers != nullptr) ended = subjects_.speakers->check();
  if (ended) note(fmt::format("{} ended at {}", *ended, to_string(now_())));
}

void OutsideWatch::collect_problems() {
  if (subjects_.foreign == nullptr) return;
  for (std::string& problem : subjects_.foreign->take_problems()) note(std::move(problem));
}

void OutsideWatch::look_again() {
  look_at_links();
  look_at_processes();
  if (subjects_.foreign == nullptr) return;
  subjects_.foreign->look_again();
  collect_problems();
}

void OutsideWatch::mirror_link(LinkId link, bool up) {
  try {
    subjects_.fabric.set_link(link, up);
  } catch (const netio::SystemError& error) {
    if (error.error_number() != ENODEV) note(error.what());
  } catch (const std::runtime_error& error) {  // up, but without a carrier
    note(error.what());
  }
}

void OutsideWatch::note(std::string what) { faults_.add({.t = now_(), .what = std::move(what)}); }

}  // namespace mrclab::lab
