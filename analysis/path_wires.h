#pragma once
// The wires of a path and how long they take when nothing else is on them.

#include <vector>

#include "fabric/path_list.h"
#include "fabric/topology.h"

namespace mrclab::analysis {

/// In the order of travel; the path must exist.
inline std::vector<WireId> wires_of(const Topology& topology, uint32_t source, uint32_t destination,
                                    Path path) {
  std::vector<WireId> wires;
  for (const PortRef exit : exits_of(topology, source, destination, path)) {
    wires.push_back(topology.port(exit).out);
  }
  return wires;
}

/// From the first bit leaving to the last bit arriving, of a frame of this wire length.
inline FabricTime idle_transit(const Topology& topology, const std::vector<WireId>& wires,
                               Bytes wire_bytes) {
  FabricTime sum;
  for (const WireId id : wires) {
    const Wire& wire = topology.wire(id);
    sum += serialization_time(wire_bytes, wire.rate) + wire.propagation;
    if (topology.node(wire.to.node).role != NodeRole::kHost) sum += topology.switch_latency;
  }
  return sum;
}

}  // namespace mrclab::analysis
