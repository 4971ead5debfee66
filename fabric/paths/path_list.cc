#include "fabric/paths/path_list.h"

#include <algorithm>
#include <numeric>

#include "fabric/paths/ecmp.h"
#include "fabric/topology/graph_paths.h"

namespace mrclab {
namespace {

bool is_local(const Topology& topology, uint32_t source, uint32_t destination) {
  return topology.host_row(source) == topology.host_row(destination);
}

}  // namespace

std::vector<Path> all_paths(const Topology& topology) {
  std::vector<Path> paths;
  const uint32_t numbered =
      topology.regular() ? topology.t1_per_plane : topology.graph->most_places();
  for (uint32_t plane = 0; plane < topology.planes; ++plane) {
    for (uint32_t u = 0; u < numbered; ++u) paths.push_back({plane, u});
    paths.push_back({plane, kT0LocalUplink});
  }
  return paths;
}

bool has_path(const Topology& topology, Path path) {
  const uint32_t numbered =
      topology.regular() ? topology.t1_per_plane : topology.graph->most_places();
  if (path.plane >= topology.planes) return false;
  if (!path.named()) {
    const bool hashed = topology.planes_apart || topology.routing.is_fare();
    return hashed && path.chosen == chosen_by(topology, Routing::kEcmp);
  }
  return path.uplink == kT0LocalUplink || path.uplink < numbered;
}

std::vector<Path> paths_between(const Topology& topology, uint32_t source, uint32_t destination) {
  if (!topology.regular()) return topology.graph->between(source, destination);
  std::vector<Path> paths;
  std::vector<uint32_t> uplinks;
  for (uint32_t plane = 0; plane < topology.planes; ++plane) {
    uplinks_between(topology, source, destination, plane, uplinks);
    for (const uint32_t uplink : uplinks) paths.push_back({plane, uplink});
  }
  return paths;
}

void uplinks_between(const Topology& topology, uint32_t source, uint32_t destination,
                     uint32_t plane, std::vector<uint32_t>& uplinks) {
  uplinks.clear();
  if (!topology.regular()) {
    for (const Path& path : topology.graph->between(source, destination)) {
      if (path.plane == plane) uplinks.push_back(path.uplink);
    }
  } else if (is_local(topology, source, destination)) {
    uplinks.push_back(kT0LocalUplink);
  } else {
    uplinks.resize(topology.t1_per_plane);
    std::iota(uplinks.begin(), uplinks.end(), 0);
  }
}

bool has_path(const Topology& topology, uint32_t source, uint32_t destination, Path path) {
  if (!path.named()) return false;
  if (!topology.regular()) return topology.graph->has(source, destination, path);
  return source != destination && path.plane < topology.planes &&
         (is_local(topology, source, destination) ? path.uplink == kT0LocalUplink
                                                  : path.uplink < topology.t1_per_plane);
}

std::vector<PortRef> exits_of(const Topology& topology, uint32_t source, uint32_t destination,
                              Path path) {
  if (!topology.regular()) return topology.graph->exits(source, destination, path);
  const uint32_t to_row = topology.host_row(destination);
  const NodeId first = topology.t0(path.plane, topology.host_row(source));
  std::vector<PortRef> exits{{topology.host(source), PortId{path.plane}}};
  if (path.uplink != kT0LocalUplink) {
    exits.push_back({first, PortId{topology.hosts_per_t0 + path.uplink}});
    exits.push_back({topology.t1(path.plane, path.uplink), PortId{to_row}});
  }
  exits.push_back({topology.t0(path.plane, to_row), PortId{topology.host_downlink(destination)}});
  return exits;
}

std::optional<Path> path_back(const Topology& topology, uint32_t source, uint32_t destination,
                              Path path) {
  if (!path.named()) return path.plane < topology.planes ? std::optional(path) : std::nullopt;
  if (topology.regular()) {
    if (!has_path(topology, source, destination, path)) return std::nullopt;
    return path;
  }
  return topology.graph->back(source, destination, path);
}

}  // namespace mrclab
