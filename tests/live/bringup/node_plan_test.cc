#include <doctest/doctest.h>

#include <set>
#include <tuple>

#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "live/bringup/node_plan.h"
#include "scenario/spec/shipped_files.h"

namespace mrclab::lab {
namespace {

//   h0 h1 -- t0-0 -- t1-{0,1} -- t0-1 -- h2 h3, in two planes
Topology small_fabric() {
  FabricShape shape;
  shape.planes = 2;
  shape.t0 = 2;
  shape.t1 = 2;
  shape.hosts_per_t0 = 2;
  return build_topology(shape);
}

const netio::Route* find_route(const std::vector<netio::Route>& routes, const std::string& prefix) {
  for (const netio::Route& route : routes) {
    if (netio::prefix_text(route.destination) == prefix) return &route;
  }
  return nullptr;
}

TEST_CASE("no route of a node takes another's place") {
  std::vector<Topology> fabrics{build_topology(parse_fabric(read_yaml_text(
      "name: twice\nswitches: {leaf1: 0100, leaf2: 0200}\nhosts: [[leaf1, leaf1], [leaf2, leaf2]]\n"
      "links: {leaf1: [leaf2]}\nforwarding: kernel\necn: off\ntrim: off\n",
      "twice.yaml")))};
  for (const std::string& name : mrclab::lab::shipped_names("fabrics")) {
    if (name == "stargate") continue;  // more nodes than namespaces are made for
    fabrics.push_back(read_fabric_file(lab::find_fabric(name)));
  }
  for (const Topology& topology : fabrics) {
    CAPTURE(topology.name);
    size_t hosts = 0;
    for (const NodeSite& site : topology.nodes) {
      CAPTURE(site.name);
      if (site.role == NodeRole::kHost && ++hosts > 8) continue;  // of a thousand, all alike
      const NodePlan plan = plan_node(topology, site.id);
      std::set<std::tuple<std::string, uint32_t, uint32_t>>
          keys;  // by which the kernel distinguishes routes
      const auto add = [&](const netio::Route& route) {
        const uint32_t metric = route.metric == 0 ? 1024 : route.metric;
        const std::string prefix = netio::prefix_text(route.destination);
        if (!keys.emplace(prefix, metric, route.table).second) FAIL_CHECK(prefix);
      };
      for (const netio::Route& route : plan.fixed_routes) add(route);
      for (const PortPlan& port : plan.ports) {
        for (const netio::Route& route : port.routes) add(route);
      }
      for (const netio::Route& route : plan.peer_routes) {
        if (!route.ways.empty()) add(route);
      }
    }
  }
}

TEST_CASE(
    "where carriers name links, a host sends those that begin with a link to the switch that knows "
    "it") {
  FabricShape shape;
  shape.planes = 2;
  shape.t0 = shape.t1 = 2;
  shape.segments = Segments::kAdjacency;
  const Topology planes = build_topology(shape);
  const NodePlan host = plan_node(planes, planes.host(0));
  for (const char* carriers : {"5f00:0:2100::/40", "5f00:0:a100::/40"}) {
    CAPTURE(carriers);
    const netio::Route* route = find_route(host.ports[1].routes, carriers);
    REQUIRE(route != nullptr);
    CHECK(route->dev == "p1");
  }
  // Of two switches without planes each may have such a link.
  const Topology twice = build_topology(parse_fabric(read_yaml_text(
      "name: twice\nswitches: {leaf1: 0100, leaf2: 0200}\nhosts: [[leaf1, leaf2], [leaf2, leaf1]]\n"
      "links: {leaf1: [leaf2]}\nsegments: adjacency\n",
      "twice.yaml")));
  const NodePlan either = plan_node(twice, twice.host(0));
  CHECK(find_route(either.ports[0].routes, "5f00:0:100::/48") != nullptr);
  CHECK(find_route(either.ports[0].routes, "5f00:0:a000::/40") == nullptr);
}

TEST_CASE(
    "a host decapsulates its own f uSID of each plane and leaves MRC's e uSID to a blackhole") {
  const Topology topology = small_fabric();
  const NodePlan plan = plan_node(topology, topology.host(3));
  REQUIRE(plan.ports.size() == 2);
  const netio::Route* decap = find_route(plan.ports[1].routes, "5f00:0:f101::/48");
  REQUIRE(decap != nullptr);
  CHECK(std::holds_alternative<netio::EndDt6>(decap->action));
  CHECK(decap->dev == "p1");
  for (const PortPlan& port : plan.ports) {
    CHECK(find_route(port.routes, "5f00:0:e101::/48") == nullptr);
  }
  const netio::Route* rest = find_route(plan.fixed_routes, "5f00::/32");
  REQUIRE(rest != nullptr);
  CHECK(rest->end == netio::RouteEnd::kBlackhole);
}

TEST_CASE("a host reaches every other over each of its ports, with that host's kernel uSID last") {
  const Topology topology = small_fabric();
  const NodePlan plan = plan_node(topology, topology.host(0));
  REQUIRE(plan.peer_routes.size() == 4);
  CHECK(plan.peer_routes[0].ways.empty());  // itself
  for (uint32_t other = 1; other < 4; ++other) {
    const netio::Route& route = plan.peer_routes[other];
    CHECK(host_of_address(topology, route.destination.address) == other);
    REQUIRE(route.ways.size() == 2);
    std::set<uint32_t> planes;
    for (const netio::RouteWay& way : route.ways) {
      const auto carrier = parse_carrier(topology, std::get<netio::EncapRed>(way.action).segment);
      REQUIRE(carrier);
      CHECK(carrier->role == UsidRole::kHostKernel);
      CHECK(way.dev == "p" + std::to_string(carrier->path.plane));
      CHECK(carrier->destination_row == topology.host_row(other));
      CHECK(carrier->downlink == topology.host_downlink(other));
      planes.insert(carrier->path.plane);
    }
    CHECK(planes.size() == 2);
  }
}

TEST_CASE("our own switches get no IPv6 at all from the kernel") {
  const Topology topology = small_fabric();
  const NodePlan plan = plan_node(topology, topology.t0(0, 0));
  CHECK_FALSE(plan.ipv6);
  CHECK(plan.fixed_routes.empty());
  for (const PortPlan& port : plan.ports) CHECK(port.routes.empty());
}

TEST_CASE("a kernel switch shifts its own uSID and knows the uSIDs behind each of its ports") {
  Topology topology = small_fabric();
  for (NodeSite& site : topology.nodes) site.forwarding = Forwarding::kKernel;
  const NodePlan t0 = plan_node(topology, topology.t0(1, 1));
  const netio::Route* own = find_route(t0.fixed_routes, "5f00:0:2101::/48");
  REQUIRE(own != nullptr);
  CHECK(std::holds_alternative<netio::EndNextCsid>(own->action));
  CHECK(own->dev == kStubInterface);
  REQUIRE(t0.ports.size() == 4);  // d0 d1 u0 u1
  CHECK(find_route(t0.ports[1].routes, "5f00:0:e101::/48") != nullptr);
  CHECK(find_route(t0.ports[1].routes, "5f00:0:f101::/48") != nullptr);
  CHECK(find_route(t0.ports[3].routes, "5f00:0:1101::/48") != nullptr);
  const NodePlan t1 = plan_node(topology, topology.t1(1, 0));
  CHECK(find_route(t1.fixed_routes, "5f00:0:1100::/48") != nullptr);
  CHECK(find_route(t1.ports[1].routes, "5f00:0:2101::/48") != nullptr);
}

TEST_CASE("switches of Open vSwitch share a namespace, where each port has a name of its own") {
  Topology topology = small_fabric();
  std::set<std::string> names;
  size_t ports = 0;
  for (NodeSite& site : topology.nodes) {
    if (site.role != NodeRole::kHost) site.forwarding = Forwarding::kOvs;
    if (!shares_namespace(site)) continue;
    for (uint32_t i = 0; i < site.ports.size(); ++i, ++ports) {
      const std::string name = device_of(topology, {site.id, PortId{i}});
      CHECK(name.size() <= 15);  // what the kernel takes
      names.insert(name);
    }
  }
  CHECK(names.size() == ports);
  CHECK(names.contains("p1t0-1d1"));
  CHECK(device_of(topology, {topology.host(0), PortId{1}}) == "p1");
}

TEST_CASE("every port knows the MAC address of its other end") {
  const Topology topology = small_fabric();
  for (const NodeSite& site : topology.nodes) {
    const NodePlan plan = plan_node(topology, site.id);
    REQUIRE(plan.ports.size() == site.ports.size());
    for (uint32_t p = 0; p < site.ports.size(); ++p) {
      CHECK(plan.ports[p].interface == site.ports[p].name());
      CHECK(plan.ports[p].peer_mac == topology.port(site.ports[p].peer).mac);
    }
  }
}

}  // namespace
}  // namespace mrclab::lab
