#pragma once
// Builds the graph of a fabric whose file lists switches, hosts and links one by one.

#include "fabric/topology/fabric_shape.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// `shape.graph` is not empty. A switch that hosts hang on is a T0, any other a T1; ports are numbered
/// in the order of hosts and links. Throws std::invalid_argument for a graph that is no fabric: two
/// hosts that cannot reach one another, paths longer than a carrier, too many of them.
Topology build_graph(const FabricShape& shape);

}  // namespace mrclab
