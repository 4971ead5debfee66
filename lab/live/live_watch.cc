// Observes the live lab's daemons, links and foreign switches while it runs, and turns changes by
// other programs into outside faults.

#include <fmt/format.h>

#include "lab/live/live_lab.h"
#include "netio/kernel/file_descriptor.h"
#include "netio/kernel/system_error.h"
#include "netio/rpc/exit_codes.h"

namespace mrclab::lab {

using netio::ProcessState;

void LiveLab::watch_children() {
  for (uint32_t i = 0; i < children_.size(); ++i) {
    const ProcessState state = gate_.state(i);
    if (state == ProcessState::kReleased || state == ProcessState::kFailed) continue;
    if (children_[i]->running()) continue;
    const bool had_finished = state == ProcessState::kFinished;
    gate_.set_state(i, had_finished ? ProcessState::kFinished : ProcessState::kFailed);
    if (had_finished) continue;
    const netio::ExitStatus status = *children_[i]->wait(std::chrono::milliseconds(0));
    outside_faults_.add(
        {.kind = OutsideFault::Kind::kDied,
         .t = now(),
         .what = fmt::format("{} ended with {} at {}{}", plan_.processes[i].name, to_string(status),
                             to_string(now()), last_words(i)),
         .process = i,
         .disk_full = status.signal_number == 0 && status.code == netio::kDiskFullExit});
  }
}

std::string LiveLab::last_words(uint32_t process) const {
  std::string said;
  try {
    said = netio::read_file(fabric_->run_directory() / (plan_.processes[process].name + ".out"));
  } catch (const netio::SystemError&) {
    return "";
  }
  while (!said.empty() && said.back() == '\n') said.pop_back();
  return said.empty() ? "" : ": " + said.substr(said.rfind('\n') + 1);
}

void LiveLab::watch_heartbeats() {
  const netio::LabTime lab_now = netio::LabTime::now();
  const int64_t patience = std::chrono::nanoseconds(kGatePatience).count();
  for (uint32_t i = 0; i < children_.size(); ++i) {
    if (gate_.state(i) != ProcessState::kReady) continue;
    const int64_t beat = gate_.slot(i).heartbeat_ns.load(std::memory_order_relaxed);
    if (beat == 0 || lab_now.ns - beat < patience) continue;
    gate_.set_state(i, ProcessState::kReleased);
    outside_faults_.add(
        {.kind = OutsideFault::Kind::kStoodStill,
         .t = now(),
         .what =
             fmt::format("{} stood still for {} s and was taken out of the gate at {}",
                         plan_.processes[i].name, kGatePatience.count() / 1000, to_string(now())),
         .process = i});
  }
}

void LiveLab::watch_links() {
  for (const ForeignLinkChange& change : links_->check()) {
    OutsideFault fault{.t = now(),
                       .what = fmt::format("somebody {} {} at {}", change.what,
                                           topology_.port_name(change.port), to_string(now())),
                       .port = change.port};
    if (change.kind == ForeignLinkChange::Kind::kDown) fault.kind = OutsideFault::Kind::kLinkDown;
    if (change.kind == ForeignLinkChange::Kind::kUp) fault.kind = OutsideFault::Kind::kLinkUp;
    if (fault.kind != OutsideFault::Kind::kOther) {
      ordinary_routes_.set_outside(change.port, change.kind == ForeignLinkChange::Kind::kUp);
    }
    outside_faults_.add(std::move(fault));
  }
}

void LiveLab::watch_ovs() {
  if (!ovs_) return;
  if (const auto ended = ovs_->check()) {
    note_outside(fmt::format("{} ended at {}", *ended, to_string(now())));
  }
}

/// Makes the kernel's link follow the modelled one. If another program has deleted it,
/// watch_links() reports that.
void LiveLab::mirror_link(LinkId link, bool up) {
  try {
    fabric_->set_link(link, up);
  } catch (const netio::SystemError& error) {
    if (error.error_number() != ENODEV) note_outside(error.what());
  } catch (const std::runtime_error& error) {  // up, but without a carrier
    note_outside(error.what());
  }
}

void LiveLab::note_outside(std::string what) {
  outside_faults_.add({.t = now(), .what = std::move(what)});
}

void LiveLab::watch_foreign_switches() {
  if (!foreign_ || !started_) return;
  foreign_->step();
  for (std::string& problem : foreign_->take_problems()) note_outside(std::move(problem));
}

void LiveLab::look_again() {
  watch_children();
  watch_links();
  watch_ovs();
  if (!foreign_) return;
  foreign_->look_again();
  for (std::string& problem : foreign_->take_problems()) note_outside(std::move(problem));
}

}  // namespace mrclab::lab
