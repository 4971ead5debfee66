#pragma once
// Builds a fabric's graph (topology.h) from the description in its file (fabric_shape.h).

#include <string>

#include "fabric/topology/fabric_shape.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// Has the address plan of regular planes enough uSIDs for their numbers of switches and ports?
bool has_room(const FabricShape& shape);

/// What keeps the numbers of a plane from being pods below T2s: there are at least two pods of as many T0s and T1s each,
/// and as many T2s for each T1 of a pod. Empty if nothing does, as without pods and T2s.
std::string pods_misfit(const FabricShape& shape);

/// The fabric without its graph: every number of a Topology, but no nodes, links, wires or optics.
/// Enough for uSIDs, addresses, paths and carriers, and instant for a fabric of any size. Throws
/// std::invalid_argument for a shape that is no fabric, or that needs more uSIDs than its address
/// plan has.
Topology outline_topology(const FabricShape& shape);

/// Builds the graph: host h port p to p<p>.t0-<row>:d<downlink>; T0 uplink u to T1 u, with pods to T1 u of its pod,
/// T1 k of a pod to the k-th group of T2s, or to all. Derives
/// base RTT, queue thresholds, MAC addresses and optics. Throws as outline_topology does.
Topology build_topology(const FabricShape& shape);

}  // namespace mrclab
