#include "fabric/topology/build_graph.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "fabric/topology/graph_paths.h"
#include "fabric/topology/programs/program_table.h"
#include "fabric/topology/topology_builder.h"

namespace mrclab {
namespace {

/// The pod of each T0 and T1, numbered in the order of the switches; a fabric without T2s is one.
std::vector<uint32_t> pods_of(const GraphShape& graph, const std::vector<NodeRole>& roles) {
  const auto switches = static_cast<uint32_t>(roles.size());
  std::vector<uint32_t> pod(switches, 0);
  if (std::find(roles.begin(), roles.end(), NodeRole::kT2) == roles.end()) return pod;
  std::vector<std::vector<uint32_t>> linked(switches);
  for (const GraphShape::Link& link : graph.links) {
    if (roles[link.lower] == NodeRole::kT2 || roles[link.upper] == NodeRole::kT2) continue;
    linked[link.lower].push_back(link.upper);
    linked[link.upper].push_back(link.lower);
  }
  constexpr uint32_t kNone = 0xFFFF'FFFF;
  std::fill(pod.begin(), pod.end(), kNone);
  uint32_t pods = 0;
  for (uint32_t first = 0; first < switches; ++first) {
    if (pod[first] != kNone) continue;
    pod[first] = roles[first] == NodeRole::kT2 ? 0 : pods++;
    std::vector<uint32_t> to_visit{first};
    while (!to_visit.empty()) {
      const uint32_t at = to_visit.back();
      to_visit.pop_back();
      for (const uint32_t next : linked[at]) {
        if (pod[next] != kNone) continue;
        pod[next] = pod[first];
        to_visit.push_back(next);
      }
    }
  }
  return pod;
}

std::vector<NodeId> add_graph_nodes(const GraphShape& graph, TopologyBuilder& build) {
  for (uint32_t h = 0; h < graph.hosts.size(); ++h) {
    build.add_node(NodeRole::kHost, 0, h, "h" + std::to_string(h), {}, {});
  }
  const std::vector<NodeRole> roles = graph.roles();
  const std::vector<uint32_t> pods = pods_of(graph, roles);
  std::map<NodeRole, uint32_t> next;  // index of the next T0, T1, T2
  std::vector<NodeId> switches;
  for (uint32_t s = 0; s < graph.switches.size(); ++s) {
    const auto& site = graph.switches[s];
    switches.push_back(
        build.add_node(roles[s], 0, next[roles[s]]++, site.name, {}, site.usid, pods[s]));
  }
  return switches;
}

}  // namespace

std::vector<NodeRole> GraphShape::roles() const {
  std::vector<NodeRole> roles(switches.size(), NodeRole::kT2);
  for (const std::vector<uint32_t>& host : hosts) {
    for (const uint32_t at : host) roles[at] = NodeRole::kT0;
  }
  for (const Link& link : links) {
    for (const auto& [one, other] : {std::pair{link.lower, link.upper}, {link.upper, link.lower}}) {
      if (roles[one] == NodeRole::kT0 && roles[other] != NodeRole::kT0) {
        roles[other] = NodeRole::kT1;
      }
    }
  }
  return roles;
}

void add_paths(const FabricShape& shape, Topology& topology) {
  topology.graph = std::make_shared<const GraphPaths>(topology);
  topology.planes_apart = topology.graph->planes_apart();
  const uint32_t usids = topology.graph->longest() + (shape.decap == Decap::kNic ? 1 : 0);
  if (usids > kUsidsInCarrier) {
    throw std::invalid_argument("a path of " + std::to_string(usids) + " uSIDs; a carrier holds " +
                                std::to_string(kUsidsInCarrier));
  }
  derive_timing(shape, topology.graph->longest(), topology);
}

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
      const PortRef nic = build.add_port(NodeId{h}, p, 'p', p);
      build.connect(nic, build.add_port(switches[at], p, 'd', downlink), shape.host_rate);
    }
  }
  for (const GraphShape::Link& link : graph.links) {
    const PortRef up = build.add_port(switches[link.lower], 0, 'u', ups[link.lower]++);
    const PortRef down = build.add_port(switches[link.upper], 0, 'd', downs[link.upper]++);
    build.connect(up, down, shape.fabric_rate);
  }
  build.finish_cables(1);
  build.add_power_zones();
  build.set_link_rates();
  Topology topology = std::move(build.topology());
  for (const NodeSite& site : topology.nodes) topology.t2_per_plane += site.role == NodeRole::kT2;
  for (const NodeSite& site : topology.nodes) {
    const bool named = site.role != NodeRole::kHost && shape.segments == Segments::kAdjacency;
    if (named && site.ports.size() > topology.usids.count(UsidRole::kAdjacency)) {
      throw std::invalid_argument("more links at " + site.name + " than there are uSIDs for");
    }
  }
  add_paths(shape, topology);
  provision(shape, topology);
  swap_cables(shape, topology);
  return topology;
}

}  // namespace mrclab
