#pragma once
// The graph of another lab as a fabric: regular planes where it is such, otherwise switches, hosts and links one by one.

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/topology/fabric_shape.h"
#include "live/translate/node_roles.h"

namespace mrclab::lab {

/// Hosts and switches in the file's order.
struct ForeignGraph {
  std::vector<size_t> hosts, switches;  ///< numbers of the file's nodes
  /// By host: the switch (as numbered here) that each of its interfaces leads to, in the interfaces' own order
  /// (eth2 before eth10).
  std::vector<std::vector<uint32_t>> ports;
  std::vector<GraphShape::Link> links;  ///< between switches, lower and upper
  std::vector<std::string> decided;     ///< sentences: which nodes have their role by what
};

/// Hangs `per_leaf` hosts on each of the lowest switches of a file without hosts. Parts of it that no link connects are
/// planes: a host has a port at the leaf of the same number in each of them. Throws InputError where the file has hosts,
/// or its planes different numbers of leaves.
void hang_hosts(ContainerlabFile& file, uint32_t per_leaf);

/// Throws InputError for a link between two hosts, and adds nodes without links to the file's `left_out`.
ForeignGraph graph_of(ContainerlabFile& file);

/// Which node of the file a node of the fabric is.
struct NodeOrigin {
  std::string fabric_name;
  size_t node;
};
struct ForeignFabric {
  FabricShape shape;  ///< its graph alone; other fields as they are by default
  std::vector<NodeOrigin> origins;
};

/// A name for the fabric has `shape.name` later. Throws InputError for what a fabric cannot be.
ForeignFabric fabric_of(const ContainerlabFile& file, const ForeignGraph& graph);

}  // namespace mrclab::lab
