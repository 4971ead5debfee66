#include "session/recording/first_racks.h"

#include <algorithm>
#include <set>

#include "fabric/node/impairment.h"
#include "fabric/topology/pattern.h"

namespace mrclab::lab {
namespace {

constexpr size_t kMaxWires = 65'536, kMaxRacks = 32, kRacksOfFaults = 2;

}  // namespace

std::optional<uint32_t> rack_of(const Topology& topology, NodeId node) {
  const NodeSite& site = topology.node(node);
  if (site.role == NodeRole::kHost) return topology.host_row(site.index);
  if (site.role == NodeRole::kT0) return site.index;
  return std::nullopt;
}

uint32_t most_racks(const Topology& topology) {
  size_t wires = 0;
  for (uint32_t plane = 0; plane < topology.planes; ++plane) {
    wires += 2 * topology.node(topology.t0(plane, 0)).ports.size();
  }
  const size_t most = std::clamp<size_t>(kMaxWires / std::max<size_t>(wires, 1), 1, kMaxRacks);
  return std::min(static_cast<uint32_t>(most), topology.t0_per_plane);
}

std::vector<uint32_t> first_racks(const Scenario& scenario) {
  const Topology& topology = scenario.topology;
  const size_t most = most_racks(topology);
  std::set<uint32_t> racks;
  const auto add = [&](std::set<uint32_t>& to, NodeId node) {
    const std::optional<uint32_t> rack = rack_of(topology, node);
    if (rack) to.insert(*rack);
  };
  if (!scenario.follow.empty()) {
    for (const NodeId host : NameResolver(topology, scenario.seed).hosts(scenario.follow)) {
      add(racks, host);
      if (racks.size() == most) break;
    }
    return {racks.begin(), racks.end()};
  }
  for (const ScheduledEffect& effect : scenario.schedule) {
    for (const WireId wire : wires_impaired_by(topology, effect.effect)) {
      add(racks, topology.wire(wire).from.node);
      add(racks, topology.wire(wire).to.node);
    }
  }
  // A fault of a T1 strikes all racks alike. The page then opens with the first rack.
  if (racks.empty() || racks.size() > std::min(kRacksOfFaults, most)) return {0};
  return {racks.begin(), racks.end()};
}

}  // namespace mrclab::lab
