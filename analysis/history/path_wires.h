#pragma once
// The wires of a path and how long they take when nothing else is on them.

#include <vector>

#include "fabric/paths/ecmp.h"
#include "fabric/paths/path_list.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

/// Where an EV leads between these two, as built; empty if the fabric has no such path. What a hash
/// chooses is computed with every uplink up: while a T0 has lost one, packets may go elsewhere.
inline std::optional<Path> built_path(const Topology& topology, uint32_t source,
                                      uint32_t destination, EntropyValue ev) {
  std::optional<Path> path = path_of(ev);
  if (path && !path->named()) path = path_between(topology, source, destination, *path);
  if (!path || !has_path(topology, source, destination, *path)) return std::nullopt;
  return path;
}

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
  for (size_t i = 0; i < wires.size(); ++i) {
    const Wire& wire = topology.wire(wires[i]);
    sum += serialization_time(wire_bytes, wire.rate) + wire.propagation;
    if (i + 1 < wires.size()) {
      sum += topology.pipeline_time(wire, topology.wire(wires[i + 1]), wire_bytes);
    }
  }
  return sum;
}

}  // namespace mrclab::analysis
