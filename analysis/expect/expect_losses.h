#pragma once
// Expectations of how many data packets there were of some sort: lost, trimmed, retransmitted; and of
// counters made from the captures.

#include "analysis/expect/expectation_parts.h"
#include "fabric/text/yaml.h"

namespace mrclab::analysis {

/// Data packets lost (with a drop record) by one QP between `from` and `until`; the QP that lost
/// most counts. Each direction of a QP counts for itself.
struct ExpectLossesPerQp {
  static constexpr ExpectationWord kWord{"losses_per_qp", Measure::kCount,
                                         "\"losses_per_qp: {at_most: 5}\""};
  uint64_t at_most = 0;
  FabricTime from = {};
  FabricTime until = FabricTime::never();
  FlowSelection flows = {};
  bool operator==(const ExpectLossesPerQp&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("at_most", e.at_most, Need::kRequired);
    visit("from", e.from, Need::kOptional);
    visit("until", e.until, Need::kOptional);
    FlowSelection::fields(e.flows, visit);
  }
};
const Rules<ExpectLossesPerQp>& rules_of(const ExpectLossesPerQp&);

/// The share of the QPs (directions with data) that lost a data packet between `from` and `until`.
struct ExpectAffectedQps {
  static constexpr ExpectationWord kWord{"affected_qps", Measure::kShare,
                                         "\"affected_qps: {at_least: 15%, at_most: 35%}\""};
  static constexpr bool kBounded = true;
  Probability at_least = {};  ///< zero: no such bound
  Probability at_most{Probability::kOne};
  FabricTime from = {};
  FabricTime until = FabricTime::never();
  FlowSelection flows = {};
  bool operator==(const ExpectAffectedQps&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("at_least", e.at_least, Need::kOptionalPositive);
    visit("at_most", e.at_most, Need::kOptional);
    visit("from", e.from, Need::kOptional);
    visit("until", e.until, Need::kOptional);
    FlowSelection::fields(e.flows, visit);
  }
};
const Rules<ExpectAffectedQps>& rules_of(const ExpectAffectedQps&);

/// How many of something there were between `from` and `until`, of the selected flows.
struct PacketBounds {
  static constexpr uint64_t kNoBound = UINT64_MAX;
  static constexpr bool kBounded = true;
  uint64_t at_least = 0;
  uint64_t at_most = kNoBound;  ///< at least one of the two is given
  FabricTime from = {};
  FabricTime until = FabricTime::never();
  FlowSelection flows = {};
  bool operator==(const PacketBounds&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("at_least", e.at_least, Need::kOptional);
    visit("at_most", e.at_most, Need::kOptional);
    visit("from", e.from, Need::kOptional);
    visit("until", e.until, Need::kOptional);
    FlowSelection::fields(e.flows, visit);
  }
};
/// Data packets lost, by their drop records.
struct ExpectLosses : PacketBounds {
  static constexpr ExpectationWord kWord{"losses", Measure::kCount,
                                         "\"losses: {at_most: 40, from: 300us}\""};
  bool operator==(const ExpectLosses&) const = default;
};
const Rules<ExpectLosses>& rules_of(const ExpectLosses&);

/// Data packets that were cut to their headers by a switch.
struct ExpectTrims : PacketBounds {
  static constexpr ExpectationWord kWord{"trims", Measure::kCount, "\"trims: {at_most: 0}\""};
  bool operator==(const ExpectTrims&) const = default;
};
const Rules<ExpectTrims>& rules_of(const ExpectTrims&);

/// Retransmissions that began to leave their host.
struct ExpectRetransmissions : PacketBounds {
  static constexpr ExpectationWord kWord{"retransmissions", Measure::kCount,
                                         "\"retransmissions: {at_most: 40}\""};
  bool operator==(const ExpectRetransmissions&) const = default;
};
const Rules<ExpectRetransmissions>& rules_of(const ExpectRetransmissions&);

/// A counter of the whole run, made from the captures (analysis/history/counter_names.h).
struct ExpectCounter {
  static constexpr ExpectationWord kWord{"counter", Measure::kCount,
                                         "\"counter: {name: duplicate_deliveries, at_most: 0}\""};
  static constexpr bool kBounded = true;
  std::string name;
  uint64_t at_least = 0;
  uint64_t at_most = PacketBounds::kNoBound;  ///< at least one of the two is given
  bool operator==(const ExpectCounter&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("name", e.name, Need::kRequired);
    visit("at_least", e.at_least, Need::kOptional);
    visit("at_most", e.at_most, Need::kOptional);
  }
  /// Throws InputError for a name that no counter has.
  void check_whole(const YamlValue& body) const;
};
const Rules<ExpectCounter>& rules_of(const ExpectCounter&);

}  // namespace mrclab::analysis
