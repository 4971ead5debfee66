#include "fabric/topology/fabric_file.h"

#include <utility>

#include "fabric/text/mistakes.h"
#include "fabric/text/yaml_compose.h"
#include "fabric/topology/keys/fabric_keys.h"
#include "fabric/topology/keys/forwarding_file.h"
#include "fabric/topology/keys/graph_file.h"
#include "fabric/topology/pattern.h"
#include "fabric/topology/topology_builder.h"

namespace mrclab {
namespace {

void read_listed(const YamlValue& file, FabricShape& shape) {
  for (const auto& row : regular_keys().rows()) {
    if (!file.get(row.name)) continue;
    file.fail_at_key(row.name, in_quotes(row.name), "switches, hosts and links, or regular planes");
  }
  shape.graph = read_graph(file);
}

/// Without what names its parts, which is looked at later.
FabricShape bare(FabricShape shape) {
  shape.link_rates.clear();
  shape.power_zones.clear();
  shape.tenants.clear();
  shape.miscabled.clear();
  shape.authorise = Authorise::kOff;
  return shape;
}

/// Builds a fabric that is listed, or has three tiers, which shows whether there are paths between all hosts that
/// carriers can name.
void require_paths(const YamlValue& file, const FabricShape& shape) {
  if (shape.graph.empty() && shape.t2 == 0) return;
  try {
    build_topology(bare(shape));
  } catch (const std::invalid_argument& error) {
    file.require(shape.graph.empty() ? "pods" : "switches")
        .fail(error.what(),
              "paths between each two hosts, there and back alike, within what uSIDs and a carrier "
              "can name");
  }
}

/// Builds the fabric, whose names only the graph knows.
void require_rated_links(const YamlValue& list, const FabricShape& shape) {
  const Topology topology = build_topology(bare(shape));
  NameResolver names(topology, 0);
  Mistakes mistakes;
  for (const YamlValue& entry : list.items()) {
    mistakes.go_on([&] { names.links(entry.require("links")); });
  }
  mistakes.report();
}

/// Plugs the cables as the file has them; an error has the pair's position.
void require_cables(const YamlValue& list, FabricShape shape) {
  const auto pairs = std::exchange(shape.miscabled, {});
  Topology topology = build_topology(bare(shape));
  for (size_t i = 0; i < pairs.size(); ++i) {
    shape.miscabled = {pairs[i]};
    try {
      swap_cables(shape, topology);
    } catch (const NameError& error) {
      list.items()[i].fail(error.found(), error.expected());
    }
  }
}

/// Resolves the nodes of zones against the fabric built without them. Throws InputError where a node has two feeds.
void require_zones(const YamlValue& map, const FabricShape& shape) {
  const Topology topology = build_topology(bare(shape));
  NameResolver names(topology, 0);
  std::vector<std::string> zone_of(topology.nodes.size());
  Mistakes mistakes;
  for (const auto& [zone, value] : map.members()) {
    mistakes.go_on([&, name = zone, nodes = value] {
      for (const NodeId node : names.nodes(nodes)) {
        std::string& other = zone_of[node.value];
        if (!other.empty()) {
          nodes.fail(topology.node(node).name + ", which is in " + other,
                     "each node in one zone at most");
        }
        other = name;
      }
    });
  }
  mistakes.report();
}

/// A wire must give its frames a lookahead of more than the time on the wire itself, or the lab
/// would have to move in steps of nanoseconds.
void require_lookahead(const YamlValue& file, const FabricShape& shape) {
  if (shape.propagation > FabricTime::zero()) return;
  for (const auto& [key, latency] : {std::pair{"switch_latency", shape.switch_latency},
                                     std::pair{"host_latency", shape.host_latency}}) {
    if (latency > FabricTime::zero()) continue;
    const auto at = file.get(key) ? file.get(key) : file.get("propagation");
    (at ? *at : file)
        .fail("no propagation and no " + std::string(key),
              "one of them above 0: a frame needs a lookahead");
  }
}

/// Each rail has a T0 row of its own in every plane; a listed fabric has whole nodes, and no switch with a node's or a
/// rail's name.
void require_whole_nodes(const YamlValue& value, const FabricShape& shape) {
  const uint32_t nics = shape.nics_per_node;
  if (shape.graph.empty()) {
    const uint32_t pods = std::max(shape.pods, 1u);
    if (shape.t0 / pods % nics == 0) return;
    value.fail(std::to_string(nics) + " NICs in a node and " + std::to_string(shape.t0 / pods) +
                   (shape.pods == 0 ? " T0s" : " T0s in a pod"),
               std::string("a divisor of t0") + (shape.pods == 0 ? "" : " by pods") +
                   ": each NIC of a node hangs on a row of T0s of its own");
  }
  if (shape.graph.hosts.size() % nics != 0) {
    value.fail(std::to_string(nics) + " NICs in a node and " +
                   std::to_string(shape.graph.hosts.size()) + " hosts",
               "a divisor of the number of hosts");
  }
  for (uint32_t n = 0; nics > 1 && n < shape.graph.hosts.size(); ++n) {
    for (const GraphShape::Switch& site : shape.graph.switches) {
      if (site.name != node_name(n) && site.name != rail_name(n)) continue;
      value.fail("a switch called " + site.name, "another name: so are nodes and rails of NICs");
    }
  }
}

/// A number of hosts: planes state them by T0, a listed fabric names the switches of each.
void refuse_host_count(const YamlValue& document) {
  if (!document.is_map()) return;
  const auto hosts = document.get("hosts");
  if (!hosts || !hosts->is_scalar()) return;
  if (lists_switches(document)) {
    hosts->fail_expecting("the switches of each host: [[leaf1, leaf2], [leaf1, leaf2]]");
  }
  hosts->fail_expecting("\"hosts_per_t0: 4\" (with \"t0: 4\" these are 16 hosts) in place of it");
}

/// A scenario has its fabric below a key: nothing else of it need be complained of.
void refuse_scenario(const YamlValue& document) {
  if (document.is_map() && document.get("fabric") && !document.get("planes")) {
    document.fail_at_key("fabric", "a scenario", "a fabric, such as the one below this key");
  }
}

}  // namespace

void require_tenants(const YamlValue& map, const Topology& topology) {
  NameResolver names(topology, 0);
  std::vector<std::string> tenant_of(topology.hosts);
  Mistakes mistakes;
  for (const auto& [tenant, value] : map.members()) {
    mistakes.go_on([&, name = tenant, hosts = value] {
      for (const NodeId node : names.hosts(hosts)) {
        std::string& other = tenant_of[topology.node(node).index];
        if (!other.empty() && other != name) {
          hosts.fail(topology.node(node).name + ", which is of " + other,
                     "each host of one tenant at most");
        }
        other = name;
      }
    });
  }
  mistakes.report();
}

void read_watchdog(const YamlValue& watchdog, LosslessProfile& lossless) {
  watchdog_key().read(watchdog, lossless);
}

std::string watchdog_text(const LosslessProfile& lossless) {
  return watchdog_key().write(lossless);
}

std::string to_yaml(const FabricShape& shape, size_t indent) {
  return fabric_keys().written_lines(shape, std::string(indent, ' '));
}

FabricShape parse_fabric(const YamlValue& document, uint64_t max_nodes) {
  refuse_scenario(document);
  Mistakes mistakes;
  const bool listed = mistakes.go_on([&] { refuse_host_count(document); });
  mistakes.go_on(
      [&] { check_form(listed ? document : without_key(document, "hosts"), fabric_form()); });
  mistakes.report();
  FabricShape shape;
  fabric_keys().read_pass(0, document, shape);
  if (lists_switches(document)) {
    read_listed(document, shape);
  } else {
    read_regular(document, max_nodes, shape);
  }
  fabric_keys().read_pass(1, document, shape);
  require_lookahead(document, shape);
  if (const auto nics = document.get("nics_per_node")) require_whole_nodes(*nics, shape);
  if (const auto misfit = forwarding_misfit(shape)) {
    document.require(misfit->key).fail(misfit->found, misfit->expected);
  }
  if (!shape.graph.empty()) {
    check_ways(document, shape);
  } else if (!has_room(shape)) {  // each number by itself has been looked at
    document.require("segments")
        .fail_expecting("node: a switch has more links than uSIDs for them");
  }
  require_paths(document, shape);
  if (const auto list = document.get("link_rates")) require_rated_links(*list, shape);
  if (const auto zones = document.get("power_zones")) require_zones(*zones, shape);
  if (const auto tenants = document.get("tenants")) {
    require_tenants(*tenants, build_topology(bare(shape)));
  }
  if (const auto list = document.get("miscabled")) require_cables(*list, shape);
  return shape;
}

Topology read_fabric_file(const std::filesystem::path& path) {
  const FabricShape shape = parse_fabric(read_yaml_file(path));
  Topology topology = build_topology(shape);
  check_lookahead(topology);
  return topology;
}

void check_lookahead(const Topology& topology) {
  for (const Wire& wire : topology.all_wires()) {
    if (topology.lookahead(wire.id) > FabricTime::zero()) continue;
    throw InputError("fabric " + topology.name + ": found no lookahead on the wire " +
                     topology.wire_name(wire.id) +
                     ": expected a propagation or an ingress latency above 0");
  }
}

}  // namespace mrclab
