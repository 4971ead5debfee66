#pragma once
// Expectations about who may send what to whom (fabric/topology/programs/program_table.h).

#include <string>
#include <vector>

#include "analysis/expect/expect_losses.h"
#include "analysis/expect/expectation_parts.h"
#include "fabric/text/yaml.h"

namespace mrclab::analysis {

/// Names of tenants; none: all of them.
struct TenantNames {
  std::vector<std::string> names;
  bool operator==(const TenantNames&) const = default;
};

/// No packet of a host of one of these tenants reached a host of another one, or of none. By what hosts' ports saw, not
/// by what any filter counted.
struct ExpectIsolated {
  static constexpr ExpectationWord kWord{"isolated", Measure::kCount};
  TenantNames tenants;
  bool operator==(const ExpectIsolated&) const = default;

  static void fields(auto& e, auto&& visit) { visit("tenants", e.tenants, Need::kOptional); }
};
const Rules<ExpectIsolated>& rules_of(const ExpectIsolated&);

/// Packets that were dropped for this cause and that a host had sent: by the port that they came in by, whatever source
/// they name.
struct ExpectDroppedFor {
  static constexpr ExpectationWord kWord{
      "dropped_for", Measure::kCount,
      "\"dropped_for: {reason: not_authorised, host: h3, at_least: 1}\""};
  static constexpr bool kBounded = true;
  std::string reason;
  std::string host;
  uint64_t at_least = 0;
  uint64_t at_most = PacketBounds::kNoBound;
  bool operator==(const ExpectDroppedFor&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("reason", e.reason, Need::kRequired);
    visit("host", e.host, Need::kOptional);
    visit("at_least", e.at_least, Need::kOptional);
    visit("at_most", e.at_most, Need::kOptional);
  }
};
const Rules<ExpectDroppedFor>& rules_of(const ExpectDroppedFor&);

/// Datagrams that are no MRC and that reached these hosts.
struct ExpectDatagrams {
  static constexpr ExpectationWord kWord{"datagrams", Measure::kCount,
                                         "\"datagrams: {to: h0, at_most: 0}\""};
  static constexpr bool kBounded = true;
  std::string to;
  uint64_t at_least = 0;
  uint64_t at_most = PacketBounds::kNoBound;
  bool operator==(const ExpectDatagrams&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("to", e.to, Need::kRequired);
    visit("at_least", e.at_least, Need::kOptional);
    visit("at_most", e.at_most, Need::kOptional);
  }
};
const Rules<ExpectDatagrams>& rules_of(const ExpectDatagrams&);

}  // namespace mrclab::analysis
