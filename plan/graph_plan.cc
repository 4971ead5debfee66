#include "plan/graph_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/text/yaml.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/graph_paths.h"
#include "fabric/topology/routes.h"

namespace mrclab::lab {
namespace {

/// The ports of a switch or NIC that lead up, or down, and what they have together.
struct Side {
  uint32_t ports = 0;
  uint64_t bps = 0, usids = 0;
};
struct Sides {
  Side up, down;
};

Sides sides_of(const Topology& topology, const NodeSite& site) {
  Sides sides;
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    const Link& link = topology.link(site.ports[i].link);
    Side& side = link.a.node == site.id ? sides.up : sides.down;
    ++side.ports;
    side.bps += link.rate.bps;
    side.usids += usids_behind(topology, {site.id, PortId{i}}).size();
  }
  return sides;
}

/// A transceiver is in one switch or NIC, so each rounds up by itself.
uint64_t transceivers(const Side& side, uint32_t links_each) {
  return (side.ports + links_each - 1) / links_each;
}

/// The largest tables of a tier.
void widen(SwitchRoutes& routes, const Sides& sides, bool of_hosts) {
  routes.up = std::max(routes.up, sides.up.usids);
  routes.down = std::max(routes.down, of_hosts ? sides.down.usids / 2 : sides.down.usids);
  if (of_hosts) routes.kernels = routes.down;
}

void count_links(const Topology& topology, FabricPlan& plan) {
  for (const Link& link : topology.links) {
    const NodeRole lower = topology.node(link.a.node).role, upper = topology.node(link.b.node).role;
    const bool of_t0 = lower == NodeRole::kT0 || upper == NodeRole::kT0;
    ++(lower == NodeRole::kHost ? plan.nic_links : of_t0 ? plan.fabric_links : plan.t2_links);
  }
}

/// Rows of hosts have a prefix each; in a listed fabric there are none.
void count_destinations(const Topology& topology, FabricPlan& plan) {
  const uint64_t pods = std::max(plan.shape.pods, 1u);
  for (SwitchRoutes* routes : {&plan.t0_routes, &plan.t1_routes, &plan.t2_routes}) {
    routes->by_destination = routes->by_destination_aggregated = plan.hosts;
  }
  if (!topology.has_planes()) return;
  plan.t0_routes.by_destination_aggregated = topology.hosts_per_t0 + 1u;
  plan.t1_routes.by_destination_aggregated = topology.t0_per_plane / pods + 1;
  plan.t2_routes.by_destination_aggregated = topology.t0_per_plane;
}

FabricPlan plan_graph(const FabricShape& shape, BitRate capacity) {
  FabricPlan plan;
  plan.shape = shape;
  plan.outline = build_topology(shape);
  const Topology& topology = plan.outline;
  plan.switch_capacity = capacity;
  plan.longest_path = topology.longest_path;
  plan.hosts = topology.host_count();
  plan.nic_rate = {topology.planes * shape.host_rate.bps};
  Transceivers& t = plan.transceivers;
  t.links_each = std::max(shape.links_per_optic, 1u);
  uint64_t t0_down = 0, t0_up = 0, t1_down = 0, t1_up = 0;
  for (const NodeSite& site : topology.nodes) {
    const Sides sides = sides_of(topology, site);
    const uint64_t up = transceivers(sides.up, t.links_each),
                   down = transceivers(sides.down, t.links_each);
    const uint32_t ports = sides.up.ports + sides.down.ports;
    if (site.role != NodeRole::kHost && sides.up.bps + sides.down.bps > capacity.bps) {
      throw InputError(
          fmt::format("found {} Gb/s of ports at {}: expected at most the {} Gb/s of one switch",
                      (sides.up.bps + sides.down.bps) / 1'000'000'000, site.name,
                      capacity.bps / 1'000'000'000));
    }
    switch (site.role) {
      case NodeRole::kHost: t.nic += up; break;
      case NodeRole::kT0:
        ++plan.t0;
        plan.t0_ports = std::max(plan.t0_ports, ports);
        t.t0_up += up;
        t.t0_down += down;
        t0_up += sides.up.bps;
        t0_down += sides.down.bps;
        widen(plan.t0_routes, sides, true);
        break;
      case NodeRole::kT1:
        ++plan.t1;
        plan.t1_ports = std::max(plan.t1_ports, ports);
        t.t1 += up + down;
        t1_up += sides.up.bps;
        t1_down += sides.down.bps;
        widen(plan.t1_routes, sides, false);
        break;
      case NodeRole::kT2:
        ++plan.t2;
        plan.t2_ports = std::max(plan.t2_ports, ports);
        t.t2 += up + down;
        widen(plan.t2_routes, sides, false);
        break;
    }
  }
  plan.tiers = plan.t2 > 0 ? 3 : plan.t1 > 0 ? 2 : 1;
  count_links(topology, plan);
  count_destinations(topology, plan);
  plan.oversubscription = t0_up == 0 ? Ratio{1, 1} : Ratio::of(t0_down, t0_up);
  plan.t1_oversubscription = t1_up == 0 ? Ratio{1, 1} : Ratio::of(t1_down, t1_up);
  if (topology.has_planes()) {  // of any graph it is a question of its own
    plan.bisection_bps = std::min({plan.hosts * plan.nic_rate.bps, t0_up, t1_up}) / 2;
  }
  plan.plane_bdp = bytes_in(shape.host_rate, topology.base_rtt);
  plan.nic_bdp = bytes_in(plan.nic_rate, topology.base_rtt);
  plan.evs_in_row = topology.planes;
  for (const uint32_t from : topology.graph->unlike_hosts()) {
    for (const uint32_t to : topology.graph->unlike_hosts()) {
      plan.evs_per_pair = std::max<uint64_t>(plan.evs_per_pair, topology.graph->count(from, to));
    }
  }
  return plan;
}

}  // namespace

FabricPlan plan_any_fabric(const FabricShape& shape, BitRate capacity) {
  const bool regular = shape.graph.empty() && shape.t2 == 0;
  return regular ? plan_fabric(shape, capacity) : plan_graph(shape, capacity);
}

}  // namespace mrclab::lab
