#pragma once
// How path bandwidth goes from node to node (draft-xu-idr-fare; white paper "Fully Adaptive Routing
// Ethernet" 2.2.1):
//
//   the originator advertises the rate of the link that it advertises on (a leaf for its silent hosts; a NIC that
//   speaks BGP is the originator itself, and its leaf a node on the way)
//   a node on the way sums what it receives for a prefix, divides by N, the number of its ways out, and
//   advertises no more than the rate of the link that it advertises on
//   the edge spreads in proportion
//
// With several links between two nodes the draft (-05) demands all of this per node, not per session:
// a node's bandwidth is the least of what it advertises and of all links to it together.
//
// Two traps, with the policy chosen here:
//   1. What N counts. Ways out of the fabric's kind only, by default: with host ports in N a leaf that lost an
//      uplink divides by less, and its plane is overloaded. `kAllPorts` is the literal reading.
//   2. A way out that is gone makes N smaller: a spine that lost an unrelated leaf advertises more to the others
//      than the other spines do, though all reach the destination alike. That is the rule's intent ("fair share",
//      not capacity), and it is left so.
//
// And a limit where NICs speak (draft-xu-idr-fare-in-mpson): the leaf divides the rate of one NIC port by its uplinks.
// Where that is less than every uplink has, no min() takes effect, and an uplink at half its rate weighs like the
// others: 100 Gb/s by four uplinks are 25 on each, also on one of 50 Gb/s.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"
#include "routing/base/identifiers.h"

namespace mrclab::routing {

enum class ShareGranularity : uint8_t {
  kPerNode,  ///< draft-xu-idr-fare-05
  kPerLink,  ///< white paper: every link for itself
};
/// What N counts among the ways out by which a prefix may be advertised.
enum class WaysOutScope : uint8_t { kFabricPorts, kAllPorts };

struct ShareRules {
  ShareGranularity granularity = ShareGranularity::kPerNode;
  WaysOutScope scope = WaysOutScope::kFabricPorts;
};

/// What one session advertises for a prefix.
struct HeardShare {
  PortId link;
  RouterId node;  ///< at the other end
  BitRate link_rate;
  std::optional<BitRate> advertised;
};

/// A next hop with the bandwidth behind it.
struct LinkShare {
  PortId link;
  BitRate bandwidth;
  bool operator==(const LinkShare&) const = default;
};

/// What the links to a prefix carry, in the order of `heard`: per node, spread evenly over its links. nullopt
/// if any has no bandwidth (RFC 10005 section 3: equal shares then).
std::optional<std::vector<LinkShare>> link_shares(std::span<const HeardShare> heard,
                                                  ShareGranularity granularity);

/// The sum of all links.
BitRate total(std::span<const LinkShare> shares);

/// What is advertised by one way out. `ways_out`: N; 0 counts as 1, where all ways out are outside of its scope.
constexpr BitRate share_to_advertise(BitRate sum, uint64_t ways_out, BitRate rate_out) {
  const BitRate average{sum.bps / (ways_out == 0 ? 1 : ways_out)};
  return average < rate_out ? average : rate_out;
}

}  // namespace mrclab::routing
