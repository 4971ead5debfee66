#pragma once
// Steady before the first fault, and alive again after the last heal. `liveness` in a file stands
// for all of these but `steady`.

#include "analysis/expect/expectation_parts.h"

namespace mrclab::analysis {

/// 100 base RTTs: the default bound of liveness.
inline constexpr int64_t kLivenessRtts = 100;

/// The baseline before the first fault varies by at most 5 %; otherwise the check is inconclusive.
struct ExpectSteady {
  static constexpr ExpectationWord kWord{"steady", Measure::kShare};
  bool operator==(const ExpectSteady&) const = default;
};
const Rules<ExpectSteady>& rules_of(const ExpectSteady&);

/// healed, goodput_back, evs_good and queues_empty, within the same bound: opened by
/// without_bundles() before anything is judged.
struct ExpectLiveness {
  static constexpr ExpectationWord kWord{"liveness", Measure::kCount};
  FabricTime within = {};  ///< zero: kLivenessRtts
  bool operator==(const ExpectLiveness&) const = default;

  static void fields(auto& e, auto&& visit) { visit("within", e.within, Need::kOptionalPositive); }
};
const Rules<ExpectLiveness>& rules_of(const ExpectLiveness&);

/// At the end, every fault that heals is undone.
struct ExpectHealed {
  static constexpr ExpectationWord kWord{"healed", Measure::kCount};
  bool operator==(const ExpectHealed&) const = default;
};
const Rules<ExpectHealed>& rules_of(const ExpectHealed&);

/// From the last heal to the end of the first whole 20-RTT window behind it
/// that reaches `to` of the baseline; zero if no window behind the heal ever
/// misses it. A run that does not get there, or has no steady baseline, is
/// held against its fault-free twin (measurements.h), window by window.
struct ExpectGoodputBack {
  static constexpr ExpectationWord kWord{"goodput_back", Measure::kTime};
  FabricTime within = {};  ///< zero: kLivenessRtts
  Probability to{950'000'000};
  bool operator==(const ExpectGoodputBack&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("within", e.within, Need::kOptionalPositive);
    visit("to", e.to, Need::kOptionalPositive);
  }
};
const Rules<ExpectGoodputBack>& rules_of(const ExpectGoodputBack&);

/// From the last heal to when every entropy value of every living QP is usable again, but for those
/// that the operator still denies.
struct ExpectEvsGood {
  static constexpr ExpectationWord kWord{"evs_good", Measure::kTime};
  FabricTime within = {};  ///< zero: kLivenessRtts
  bool operator==(const ExpectEvsGood&) const = default;

  static void fields(auto& e, auto&& visit) { visit("within", e.within, Need::kOptionalPositive); }
};
const Rules<ExpectEvsGood>& rules_of(const ExpectEvsGood&);

/// No queue that a fault left stands at the end. If all work has ended, no frame is left
/// in any switch. While work goes on, every host port is judged by the packet that
/// waited least on its whole way in the last 20 RTT. It may have waited as long as the
/// one that waited least in the 20 RTT before the first fault, plus what a switch leaves
/// unmarked (the ECN minimum); at a port that is busy for 80 % of the time the delay
/// that congestion control aims at takes the place of the ECN minimum. A busy port that
/// was not used before the fault is not judged, and neither is one that is busy for 95 %
/// of the time, because that port still sends what the faults held up, or its workload fills it.
struct ExpectQueuesEmpty {
  static constexpr ExpectationWord kWord{"queues_empty", Measure::kTime};
  bool operator==(const ExpectQueuesEmpty&) const = default;
};
const Rules<ExpectQueuesEmpty>& rules_of(const ExpectQueuesEmpty&);

}  // namespace mrclab::analysis
