#include "fabric/topology/build_graph.h"

#include <algorithm>
#include <stdexcept>

#include "fabric/topology/graph_paths.h"
#include "fabric/topology/topology_builder.h"

namespace mrclab {
namespace {

std::vector<NodeId> add_graph_nodes(const GraphShape& graph, TopologyBuilder& build) {
  for (uint32_t h = 0; h < graph.hosts.size(); ++h) {
    build.add_node(NodeRole::kHost, 0, h, "h" + std::to_string(h), {}, {});
  }
  uint32_t next[2] = {0, 0};  // index of the next T0, T1
  std::vector<NodeId> switches;
  for (uint32_t s = 0; s < graph.switches.size(); ++s) {
    const NodeRole role = graph.has_hosts(s) ? NodeRole::kT0 : NodeRole::kT1;
    const auto& site = graph.switches[s];
    switches.push_back(
        build.add_node(role, 0, next[role == NodeRole::kT0 ? 0 : 1]++, site.name, {}, site.usid));
  }
  return switches;
}

}  // namespace

Topology build_graph(const FabricShape& shape) {
  const GraphShape& graph = shape.graph;
  if (graph.hosts.empty()) throw std::invalid_argument("a fabric needs hosts");
  Topology outline = common_outline(shape);
  outline.hosts = static_cast<uint32_t>(graph.hosts.size());
  outline.planes = static_cast<uint32_t>(graph.hosts.front().size());
  TopologyBuilder build(shape, std::move(outline));
  const std::vector<NodeId> switches = add_graph_nodes(graph, build);

  std::vector<uint32_t> downs(switches.size(), 0), ups(switches.size(), 0);
  for (uint32_t h = 0; h < graph.hosts.size(); ++h) {
    for (uint32_t p = 0; p < graph.hosts[h].size(); ++p) {
      const uint32_t at = graph.hosts[h][p];
      const uint32_t downlink = downs[at]++;
      if (downlink >= build.topology().usids.count(UsidRole::kNicPort)) {
        throw std::invalid_argument("more NIC ports on " + graph.switches[at].name +
                                    " than there are uSIDs for");
      }
      const PortRef nic = build.add_port(NodeId{h}, p, "p" + std::to_string(p));
      build.connect_host(nic, build.add_port(switches[at], p, "d" + std::to_string(downlink)),
                         downlink);
    }
  }
  for (const GraphShape::Link& link : graph.links) {
    const PortRef up =
        build.add_port(switches[link.lower], 0, "u" + std::to_string(ups[link.lower]++));
    const PortRef down =
        build.add_port(switches[link.upper], 0, "d" + std::to_string(downs[link.upper]++));
    build.connect(up, down, shape.fabric_rate);
  }
  build.add_optics();
  build.add_power_zones();
  build.set_link_rates();
  Topology topology = std::move(build.topology());
  for (const NodeSite& site : topology.nodes) {
    const bool named = site.role != NodeRole::kHost && shape.segments == Segments::kAdjacency;
    if (named && site.ports.size() > topology.usids.count(UsidRole::kAdjacency)) {
      throw std::invalid_argument("more links at " + site.name + " than there are uSIDs for");
    }
  }
  topology.graph = std::make_shared<const GraphPaths>(topology);
  const uint32_t usids = topology.graph->longest() + (shape.decap == Decap::kNic ? 1 : 0);
  if (usids > kUsidsInCarrier) {
    throw std::invalid_argument("a path of " + std::to_string(usids) + " uSIDs; a carrier holds " +
                                std::to_string(kUsidsInCarrier));
  }
  derive_timing(shape, topology.graph->longest(), topology);
  return topology;
}

}  // namespace mrclab
