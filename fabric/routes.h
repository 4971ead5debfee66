#pragma once
// Where the uSIDs of a fabric lead, as built (MRC paper §2.2): each switch has static routes to its
// neighbours, nothing else. Switches fill their tables from this, faults and the judge look it up.

#include <optional>
#include <vector>

#include "fabric/ids.h"
#include "fabric/topology.h"

namespace mrclab {

/// The uSIDs whose route at `port`'s switch leads out of `port`: of a switch behind it its own uN,
/// of a host its NIC port's and its kernel's. Empty for a port of a host, which routes nothing.
std::vector<Usid> usids_behind(const Topology& topology, PortRef port);

/// The port of `node` that `usid` leads out of; empty if it has no route for it (or is a host).
std::optional<PortId> port_toward(const Topology& topology, NodeId node, Usid usid);

}  // namespace mrclab
