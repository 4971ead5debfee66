// Several NICs in a node, each on a rail of its own: names, places and power zones.

#include <doctest/doctest.h>

#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/pattern.h"
#include "tests/support/errors.h"

using namespace mrclab;

namespace {

Topology built(const std::string& text) {
  return build_topology(parse_fabric(read_yaml_text(text, "f.yaml")));
}

std::vector<uint32_t> hosts(const Topology& topology, const std::string& names) {
  std::vector<uint32_t> found;
  for (const NodeId id : NameResolver(topology, 1).hosts(names)) {
    found.push_back(topology.node(id).index);
  }
  return found;
}

using Hosts = std::vector<uint32_t>;
const char* const kRailsPlanes =
    "{name: f, planes: 2, t0: 4, t1: 2, hosts_per_t0: 3, nics_per_node: 2}";
const char* const kRailsListed =
    "name: f\nswitches: {a: \"1000\", b: \"1001\", s: \"2000\"}\n"
    "hosts: [[a], [b], [a], [b]]\nlinks: {a: [s], b: [s]}\nnics_per_node: 2\n";

}  // namespace

TEST_CASE("in planes NIC k of each node hangs on a T0 of rail k") {
  const Topology t = built(kRailsPlanes);
  CHECK(hosts(t, "n0") == Hosts{0, 3});
  CHECK(hosts(t, "n2") == Hosts{2, 5});
  CHECK(hosts(t, "n3") == Hosts{6, 9});
  CHECK(hosts(t, "rail-0") == Hosts{0, 1, 2, 6, 7, 8});
  CHECK(hosts(t, "rail-1") == Hosts{3, 4, 5, 9, 10, 11});
  CHECK(hosts(t, "n[0-1], h11") == Hosts{0, 1, 3, 4, 11});
  for (const uint32_t h : hosts(t, "rail-1")) CHECK(t.host_row(h) % 2 == 1);
  CHECK_THROWS_WITH(hosts(t, "n6"), doctest::Contains("names no host"));
}

TEST_CASE("in a listed fabric neighbouring hosts are a node") {
  const Topology t = built(kRailsListed);
  CHECK(hosts(t, "n1") == Hosts{2, 3});
  CHECK(hosts(t, "rail-0") == Hosts{0, 2});
  CHECK(t.node(t.port({NodeId{2}, PortId{0}}).peer.node).name == "a");
}

TEST_CASE("a node has one feed, and racks and spines are switches then") {
  for (const char* text : {kRailsPlanes, kRailsListed}) {
    const Topology t = built(text);
    const auto zones = NameResolver(t, 1).power_zones("n1");
    REQUIRE(zones.size() == 1);
    CHECK(t.power_zones[zones[0]].nodes == NameResolver(t, 1).hosts("n1"));
    std::vector<int> in_zones(t.nodes.size());
    for (const PowerZone& zone : t.power_zones) {
      for (const NodeId node : zone.nodes) CHECK(++in_zones[node.value] == 1);
    }
  }
  const Topology t = built(kRailsPlanes);
  const auto rack = NameResolver(t, 1).power_zones("rack-3");
  CHECK(t.power_zones[rack[0]].nodes == NameResolver(t, 1).switches("p*.t0-3"));
}

TEST_CASE("a node that is not whole, or shares its name with a switch, is refused") {
  const auto error = [](std::string text, const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
    return test::error_of([&] { built(text); });
  };
  CHECK(error(kRailsPlanes, "node: 2", "node: 3").find("a divisor of t0") != std::string::npos);
  CHECK(error(kRailsListed, "node: 2", "node: 3").find("a divisor of the number of hosts") !=
        std::string::npos);
  CHECK(error(kRailsPlanes, "node: 2", "node: 17").find("16") != std::string::npos);
  std::string named = kRailsListed;
  for (size_t at = 0; (at = named.find("s: \"2000\"")) != std::string::npos;) {
    named.replace(at, 1, "n1");
  }
  named.replace(named.find("[s], b: [s]"), 11, "[n1], b: [n1]");
  CHECK(test::error_of([&] { built(named); }).find("a switch called n1") != std::string::npos);
}

TEST_CASE("a fabric's text repeats nodes and switching, and leaves the usual out") {
  const FabricShape shape = parse_fabric(
      read_yaml_text("{name: f, planes: 1, t0: 2, t1: 1, hosts_per_t0: 1, nics_per_node: 2, "
                     "switching: cut_through}",
                     "f.yaml"));
  const std::string text = to_yaml(shape);
  CHECK(text.find("nics_per_node: 2\n") != std::string::npos);
  CHECK(text.find("switching: cut_through\n") != std::string::npos);
  const FabricShape again = parse_fabric(read_yaml_text(text, "g.yaml"));
  CHECK(again.switching == Switching::kCutThrough);
  CHECK(again.nics_per_node == 2);
  FabricShape usual = shape;
  usual.switching = Switching::kStoreAndForward;
  usual.nics_per_node = 1;
  CHECK(to_yaml(usual).find("switching") == std::string::npos);
  CHECK(to_yaml(usual).find("nics_per_node") == std::string::npos);
}

TEST_CASE("cut-through takes a microsecond out of octet's base RTT, and keeps every lookahead") {
  FabricShape shape;
  shape.name = "octet";
  shape.planes = 8;
  shape.t0 = 2;
  shape.t1 = shape.hosts_per_t0 = 4;
  const Topology stored = build_topology(shape);
  shape.switching = Switching::kCutThrough;
  const Topology cut = build_topology(shape);
  // Three switches: of a data packet all but 136 of 4,262 bytes, of a SACK all but 136 of 178, at 80 ps a byte.
  CHECK(stored.base_rtt - cut.base_rtt == FabricTime::from_ps(3 * 80 * (4'126 + 42)));
  for (const Wire& wire : cut.all_wires()) {
    CHECK(cut.lookahead(wire.id) == stored.lookahead(wire.id));
    for (const uint64_t length : {84u, 136u, 137u, 150u, 1'000u, 4'262u}) {
      const FabricTime seen = serialization_time({length}, wire.rate) + wire.propagation +
                              cut.ingress_latency(wire.to.node) - cut.lookup_lead(wire, {length});
      CHECK(seen >= cut.lookahead(wire.id));
    }
  }
}
