#include "analysis/measure/wire_matcher.h"

#include <algorithm>
#include <vector>

#include "analysis/history/path_wires.h"
#include "fabric/topology/graph_paths.h"

namespace mrclab::analysis {
namespace {

/// In a graph: the largest ratio of all paths to paths over `wire`, rounded up, among the pairs of
/// hosts that use it. Between switches hosts that hang on the same ones have the same ratio.
uint32_t paths_for_one_over(const Topology& topology, const Wire& wire) {
  const GraphPaths& graph = *topology.graph;
  const auto ends_at = [&](PortRef end) {
    return topology.node(end.node).role == NodeRole::kHost ? std::vector{end.node.value}
                                                           : graph.unlike_hosts();
  };
  uint32_t most = 1;
  const auto look = [&](uint32_t source, uint32_t destination) {
    const uint32_t over = graph.count_over(wire.from, source, destination);
    if (over == 0) return;
    most = std::max(most, (graph.count(source, destination) + over - 1) / over);
  };
  for (const uint32_t source : ends_at(wire.from)) {
    for (const uint32_t destination : ends_at(wire.to)) look(source, destination);
  }
  return most;
}

}  // namespace

WireMatcher::WireMatcher(const Topology& topology, WireId id) {
  const Wire& wire = topology.wire(id);
  const NodeSite& from = topology.node(wire.from.node);
  const NodeSite& to = topology.node(wire.to.node);
  plane_ = topology.port(wire.from).plane;
  if (!topology.regular()) {
    graph_ = &topology;
    wire_ = id;
    paths_ = paths_for_one_over(topology, wire);
    return;
  }
  hosts_per_row_ = topology.hosts_per_t0;
  paths_ = topology.planes;
  if (from.role == NodeRole::kHost) {
    kind_ = Kind::kHostUp;
    place_ = from.index;
  } else if (to.role == NodeRole::kHost) {
    kind_ = Kind::kHostDown;
    place_ = to.index;
  } else {
    // T0 uplink u goes to T1 u (path.h), so the T1's number is the path's uplink.
    kind_ = from.role == NodeRole::kT0 ? Kind::kT0Up : Kind::kT0Down;
    place_ = from.role == NodeRole::kT0 ? from.index : to.index;
    uplink_ = from.role == NodeRole::kT0 ? to.index : from.index;
    paths_ = topology.planes * std::max(topology.t1_per_plane, 1u);
  }
}

bool WireMatcher::crosses(uint32_t source, uint32_t destination, Path path) const {
  if (graph_ != nullptr) {
    if (!has_path(*graph_, source, destination, path)) return false;
    const std::vector<WireId> wires = wires_of(*graph_, source, destination, path);
    return std::find(wires.begin(), wires.end(), wire_) != wires.end();
  }
  if (path.plane != plane_) return false;
  switch (kind_) {
    case Kind::kHostUp: return source == place_;
    case Kind::kHostDown: return destination == place_;
    case Kind::kT0Up: return path.uplink == uplink_ && source / hosts_per_row_ == place_;
    case Kind::kT0Down: return path.uplink == uplink_ && destination / hosts_per_row_ == place_;
  }
  return false;
}

bool WireMatcher::reachable(uint32_t source, uint32_t destination) const {
  if (graph_ != nullptr) {
    return graph_->graph->count_over(graph_->wire(wire_).from, source, destination) > 0;
  }
  const bool same_row = source / hosts_per_row_ == destination / hosts_per_row_;
  const bool spine = kind_ == Kind::kT0Up || kind_ == Kind::kT0Down;
  return !(spine && same_row) && crosses(source, destination, {plane_, uplink_});
}

}  // namespace mrclab::analysis
