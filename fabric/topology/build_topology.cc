#include "fabric/topology/build_topology.h"

#include <stdexcept>

#include "fabric/topology/build_graph.h"
#include "fabric/topology/topology_builder.h"

namespace mrclab {
namespace {

void add_switches(const FabricShape& shape, TopologyBuilder& build) {
  const UsidLayout& usids = build.topology().usids;
  for (uint32_t p = 0; p < shape.planes; ++p) {
    const std::string plane = plane_name(p);
    for (uint32_t i = 0; i < shape.t0; ++i) {
      build.add_node(NodeRole::kT0, p, i, plane + ".t0-" + std::to_string(i), plane,
                     usids.make(UsidRole::kT0, p, i));
    }
    for (uint32_t i = 0; i < shape.t1; ++i) {
      build.add_node(NodeRole::kT1, p, i, plane + ".t1-" + std::to_string(i), plane,
                     usids.make(UsidRole::kT1, p, i));
    }
  }
}

void connect_plane(const FabricShape& shape, uint32_t p, TopologyBuilder& build) {
  const Topology& topology = build.topology();
  for (uint32_t h = 0; h < topology.host_count(); ++h) {
    const uint32_t downlink = topology.host_downlink(h);
    const PortRef nic = build.add_port(topology.host(h), p, plane_name(p));
    const PortRef down =
        build.add_port(topology.t0(p, topology.host_row(h)), p, "d" + std::to_string(downlink));
    build.connect_host(nic, down, downlink);
  }
  for (uint32_t leaf = 0; leaf < shape.t0; ++leaf) {
    for (uint32_t spine = 0; spine < shape.t1; ++spine) {
      const PortRef up = build.add_port(topology.t0(p, leaf), p, "u" + std::to_string(spine));
      const PortRef down = build.add_port(topology.t1(p, spine), p, "d" + std::to_string(leaf));
      build.connect(up, down, shape.fabric_rate);
    }
  }
}

}  // namespace

bool has_room(const FabricShape& shape) {
  const UsidLayout usids = UsidLayout::of(shape.address_plan);
  const bool links_fit =
      shape.segments == Segments::kNode ||
      (shape.t0 <= usids.count(UsidRole::kAdjacency) &&
       uint64_t{shape.hosts_per_t0} + shape.t1 <= usids.count(UsidRole::kAdjacency));
  return links_fit && shape.planes <= usids.planes() && shape.t0 <= usids.count(UsidRole::kT0) &&
         shape.t1 <= usids.count(UsidRole::kT1) &&
         shape.hosts_per_t0 <= usids.count(UsidRole::kNicPort);
}

Topology outline_topology(const FabricShape& shape) {
  if (shape.planes == 0 || shape.t0 == 0 || shape.hosts_per_t0 == 0) {
    throw std::invalid_argument("a fabric needs at least one plane, one T0 and one host per T0");
  }
  if (shape.t0 > 1 && shape.t1 == 0) {
    throw std::invalid_argument("several T0s per plane need at least one T1");
  }
  if (!has_room(shape)) {
    throw std::invalid_argument(
        "the address plan has no room for so many planes, T0s, T1s or hosts");
  }
  Topology topology = common_outline(shape);
  topology.planes = shape.planes;
  topology.hosts = shape.t0 * shape.hosts_per_t0;
  topology.t0_per_plane = shape.t0;
  topology.t1_per_plane = shape.t1;
  topology.hosts_per_t0 = shape.hosts_per_t0;
  derive_timing(shape, shape.t1 > 0 && shape.t0 > 1 ? 3 : 1, topology);
  return topology;
}

Topology build_topology(const FabricShape& shape) {
  if (!shape.graph.empty()) return build_graph(shape);
  TopologyBuilder build(shape, outline_topology(shape));
  for (uint32_t h = 0; h < build.topology().host_count(); ++h) {
    build.add_node(NodeRole::kHost, 0, h, "h" + std::to_string(h), {}, {});
  }
  add_switches(shape, build);
  for (uint32_t p = 0; p < shape.planes; ++p) connect_plane(shape, p, build);
  build.add_optics();
  build.add_power_zones();
  build.set_link_rates();
  return std::move(build.topology());
}

}  // namespace mrclab
