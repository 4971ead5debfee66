#include "fabric/routes.h"

#include <algorithm>

namespace mrclab {

std::vector<Usid> usids_behind(const Topology& topology, PortRef port) {
  const NodeSite& site = topology.node(port.node);
  if (site.role == NodeRole::kHost) return {};
  const NodeSite& peer = topology.node(topology.port(port).peer.node);
  const UsidLayout& usids = topology.usids;
  if (peer.role != NodeRole::kHost) {
    const UsidRole role = peer.role == NodeRole::kT0 ? UsidRole::kT0 : UsidRole::kT1;
    return {usids.make(role, peer.plane, peer.index)};
  }
  const uint32_t downlink = topology.host_downlink(peer.index);
  return {usids.make(UsidRole::kNicPort, site.plane, downlink),
          usids.make(UsidRole::kHostKernel, site.plane, downlink)};
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
