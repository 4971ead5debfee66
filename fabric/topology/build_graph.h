#pragma once
// Builds the graph of a fabric whose file lists switches, hosts and links one by one.

#include "fabric/topology/fabric_shape.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// `shape.graph` is not empty. GraphShape::roles() has the roles of switches; ports are numbered in the order of hosts
/// and links. Throws std::invalid_argument for a graph that is no fabric: two hosts that cannot reach one another, paths
/// longer than a carrier, too many of them.
Topology build_graph(const FabricShape& shape);

/// Adds the shortest paths of a graph whose nodes and links are there, and what follows from the longest. Throws
/// std::invalid_argument as build_graph does.
void add_paths(const FabricShape& shape, Topology& topology);

}  // namespace mrclab
