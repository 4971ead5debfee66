#include "fabric/paths/long_carrier.h"

#include <vector>

#include "fabric/paths/path_list.h"

namespace mrclab {
namespace {

/// The ports of a switch that lead to switches.
std::vector<PortRef> exits_upward(const Topology& topology, NodeId of_switch) {
  std::vector<PortRef> uplinks;
  const NodeSite& site = topology.node(of_switch);
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    if (topology.node(site.ports[i].peer.node).role == NodeRole::kHost) continue;
    uplinks.push_back({of_switch, PortId{i}});
  }
  return uplinks;
}

}  // namespace

Ipv6Address long_carrier(const Topology& topology, uint32_t source, uint32_t destination, Path path,
                         uint32_t turn) {
  if (!has_path(topology, source, destination, path)) return {};
  const std::vector<PortRef> exits = exits_of(topology, source, destination, path);
  const auto switches = static_cast<uint32_t>(exits.size() - 1);
  const uint32_t named = switches + (topology.decap == Decap::kNic ? 1 : 0);
  const std::vector<PortRef> uplinks = exits_upward(topology, exits[1].node);
  std::vector<PortRef> way{exits.front()};
  if (!uplinks.empty()) {
    const PortRef up = switches > 1 ? exits[1] : uplinks[turn % uplinks.size()];
    for (uint32_t left = (kUsidsInCarrier - named) / 2; left > 0; --left) {
      way.push_back(up);
      way.push_back(topology.planned_peer(up));
    }
  }
  way.insert(way.end(), exits.begin() + 1, exits.end());
  return carrier_along(topology, way);
}

}  // namespace mrclab
