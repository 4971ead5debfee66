#pragma once
// The parts of the sentences by which a verdict calls its expectations.

#include <optional>
#include <string>

#include "analysis/expect/expect_losses.h"
#include "analysis/expect/expectation_parts.h"
#include "fabric/text/ratio.h"

namespace mrclab::analysis {

/// What of a run its sentences refer to.
struct RunTimes {
  std::optional<FabricTime> healed;          ///< the end of the last fault
  FabricTime base_rtt = FabricTime::zero();  ///< zero: unknown
};

class Wording {
 public:
  explicit Wording(const RunTimes& times) : times_(times) {}

  /// "95 %"
  static std::string share(Probability p);
  static std::string multiple(const Ratio& ratio);
  /// " of baseline"
  static std::string of(const GoodputReference& reference);
  /// " from h0 to h4 in plane 1"
  static std::string who(const FlowSelection& flows);
  /// " of llama"; nothing for every job
  static std::string of_job(const std::string& name) { return name.empty() ? "" : " of " + name; }
  static std::string at_least(const std::string& bound) { return " ≥ " + bound; }
  static std::string at_most(const std::string& bound) { return " ≤ " + bound; }
  /// " ≥ low and ≤ high", of which only the given bounds are named: a default-made `low` and `high`
  /// == `most` stand for none.
  template <class Bound, class Text>
  static std::string bounds(const Bound& low, const Bound& high, const Bound& most, Text text) {
    const bool has_low = low != Bound{}, has_high = high != most;
    return (has_low ? at_least(text(low)) : "") + (has_low && has_high ? " and" : "") +
           (has_high ? at_most(text(high)) : "");
  }
  static std::string count_bounds(uint64_t low, uint64_t high);

  /// "66.12us (6 RTT)", "600us"
  std::string time(FabricTime t) const;
  /// The interval in words. An interval from behind the last heal to the end is called so.
  std::string when(const auto& e) const { return interval(e.from, e.until); }
  /// "packets lost", by which flows, when, and how many
  std::string packets(const char* what, const PacketBounds& e) const;
  /// A bound of liveness; zero: kLivenessRtts.
  std::string within(FabricTime bound) const;

 private:
  std::string interval(FabricTime from, FabricTime until) const;

  RunTimes times_;
};

}  // namespace mrclab::analysis
