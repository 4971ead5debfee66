#pragma once
// Where the uSIDs of a fabric lead, as built (MRC paper §2.2): each switch has static routes to its
// neighbours, nothing else. Switches fill their tables from here; the compiler of faults and the
// analyser look routes up.

#include <optional>
#include <vector>

#include "fabric/base/ids.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// The uSIDs whose route at `port`'s switch leads out of `port`: of a switch behind it its own uN and,
/// where carriers name links, the link's uA; of a host its NIC port's and its kernel's. Empty for a port
/// of a host, which routes nothing.
std::vector<Usid> usids_behind(const Topology& topology, PortRef port);

/// The uA of a switch's port: it means "over this link" at that switch alone.
Usid adjacency_usid(const Topology& topology, PortRef port);

/// The switch's port that the uA names; empty if it is none of `node`.
std::optional<PortId> port_of_adjacency(const Topology& topology, NodeId node, Usid usid);

/// The port of `node` that `usid` leads out of; empty if it has no route for it (or is a host).
std::optional<PortId> port_toward(const Topology& topology, NodeId node, Usid usid);

}  // namespace mrclab
