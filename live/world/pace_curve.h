#pragma once
// What the pace was over fabric time, and what decided it. Bounded: when there are too many points,
// neighbours become one and the points to come cover twice as much lab time.

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/base/units.h"
#include "netio/runtime/gate.h"

namespace mrclab::lab {

class PaceCurve {
 public:
  static constexpr size_t kMaxPoints = 1000;
  static constexpr int64_t kFirstSpanNs = 10'000'000;

  struct Point {
    FabricTime fabric;             ///< committed by every process at the end of the span
    int64_t lab_ns = 0;            ///< since the first call
    double dilation = 0;           ///< that was achieved in the span; 0: no process moved on
    int64_t slack_ns = INT64_MAX;  ///< least in the span; INT64_MAX: no frame came
    uint32_t slack_of = netio::kNoProcess;
    FabricTime behind;                     ///< most that the slowest process was behind the clock
    uint32_t slowest = netio::kNoProcess;  ///< that process
    uint32_t waited_for = netio::kNoProcess;  ///< the process that it waited for, if any
  };

  /// Least slack of a process since the last call.
  void note_slack(uint32_t process, int64_t slack_ns);
  /// Called every few milliseconds.
  void step(const netio::GatePage& gate, netio::LabTime now);
  /// Ends the current span: the instant that every process has committed, lab time since the first call. For step(),
  /// and tests.
  void close(FabricTime fabric, int64_t lab_ns);
  const std::vector<Point>& points() const { return points_; }

 private:
  void halve();

  std::vector<Point> points_;
  Point open_;
  std::optional<netio::LabTime> began_;
  int64_t span_ns_ = kFirstSpanNs;
};

}  // namespace mrclab::lab
