#pragma once
// How fast fabric time passes. `auto` runs as fast as the gate allows with some slack
// in hand: when the slowest process falls behind the clock, the clock slows down; when all keep up,
// it speeds up. The gate keeps the run right in any case: pace decides only how long it takes.

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/units.h"
#include "netio/clock_page.h"

namespace mrclab::lab {

/// Dilation as it was: lab seconds per fabric second over windows of at least 100 ms lab time.
struct DilationReport {
  double min = 0;
  double mean = 0;
  double max = 0;
};

class Pace {
 public:
  static constexpr double kStart = 5'000;
  static constexpr double kFastest = 100;
  static constexpr double kSlowest = 1'000'000;
  static constexpr int64_t kAdjustEveryNs = 20'000'000;
  static constexpr int64_t kWindowNs = 100'000'000;

  /// `fixed`: a pace that does not adapt. `head_start`: the shortest lookahead of the fabric's
  /// wires; a process may be behind the clock by a part of it before anybody needs what it has not
  /// sent.
  Pace(netio::ClockPage& clock, std::optional<double> fixed, FabricTime head_start)
      : clock_(clock), fixed_(fixed), head_start_(head_start) {}

  /// Lets time start.
  void start(netio::LabTime now);
  /// Called every few milliseconds with the fabric time that every process has committed.
  void step(FabricTime slowest, netio::LabTime now);
  void pause(netio::LabTime now);
  void resume(netio::LabTime now);
  bool paused() const { return paused_; }
  double dilation() const { return dilation_; }
  /// Ends the last window. `slowest` as in step.
  DilationReport report(FabricTime slowest, netio::LabTime now) const;

 private:
  void adjust(FabricTime slowest, netio::LabTime now);

  netio::ClockPage& clock_;
  std::optional<double> fixed_;
  FabricTime head_start_;
  double dilation_ = kStart;
  bool paused_ = false;
  bool holding_ = false;  ///< the clock waits for the slowest process
  netio::LabTime started_{}, adjusted_{}, window_start_{};
  FabricTime at_window_{};
  std::vector<double> windows_;
};

}  // namespace mrclab::lab
