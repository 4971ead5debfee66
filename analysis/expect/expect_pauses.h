#pragma once
// Expectations of RoCE's traffic class, which ports may pause: that no queue loses any of it, for how much of
// the time it stands, and that it does not stand in a circle.

#include "analysis/expect/expectation_parts.h"

namespace mrclab::analysis {

/// No data of RoCE was dropped for lack of room: by a full queue or buffer of a switch, by its watchdog, or
/// by a NIC whose receive buffer was full. A wire, a port or a switch that a fault has broken may lose what
/// it had: flow control promises room, not that cables hold.
struct ExpectLossless {
  static constexpr ExpectationWord kWord{"lossless", Measure::kCount};
  FabricTime from = {};
  FabricTime until = FabricTime::never();
  bool operator==(const ExpectLossless&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("from", e.from, Need::kOptional);
    visit("until", e.until, Need::kOptional);
  }
};
const Rules<ExpectLossless>& rules_of(const ExpectLossless&);

/// The share of the time between `from` and `until` for which RoCE's data stood paused at a port, of all ports
/// that `port` names ("p0.t0-*:u*"; empty: all) that with the largest share.
struct ExpectPause {
  static constexpr ExpectationWord kWord{"pause", Measure::kShare,
                                         "\"pause: {at_most: 5%, port: h3:p0}\""};
  static constexpr bool kBounded = true;
  Probability at_least = {};  ///< zero: no such bound
  Probability at_most{Probability::kOne};
  std::string port;
  FabricTime from = {};
  FabricTime until = FabricTime::never();
  bool operator==(const ExpectPause&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("at_least", e.at_least, Need::kOptionalPositive);
    visit("at_most", e.at_most, Need::kOptional);
    visit("port", e.port, Need::kOptional);
    visit("from", e.from, Need::kOptional);
    visit("until", e.until, Need::kOptional);
  }
};
const Rules<ExpectPause>& rules_of(const ExpectPause&);

/// 32 base RTTs: the buffer of a port, three plane BDPs as built, leaves at a tenth of the link's rate in
/// less (our choice).
inline constexpr int64_t kDeadlockRtts = 32;

/// No circle of ports, each of which is paused by a switch that stands at the next one, stood for longer than
/// this (analysis/measure/pause_circle.h).
struct ExpectDeadlockFree {
  static constexpr ExpectationWord kWord{"deadlock_free", Measure::kCount};
  FabricTime longer_than = {};  ///< zero: kDeadlockRtts
  bool operator==(const ExpectDeadlockFree&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("longer_than", e.longer_than, Need::kOptionalPositive);
  }
};
const Rules<ExpectDeadlockFree>& rules_of(const ExpectDeadlockFree&);

}  // namespace mrclab::analysis
