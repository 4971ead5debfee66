#pragma once
// A group of next hops as a round of its members.

#include <span>
#include <vector>

#include "routing/rib/route_table.h"

namespace mrclab::routing {

/// The members of a group: each port as often as its weight, spread evenly.
std::vector<PortId> spread_members(std::span<const WeightedHop> hops);

}  // namespace mrclab::routing
