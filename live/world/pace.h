#pragma once
// How fast fabric time passes: the clock's only writer. A fixed pace stays as
// it is; `auto` does what pace_controller.h decides. The gate keeps the run
// right in any case: pace decides only how long it takes.
//
// A fixed pace may be more than the machine can do. Without a leash the clock then runs away from the processes, and
// catches up when there is time again. Frames that a kernel sent are stamped with the clock: each would wait for as
// long as the processes are behind, and a ping through a lab on a starved machine would find its sender gone. So a
// leash makes the lab forget the time that it was held up for.

#include <cstdint>
#include <optional>

#include "fabric/base/units.h"
#include "live/world/pace_controller.h"
#include "netio/runtime/clock_page.h"

namespace mrclab::lab {

/// Dilation as it was: lab seconds per fabric second over windows of at least 100 ms lab time.
struct DilationReport {
  double min = 0;
  double mean = 0;
  double max = 0;
  uint64_t jumps = 0;  ///< over stretches in which nothing happened
  uint64_t holds = 0;  ///< the clock began to wait for a process
};

class Pace {
 public:
  static constexpr int64_t kWindowNs = 100'000'000;

  /// What the lab sees of its processes; `slowest` and the rest as in PaceInput.
  struct Reading {
    FabricTime slowest;
    std::optional<FabricTime> quiet_until;
  };

  /// `fixed`: a pace that neither adapts nor jumps. `leash`: as in GatePage::leash_ps.
  Pace(netio::ClockPage& clock, std::optional<double> fixed, FabricTime leash)
      : clock_(clock), fixed_(fixed), leash_(leash), controller_(leash) {}

  /// Lets time start; at a pace of its own once every process has done the instant 0.
  void start(netio::LabTime now);
  /// Called every few milliseconds. Returns where the clock jumps to, if it does.
  std::optional<FabricTime> step(const Reading& reading, netio::LabTime now);
  void pause(netio::LabTime now);
  void resume(netio::LabTime now);
  bool paused() const { return paused_; }
  /// The pace that was chosen, in a pause too.
  double dilation() const { return fixed_.value_or(controller_.dilation()); }
  /// Does the clock stand, because of a pause or because time has not begun?
  bool standing() const { return paused_ || (!fixed_ && !controller_.begun()); }
  bool fixed() const { return fixed_.has_value(); }
  /// Ends the last window. `slowest` as in step.
  DilationReport report(FabricTime slowest, netio::LabTime now) const;

 private:
  void note_window(FabricTime slowest, netio::LabTime now);
  /// Takes a clock of fixed pace back to its leash when it is two of them ahead.
  void hold_back(FabricTime slowest, netio::LabTime now);

  netio::ClockPage& clock_;
  std::optional<double> fixed_;
  FabricTime leash_;
  PaceController controller_;
  bool paused_ = false;
  uint64_t held_back_ = 0;  ///< how often hold_back() stepped the clock back
  netio::LabTime started_{}, window_start_{};
  FabricTime at_window_{};
  double least_ = 0, most_ = 0;  ///< dilation of the windows so far; 0: there was none
};

}  // namespace mrclab::lab
