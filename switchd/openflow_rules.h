#pragma once
// A switch as OpenFlow rules: the same uSID shift and static routes as forwarding_table.h, for Open
// vSwitch. Text in the syntax of `ovs-ofctl add-flows`, one rule a line; pure.
//
//   table 0  own uSID and an empty argument: drop. Own uSID: shift by `move`, one hop less, table 0
//            again (RFC 9800 §4.1.1 for each own uSID in a row). The uA of a link: shift, and out. Any
//            other carrier: table 1.
//            No carrier but a host's address: out, or at a T0 to the group of its uplinks (ECMP).
//   table 1  the uSIDs behind each port: MAC addresses of the link, out. A carrier that leads back out
//            of the port it came from goes there, as a router sends it; OpenFlow would drop it.
//   group 1  select: a bucket for each uplink that has carrier, chosen by Open vSwitch's own hash of
//            the five-tuple and the flow label (OpenFlow 1.5, selection_method=hash), which no
//            other program can compute.
//
// Packets that match no rule are dropped and counted, with the cause in the rule's cookie.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/base/ids.h"
#include "fabric/topology/topology.h"

namespace mrclab::switchd {

/// What a rule is for: the cookie that it carries, so that its counter can be named.
enum class RuleKind : uint32_t {
  kOwnUsid = 1,
  kEndOfCarrier = 2,
  kNeighbour = 3,  ///< an unshifted carrier, on its way to table 1
  kNextUsid = 4,   ///< low 16 bits of the cookie: the uSID
  kUnknownUsid = 5,
  kNoCarrier = 6,  ///< neither in the block nor IPv6
  kLink = 7,       ///< low 16 bits of the cookie: the uA
  kHost = 8,       ///< a host's address, without a carrier; low 16 bits of the cookie: its number
};
std::string_view name_of(RuleKind kind);

constexpr uint64_t cookie_of(RuleKind kind, Usid usid = Usid{0}) {
  return uint64_t{static_cast<uint32_t>(kind)} << 16 | usid.value;
}

/// The OpenFlow number of a port: 1 for the first.
constexpr uint32_t openflow_port(PortId port) { return port.value + 1; }

/// A rule's counters, as Open vSwitch reports them.
struct RuleCounter {
  RuleKind kind = RuleKind::kNoCarrier;
  Usid usid;
  uint32_t table = 0;
  uint64_t packets = 0, bytes = 0;
  std::optional<PortId> port = std::nullopt;  ///< the port that it sends to
  bool group = false;                         ///< it sends to the group of uplinks
};
/// Reads the output of `ovs-ofctl dump-flows`; leaves out lines that are no rule of ours.
std::vector<RuleCounter> parse_rule_counters(std::string_view text);

/// The groups of the switch `self`, which its rules need: in the syntax of `ovs-ofctl add-group`.
std::vector<std::string> openflow_groups(const Topology& topology, NodeId self);

/// The rule that sends a uSID out of a port, as built or elsewhere, and the match that names that
/// rule for its removal.
std::string openflow_route(const Topology& topology, NodeId self, Usid usid, PortId port);
std::string openflow_route_match(const Topology& topology, NodeId self, Usid usid);

/// All rules of the switch `self`.
std::vector<std::string> openflow_rules(const Topology& topology, NodeId self);

}  // namespace mrclab::switchd
