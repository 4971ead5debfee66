#pragma once
// Where a packet without a carrier goes in a switch that routes by itself (routing: fare): by its destination host to
// the next hops that the routing has written here, in proportion to their weights. As in an ASIC there are groups of
// members, a next hop of weight 2 being there twice, and hosts with the same next hops share a group.
//
//   spray: packet   the members in turn, those of one next hop spread as evenly as they can be. Data and other packets
//                   have a turn each, so that a pattern of both does not keep one kind to some of the members.
//   spray: flow     by the published hash (fabric/paths/ecmp.h)
//
// A port that loses its carrier leaves no group by itself: the routing takes it out, in its time. Hosts of this switch
// have their port from the start.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fabric/node/node.h"
#include "fabric/topology/topology.h"
#include "routing/rib/route_table.h"
#include "switchd/ecmp_table.h"

namespace mrclab::switchd {

class FareTable {
 public:
  using Hops = std::vector<routing::WeightedHop>;

  /// The topology outlives the table.
  FareTable(const Topology& topology, NodeId self);

  /// The route of a frame, which must have a whole IPv6 header. Takes a turn of the group.
  EcmpTable::Route route(std::span<const uint8_t> frame);
  /// Sets the next hops of a host; without hops there is no route.
  void set_hops(uint32_t host, const Hops& hops);
  /// The table as at the start: hosts of this switch alone.
  void clear();
  const Hops& hops_to(uint32_t host) const { return groups_[group_of_[host]].hops; }
  /// The ports of those, ascending.
  std::vector<PortId> ports_to(uint32_t host) const;
  /// Hosts that are not of this switch and have a route.
  uint32_t routed_hosts() const;
  /// Groups of several members.
  uint32_t groups() const;

 private:
  struct Group {
    Hops hops;
    std::vector<PortId> members;
    uint32_t users = 0;                 ///< hosts
    std::array<uint32_t, 2> next = {};  ///< of data, of other packets
  };
  uint32_t group_with(const Hops& hops);
  std::optional<PortId> choose(Group& group, std::span<const uint8_t> frame);

  const Topology& topology_;
  NodeId self_;
  uint64_t seed_;
  std::vector<Group> groups_{1};  ///< the first one is empty
  std::vector<uint32_t> group_of_;
};

}  // namespace mrclab::switchd
