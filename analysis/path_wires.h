#pragma once
// The wires of a path and how long they take when nothing else is on them. Regular planes only.

#include <vector>

#include "fabric/path.h"
#include "fabric/topology.h"

namespace mrclab::analysis {

/// All paths between two different hosts: planes, and across T1s each uplink.
inline std::vector<Path> paths_between(const Topology& topology, uint32_t source,
                                       uint32_t destination) {
  const bool local = topology.host_row(source) == topology.host_row(destination);
  std::vector<Path> paths;
  for (uint32_t plane = 0; plane < topology.planes; ++plane) {
    if (local) {
      paths.push_back({plane, kT0LocalUplink});
      continue;
    }
    for (uint32_t u = 0; u < topology.t1_per_plane; ++u) paths.push_back({plane, u});
  }
  return paths;
}

/// Does the fabric have this path between these two? (An EV in a capture may say anything.)
inline bool has_path(const Topology& topology, uint32_t source, uint32_t destination, Path path) {
  const bool local = topology.host_row(source) == topology.host_row(destination);
  return source != destination && path.plane < topology.planes &&
         (local ? path.uplink == kT0LocalUplink : path.uplink < topology.t1_per_plane);
}

/// In the order of travel; `path` is one of paths_between.
inline std::vector<WireId> wires_of(const Topology& topology, uint32_t source, uint32_t destination,
                                    Path path) {
  const auto out = [&](NodeId node, uint32_t port) {
    return topology.port({node, PortId{port}}).out;
  };
  const uint32_t from_row = topology.host_row(source), to_row = topology.host_row(destination);
  const NodeId from = topology.t0(path.plane, from_row), to = topology.t0(path.plane, to_row);
  std::vector<WireId> wires{out(topology.host(source), path.plane)};
  if (path.uplink != kT0LocalUplink) {
    // T0 uplinks follow its downlinks; T1 downlinks are the rows (fabric/topology.h).
    wires.push_back(out(from, topology.hosts_per_t0 + path.uplink));
    wires.push_back(out(topology.t1(path.plane, path.uplink), to_row));
  }
  wires.push_back(out(to, topology.host_downlink(destination)));
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
