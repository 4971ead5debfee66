#pragma once
// When a host reports its window towards one peer (fabric/node/window_record.h): at most once in an
// interval, and once more when nothing is in flight any more, so that the last record covers the
// last answer. The interval is a base RTT; it doubles after every 256 records, so that a run of n
// base RTTs leaves at most 256 x (1 + log2(1 + n / 128)) of them for each peer. What is counted
// between two records is in the later one.

#include <optional>

#include "endpoint/congestion/congestion_control.h"

namespace mrclab::endpoint {

class WindowReports {
 public:
  static constexpr uint32_t kPerInterval = 256;  ///< records before the interval doubles

  WindowReports(FabricTime base_rtt, Bytes first_window)
      : interval_(base_rtt), said_(first_window) {}

  /// Is a record due now? After most packets none is.
  bool is_due(const CongestionControl& window, FabricTime now) const {
    const bool idle = window.in_flight().value == 0;
    if (now < (idle ? next_idle_ : next_)) return false;
    return !idle || window.has_news() || window.window() != said_;
  }
  /// The record that is due now, if anything has happened. Call it whenever something may have.
  std::optional<WindowRecord> due(CongestionControl& window, FabricTime now) {
    if (!is_due(window, now)) return std::nullopt;
    FabricTime& next = window.in_flight().value == 0 ? next_idle_ : next_;
    WindowRecord record = window.take_record();
    record.t = now;
    said_ = record.window;
    next = now + interval_;
    if (++count_ % kPerInterval == 0) interval_ = interval_ * 2;
    return record;
  }

 private:
  FabricTime interval_;
  Bytes said_;
  FabricTime next_;
  FabricTime next_idle_;
  uint32_t count_ = 0;
};

}  // namespace mrclab::endpoint
