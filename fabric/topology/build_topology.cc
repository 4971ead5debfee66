#include "fabric/topology/build_topology.h"

#include <stdexcept>

#include "fabric/topology/build_graph.h"
#include "fabric/topology/programs/program_table.h"
#include "fabric/topology/topology_builder.h"

namespace mrclab {
namespace {

void add_switches(const FabricShape& shape, TopologyBuilder& build) {
  const UsidLayout& usids = build.topology().usids;
  const uint32_t pods = std::max(shape.pods, 1u), t0s = shape.t0 / pods, t1s = shape.t1 / pods;
  for (uint32_t p = 0; p < shape.planes; ++p) {
    const std::string plane = plane_name(p);
    for (uint32_t i = 0; i < shape.t0; ++i) {
      build.add_node(NodeRole::kT0, p, i, plane + ".t0-" + std::to_string(i), plane,
                     usids.make(UsidRole::kT0, p, i), i / t0s);
    }
    for (uint32_t i = 0; i < shape.t1; ++i) {
      build.add_node(NodeRole::kT1, p, i, plane + ".t1-" + std::to_string(i), plane,
                     usids.make(UsidRole::kT1, p, i), t1s == 0 ? 0 : i / t1s);
    }
    for (uint32_t i = 0; i < shape.t2; ++i) {
      build.add_node(NodeRole::kT2, p, i, plane + ".t2-" + std::to_string(i), plane,
                     usids.make(UsidRole::kT2, p, i));
    }
  }
}

void connect_first_plane(const FabricShape& shape, TopologyBuilder& build) {
  const Topology& topology = build.topology();
  for (uint32_t h = 0; h < topology.host_count(); ++h) {
    const uint32_t downlink = topology.host_downlink(h);
    const PortRef nic = build.add_port(topology.host(h), 0, 'p', 0);
    const PortRef down = build.add_port(topology.t0(0, topology.host_row(h)), 0, 'd', downlink);
    build.connect(nic, down, shape.host_rate);
  }
  const uint32_t pods = std::max(shape.pods, 1u), t0s = shape.t0 / pods, t1s = shape.t1 / pods;
  for (uint32_t leaf = 0; leaf < shape.t0; ++leaf) {
    const uint32_t pod = leaf / t0s;
    for (uint32_t u = 0; u < t1s; ++u) {
      const PortRef up = build.add_port(topology.t0(0, leaf), 0, 'u', u);
      const PortRef down = build.add_port(topology.t1(0, pod * t1s + u), 0, 'd', leaf - pod * t0s);
      build.connect(up, down, shape.fabric_rate);
    }
  }
  if (shape.t2 == 0) return;
  const bool mesh = shape.t2_links == T2Links::kMesh;
  const uint32_t group = mesh ? shape.t2 : shape.t2 / t1s;
  for (uint32_t spine = 0; spine < shape.t1; ++spine) {
    for (uint32_t u = 0; u < group; ++u) {
      const uint32_t above = mesh ? u : spine % t1s * group + u;
      const uint32_t down_number = mesh ? spine : spine / t1s;
      const PortRef up = build.add_port(topology.t1(0, spine), 0, 'u', u);
      const PortRef down = build.add_port(topology.t2(0, above), 0, 'd', down_number);
      build.connect(up, down, shape.fabric_rate);
    }
  }
}

}  // namespace

bool has_room(const FabricShape& shape) {
  const UsidLayout usids = UsidLayout::of(shape.address_plan);
  const uint64_t pods = std::max(shape.pods, 1u);
  const uint64_t t1_up = shape.t1 == 0 ? 0 : shape.t2_link_count() / shape.t1;
  const uint64_t t2_down = shape.t2 == 0 ? 0 : shape.t2_link_count() / shape.t2;
  const uint64_t most_ports =
      std::max({shape.hosts_per_t0 + shape.t1 / pods, shape.t0 / pods + t1_up, t2_down});
  const bool links_fit =
      shape.segments == Segments::kNode || most_ports <= usids.count(UsidRole::kAdjacency);
  return links_fit && shape.planes <= usids.planes() && shape.t0 <= usids.count(UsidRole::kT0) &&
         shape.t1 <= usids.count(UsidRole::kT1) && shape.t2 <= usids.count(UsidRole::kT2) &&
         shape.hosts_per_t0 <= usids.count(UsidRole::kNicPort);
}

std::string pods_misfit(const FabricShape& shape) {
  if (shape.pods == 0 && shape.t2 == 0) return {};
  if (shape.pods < 2 || shape.t2 == 0) {
    return std::to_string(shape.pods) + " pods and " + std::to_string(shape.t2) + " T2s";
  }
  if (shape.t1 == 0 || shape.t0 % shape.pods != 0 || shape.t1 % shape.pods != 0) {
    return std::to_string(shape.t0) + " T0s and " + std::to_string(shape.t1) + " T1s in " +
           std::to_string(shape.pods) + " pods";
  }
  const uint32_t t1s = shape.t1 / shape.pods;
  if (shape.t2_links == T2Links::kMesh || shape.t2 % t1s == 0) return {};
  return std::to_string(shape.t2) + " T2s for the " + std::to_string(t1s) + " T1s of a pod";
}

Topology outline_topology(const FabricShape& shape) {
  if (shape.planes == 0 || shape.t0 == 0 || shape.hosts_per_t0 == 0) {
    throw std::invalid_argument("a fabric needs at least one plane, one T0 and one host per T0");
  }
  if (shape.t0 > 1 && shape.t1 == 0) {
    throw std::invalid_argument("several T0s per plane need at least one T1");
  }
  if (const std::string misfit = pods_misfit(shape); !misfit.empty()) {
    throw std::invalid_argument(misfit);
  }
  if (!has_room(shape)) {
    throw std::invalid_argument(
        "the address plan has no room for so many planes, T0s, T1s, T2s or hosts");
  }
  Topology topology = common_outline(shape);
  topology.planes = shape.planes;
  topology.hosts = shape.t0 * shape.hosts_per_t0;
  topology.t0_per_plane = shape.t0;
  topology.t1_per_plane = shape.t1;
  topology.t2_per_plane = shape.t2;
  topology.hosts_per_t0 = shape.hosts_per_t0;
  derive_timing(shape, shape.t2 > 0 ? 5 : shape.t1 > 0 && shape.t0 > 1 ? 3 : 1, topology);
  return topology;
}

Topology build_topology(const FabricShape& shape) {
  if (!shape.graph.empty()) return build_graph(shape);
  TopologyBuilder build(shape, outline_topology(shape));
  for (uint32_t h = 0; h < build.topology().host_count(); ++h) {
    build.add_node(NodeRole::kHost, 0, h, "h" + std::to_string(h), {}, {});
  }
  add_switches(shape, build);
  connect_first_plane(shape, build);  // the others are like it
  build.finish_cables(shape.planes);
  build.add_power_zones();
  build.set_link_rates();
  if (shape.t2 > 0) add_paths(shape, build.topology());
  provision(shape, build.topology());
  swap_cables(shape, build.topology());
  return std::move(build.topology());
}

}  // namespace mrclab
