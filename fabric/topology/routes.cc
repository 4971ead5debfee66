#include "fabric/topology/routes.h"

#include <algorithm>

namespace mrclab {

std::vector<Usid> usids_behind(const Topology& topology, PortRef port) {
  const NodeSite& site = topology.node(port.node);
  if (site.role == NodeRole::kHost) return {};
  const PortRef planned = topology.planned_peer(port);
  const Port& peer = topology.port(planned);
  const NodeSite& next = topology.node(planned.node);
  if (next.role == NodeRole::kHost) return {peer.nic_usid, peer.kernel_usid};
  if (topology.segments == Segments::kAdjacency) return {next.usid, adjacency_usid(topology, port)};
  return {next.usid};
}

Usid adjacency_usid(const Topology& topology, PortRef port) {
  return topology.usids.make(UsidRole::kAdjacency, topology.node(port.node).plane, port.port.value);
}

std::optional<PortId> port_of_adjacency(const Topology& topology, NodeId node, Usid usid) {
  const NodeSite& site = topology.node(node);
  const std::optional<UsidFields> fields = topology.usids.parse(usid);
  if (topology.segments != Segments::kAdjacency || site.role == NodeRole::kHost)
    return std::nullopt;
  if (!fields || fields->role != UsidRole::kAdjacency || fields->plane != site.plane) {
    return std::nullopt;
  }
  if (fields->index >= site.ports.size()) return std::nullopt;
  return PortId{fields->index};
}

std::optional<PortId> port_toward(const Topology& topology, NodeId node, Usid usid) {
  const auto ports = static_cast<uint32_t>(topology.node(node).ports.size());
  for (uint32_t i = 0; i < ports; ++i) {
    const std::vector<Usid> behind = usids_behind(topology, {node, PortId{i}});
    if (std::find(behind.begin(), behind.end(), usid) != behind.end()) return PortId{i};
  }
  return std::nullopt;
}

}  // namespace mrclab
