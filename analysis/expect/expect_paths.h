#pragma once
// Expectations of which paths are used, and how much.

#include "analysis/expect/expectation_parts.h"

namespace mrclab::analysis {

/// The share that paths have in the first attempts of the selected flows that begin in
/// [from, until). `path` is a pattern: "p0/u1", "p0/*", "p*/u2"; T0-local paths end in "-".
struct ExpectShare {
  static constexpr ExpectationWord kWord{"share", Measure::kShare,
                                         "\"share: {path: p0/*, from: 600us, at_least: 11%}\""};
  static constexpr bool kBounded = true;
  std::string path;
  Probability at_least = {};  ///< zero: no such bound; at least one of the two
  Probability at_most{Probability::kOne};
  FabricTime from = {};
  FabricTime until = FabricTime::never();
  FlowSelection flows = {};
  bool operator==(const ExpectShare&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("path", e.path, Need::kRequired);
    visit("at_least", e.at_least, Need::kOptionalPositive);
    visit("at_most", e.at_most, Need::kOptional);
    visit("from", e.from, Need::kOptional);
    visit("until", e.until, Need::kOptional);
    FlowSelection::fields(e.flows, visit);
  }
};
const Rules<ExpectShare>& rules_of(const ExpectShare&);

/// Where switches choose for each packet (routing: fare): the share that `port` has in the data packets which leave
/// by the ports of `among` in [from, until), as the captures of the switches show. Both are patterns of ports:
/// "p0.t0-0:u[0-3]" among "p0.t0-0:u*".
struct ExpectPortShare {
  static constexpr ExpectationWord kWord{
      "port_share", Measure::kShare,
      "\"port_share: {port: p0.t0-0:u0, among: p0.t0-0:u*, at_least: 20%, at_most: 23%}\""};
  static constexpr bool kBounded = true;
  std::string port;
  std::string among;
  Probability at_least = {};  ///< zero: no such bound; at least one of the two
  Probability at_most{Probability::kOne};
  FabricTime from = {};
  FabricTime until = FabricTime::never();
  std::string source = {}, destination = {};  ///< patterns of hosts; empty: any
  bool operator==(const ExpectPortShare&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("port", e.port, Need::kRequired);
    visit("among", e.among, Need::kRequired);
    visit("at_least", e.at_least, Need::kOptionalPositive);
    visit("at_most", e.at_most, Need::kOptional);
    visit("from", e.from, Need::kOptional);
    visit("until", e.until, Need::kOptional);
    visit("source", e.source, Need::kOptional);
    visit("destination", e.destination, Need::kOptional);
  }
};
const Rules<ExpectPortShare>& rules_of(const ExpectPortShare&);

/// No data packet, first transmission or retransmission, begins to leave for one of these paths in
/// [from, until), but for `at_most`. Probes may.
struct ExpectPathUnused {
  static constexpr ExpectationWord kWord{
      "path_unused", Measure::kCount, "\"path_unused: {path: p0/u1, from: 320us, until: 400us}\""};
  std::string path;  ///< as in ExpectShare
  FabricTime from;
  FabricTime until = FabricTime::never();
  uint64_t at_most = 0;
  FlowSelection flows = {};
  bool operator==(const ExpectPathUnused&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("path", e.path, Need::kRequired);
    visit("from", e.from, Need::kRequired);
    visit("until", e.until, Need::kOptional);
    visit("at_most", e.at_most, Need::kOptional);
    FlowSelection::fields(e.flows, visit);
  }
};
const Rules<ExpectPathUnused>& rules_of(const ExpectPathUnused&);

}  // namespace mrclab::analysis
