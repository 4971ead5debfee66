#pragma once
// Expectations of how soon a fault is answered.

#include "analysis/expect/expectation_parts.h"

namespace mrclab::analysis {

/// The time from the start of each fault to the last first attempt by an affected sender on an
/// affected path.
struct ExpectDetect {
  static constexpr ExpectationWord kWord{"detect", Measure::kTime, "\"detect: {within: 6rtt}\""};
  FabricTime within;
  bool operator==(const ExpectDetect&) const = default;

  static void fields(auto& e, auto&& visit) { visit("within", e.within, Need::kPositive); }
};
const Rules<ExpectDetect>& rules_of(const ExpectDetect&);

/// The time from the start of each fault to the first sliding 20-RTT window whose goodput reaches
/// `to` of the baseline.
struct ExpectRecover {
  static constexpr ExpectationWord kWord{"recover", Measure::kTime,
                                         "\"recover: {within: 100rtt, to: 95%}\""};
  FabricTime within;
  Probability to{950'000'000};
  bool operator==(const ExpectRecover&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("within", e.within, Need::kPositive);
    visit("to", e.to, Need::kOptionalPositive);
  }
};
const Rules<ExpectRecover>& rules_of(const ExpectRecover&);

/// From the start of each fault to when every affected sender has first left the affected path: its
/// last first attempt there before it stays away for kAwayRtts. Unlike `detect` it does not mind
/// that a path that still delivers something is tried again later.
struct ExpectLeave {
  static constexpr ExpectationWord kWord{"leave", Measure::kTime, "\"leave: {within: 5rtt}\""};
  FabricTime within;
  bool operator==(const ExpectLeave&) const = default;

  static void fields(auto& e, auto&& visit) { visit("within", e.within, Need::kPositive); }
};
const Rules<ExpectLeave>& rules_of(const ExpectLeave&);

}  // namespace mrclab::analysis
