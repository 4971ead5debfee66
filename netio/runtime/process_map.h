#pragma once
// Which process of a lab runs which node, and which wires never leave a process.

#include <cstdint>
#include <vector>

#include "fabric/topology/topology.h"

namespace mrclab::netio {

/// Who runs what. The same in every process of a lab, but for `self`.
struct ProcessMap {
  uint32_t self = 0;
  std::vector<uint32_t> process_of_node;  ///< by NodeId; kNoProcess: not ours (kernel, OVS)

  uint32_t of(NodeId node) const { return process_of_node[node.value]; }
};

/// Is the wire at `port`, of a node of this process, a fast one? Then both ends are switches of this
/// process, and their frames go from one to the other without a veth.
inline bool stays_inside(const Topology& topology, const ProcessMap& processes, const Port& port) {
  return topology.wires == WireMode::kFast && processes.of(port.peer.node) == processes.self &&
         topology.node(port.peer.node).role != NodeRole::kHost &&
         topology.node(topology.port(port.peer).peer.node).role != NodeRole::kHost;
}

}  // namespace mrclab::netio
