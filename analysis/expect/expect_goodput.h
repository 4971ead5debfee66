#pragma once
// Expectations of what applications get: goodput and what is made of it.

#include "analysis/expect/expectation_parts.h"
#include "fabric/text/yaml.h"

namespace mrclab::analysis {

/// Mean goodput in [from, until) of all flows, or of a selection, against a reference; the line
/// rate of a selection is that of its hosts' ports in the direction concerned (of `host`: in both),
/// and the line rate of a plane is that of the ports in it.
struct ExpectGoodput {
  static constexpr ExpectationWord kWord{"goodput", Measure::kShare,
                                         "\"goodput: {from: 600us, at_least: 95%, of: baseline}\""};
  static constexpr bool kBounded = true;
  FabricTime from = {};
  FabricTime until = FabricTime::never();  ///< never: to the end of the run
  Probability at_least = {};               ///< zero: no such bound; at least one of the two
  GoodputReference of = {};
  Probability at_most = {};
  FlowSelection flows = {};
  bool operator==(const ExpectGoodput&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("from", e.from, Need::kRequired);
    visit("until", e.until, Need::kOptional);
    visit("at_least", e.at_least, Need::kOptionalPositive);
    visit("at_most", e.at_most, Need::kOptionalPositive);
    visit("of", e.of, Need::kOptional);
    FlowSelection::fields(e.flows, visit);
  }
};
const Rules<ExpectGoodput>& rules_of(const ExpectGoodput&);

/// Intervals that one check looks at. A scenario that asks for more is refused when it is read.
inline constexpr int64_t kMaxIntervals = 1 << 20;

/// The longest stretch in which goodput stayed below a share of its reference: a row of intervals
/// of `every` (a quarter of the base RTT unless given), each below.
struct ExpectGap {
  static constexpr ExpectationWord kWord{"gap", Measure::kTime,
                                         "\"gap: {at_most: 20rtt, below: 10%}\""};
  FabricTime at_most;
  Probability below{100'000'000};
  GoodputReference of = {};
  FabricTime from = {};
  FabricTime until = FabricTime::never();
  FabricTime every = {};  ///< zero: base RTT / 4
  FlowSelection flows = {};
  bool operator==(const ExpectGap&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("at_most", e.at_most, Need::kPositive);
    visit("below", e.below, Need::kOptionalPositive);
    visit("of", e.of, Need::kOptional);
    visit("from", e.from, Need::kOptional);
    visit("until", e.until, Need::kOptional);
    visit("every", e.every, Need::kOptionalPositive);
    FlowSelection::fields(e.flows, visit);
  }
  /// Throws InputError for what no single field shows to be wrong.
  void check_whole(const YamlValue& body) const;
};
const Rules<ExpectGap>& rules_of(const ExpectGap&);

/// Goodput in intervals of `every` over [from, until), the last one only if it is whole: the lowest
/// over their mean.
struct ExpectSamples {
  static constexpr ExpectationWord kWord{
      "samples", Measure::kShare, "\"samples: {from: 300us, every: 20us, min_over_mean: 92%}\""};
  FabricTime from = {};
  FabricTime until = FabricTime::never();
  FabricTime every;
  Probability min_over_mean;
  FlowSelection flows = {};
  bool operator==(const ExpectSamples&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("from", e.from, Need::kRequired);
    visit("until", e.until, Need::kOptional);
    visit("every", e.every, Need::kPositive);
    visit("min_over_mean", e.min_over_mean, Need::kPositive);
    FlowSelection::fields(e.flows, visit);
  }
};
const Rules<ExpectSamples>& rules_of(const ExpectSamples&);

enum class FairnessMeasure : uint8_t {
  kJain,        ///< (sum x)^2 / (n x sum x^2): 1 if all are alike, 1/n if one has everything
  kMinOverMax,  ///< the lowest rate over the highest
};
/// How alike the goodputs of the selected pairs of hosts are in [from, until). Each pair of which the one has sent,
/// or was to send, to the other in the run counts, also if nothing arrived.
struct ExpectFairness {
  static constexpr ExpectationWord kWord{"fairness", Measure::kShare,
                                         "\"fairness: {destination: h0, at_least: 95%}\""};
  FabricTime from = {};
  FabricTime until = FabricTime::never();
  Probability at_least;
  FairnessMeasure by = FairnessMeasure::kJain;
  FlowSelection flows = {};
  bool operator==(const ExpectFairness&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("from", e.from, Need::kOptional);
    visit("until", e.until, Need::kOptional);
    visit("at_least", e.at_least, Need::kPositive);
    visit("by", e.by, Need::kOptional);
    FlowSelection::fields(e.flows, visit);
  }
};
const Rules<ExpectFairness>& rules_of(const ExpectFairness&);

}  // namespace mrclab::analysis
