// The graph that regular planes make:
//
//        p.t1-0   p.t1-1   p.t1-2   p.t1-3        eight planes of this (octet)
//            \  every T0 to every T1  /
//             p.t0-0            p.t0-1
//          h0 h1 h2 h3        h4 h5 h6 h7

#include "fabric/topology/topology.h"
#include "fabric/topology/build_topology.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::test;

TEST_CASE("octet has 56 nodes, 128 links and 256 directed wires") {
  const Topology t = octet();
  CHECK(t.nodes.size() == 56);
  CHECK(t.links.size() == 128);
  CHECK(t.all_wires().size() == 256);
  CHECK(t.host_count() == 8);
  CHECK(t.optics.size() == 8 * 2);  // four T0 downlinks share a transceiver
}

TEST_CASE("host h is on port d of T0 row in every plane, on its own port of that plane") {
  const Topology t = octet();
  for (uint32_t h = 0; h < t.host_count(); ++h) {
    for (uint32_t p = 0; p < t.planes; ++p) {
      const PortRef nic{t.host(h), PortId{p}};
      CHECK(t.port_name(nic) == "h" + std::to_string(h) + ":p" + std::to_string(p));
      CHECK(t.port_name(t.port(nic).peer) == "p" + std::to_string(p) + ".t0-" +
                                                 std::to_string(h / 4) + ":d" +
                                                 std::to_string(h % 4));
    }
  }
}

TEST_CASE("uplink u of every T0 goes to T1 u of its plane") {
  const Topology t = octet();
  for (uint32_t p = 0; p < t.planes; ++p) {
    for (uint32_t leaf = 0; leaf < 2; ++leaf) {
      const NodeSite& site = t.node(t.t0(p, leaf));
      REQUIRE(site.ports.size() == 4 + 4);
      for (uint32_t u = 0; u < 4; ++u) {
        const Port& port = site.ports[4 + u];
        CHECK(port.name() == "u" + std::to_string(u));
        CHECK(port.peer.node == t.t1(p, u));
        CHECK(t.port(port.peer).name() == "d" + std::to_string(leaf));
      }
    }
  }
}

TEST_CASE("both ends of a link agree about it, and each wire is the other end's way in") {
  const Topology t = octet();
  for (const NodeSite& site : t.nodes) {
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      const PortRef self{site.id, PortId{i}};
      const Port& port = t.port(self);
      const Port& peer = t.port(port.peer);
      CHECK(peer.peer == self);
      CHECK(peer.link == port.link);
      CHECK(peer.in == port.out);
      CHECK(peer.out == port.in);
      CHECK(t.wire(port.out).from == self);
      CHECK(t.wire(port.out).to == port.peer);
      CHECK(port.plane == peer.plane);
    }
  }
}

TEST_CASE("every wire has a lookahead") {
  const Topology t = octet();
  for (const Wire& wire : t.all_wires()) CHECK(t.lookahead(wire.id) > FabricTime::zero());
  // 84 bytes at 100 Gb/s + 500 ns + 700 ns
  CHECK(t.lookahead(WireId{0}) == FabricTime::from_ps(6'720 + 500'000 + 700'000));
}

TEST_CASE("the base RTT is a full packet across three switches and a SACK back, idle") {
  const Topology t = octet();
  // 4262 and 178 bytes of wire length, store and forward over four wires; eight times
  // propagation, six switches, two NICs.
  const int64_t wires_ps = 4 * (4262 + 178) * 80;
  CHECK(t.base_rtt ==
        FabricTime::from_ps(wires_ps) + FabricTime::from_ns(8 * 500 + 6 * 700 + 2 * 700));
}

TEST_CASE("queue thresholds are ordered") {
  const QueueProfile q = octet().queues;
  CHECK(q.ecn_min < q.ecn_max);
  CHECK(q.ecn_max < q.trim_threshold);
  CHECK(q.trim_threshold < q.trim_threshold_last_hop);
  CHECK(q.trim_threshold_last_hop < q.tail_drop);
}

TEST_CASE("names and MAC addresses are unique, and names are found again") {
  const Topology t = octet();
  std::set<std::string> names;
  std::set<MacAddress> macs;
  size_t ports = 0;
  for (const NodeSite& site : t.nodes) {
    CHECK(names.insert(site.name).second);
    CHECK(t.find_node(site.name) == site.id);
    for (uint32_t i = 0; i < site.ports.size(); ++i, ++ports) {
      const MacAddress& mac = site.ports[i].mac;
      CHECK(macs.insert(mac).second);
      CHECK((mac[0] & 3) == 2);  // locally administered, unicast
      const PortRef ref{site.id, PortId{i}};
      CHECK(t.find_port(t.port_name(ref)) == ref);
    }
  }
  CHECK(ports == t.all_wires().size());
  CHECK_FALSE(t.find_node("h8"));
  CHECK_FALSE(t.find_port("h0"));
  CHECK_FALSE(t.find_port("h0:p8"));
  CHECK_FALSE(t.find_port("h0:"));
  CHECK(t.wire_name(WireId{0}) == "h0:p0->p0.t0-0:d0");
  CHECK(t.link_name(LinkId{0}) == "h0:p0--p0.t0-0:d0");
}

TEST_CASE("an optic holds the host links of its T0, and those ports know it") {
  const Topology t = octet();
  const Optic& first = t.optics.front();
  CHECK(first.name == "p0.t0-0:o0");
  REQUIRE(first.links.size() == 4);
  for (const LinkId link : first.links) CHECK(t.port(t.link(link).b).optic == first.id);
}

namespace {

FabricShape optics_of_two_kinds() {
  FabricShape shape = shape_of("optics", 3, 4, 4, 4);
  shape.links_per_optic = 2;
  shape.uplinks_per_optic = 4;
  return shape;
}

}  // namespace

TEST_CASE("optics towards hosts are numbered plane by plane, then those towards T1s") {
  const Topology t = build_topology(optics_of_two_kinds());
  std::vector<std::string> expected;
  for (const auto& [letters, each] : {std::pair{":o", 2}, {":uo", 1}}) {
    for (int plane = 0; plane < 3; ++plane) {
      for (int leaf = 0; leaf < 4; ++leaf) {
        for (int i = 0; i < each; ++i) {
          expected.push_back("p" + std::to_string(plane) + ".t0-" + std::to_string(leaf) + letters +
                             std::to_string(i));
        }
      }
    }
  }
  REQUIRE(t.optics.size() == expected.size());
  for (const Optic& optic : t.optics) {
    CHECK(optic.name == expected[optic.id.value]);
    for (const LinkId link : optic.links) {
      const Link at = t.link(link);
      const bool to_host = t.node(at.a.node).role == NodeRole::kHost;
      const PortRef leaf = to_host ? at.b : at.a;
      CHECK(t.port(leaf).optic == optic.id);
      CHECK(optic.name.starts_with(t.node(leaf.node).name + (to_host ? ":o" : ":uo")));
    }
  }
}

TEST_CASE("a fabric is the same whether its cabling keeps one plane or all of them") {
  FabricShape shape = optics_of_two_kinds();
  SUBCASE("two tiers") {}
  SUBCASE("three tiers") {
    shape.pods = 2;
    shape.t2 = 4;
  }
  const Topology one = build_topology(shape);
  REQUIRE(one.cabling().copies == 3);
  shape.link_rates = {{"p1.t0-2:u1", shape.fabric_rate}};  // as any other
  const Topology all = build_topology(shape);
  REQUIRE(all.cabling().copies == 1);
  for (const NodeSite& site : one.nodes) {
    const Ports others = all.node(site.id).ports;
    CHECK(std::equal(site.ports.begin(), site.ports.end(), others.begin(), others.end()));
  }
  CHECK(std::equal(one.links.begin(), one.links.end(), all.links.begin(), all.links.end()));
  CHECK(std::equal(one.optics.begin(), one.optics.end(), all.optics.begin(), all.optics.end()));
}

TEST_CASE("a copy of a topology outlives it, and keeps its cables when the other's are changed") {
  Topology copy;
  {
    Topology t = octet();
    copy = t;
    t.change_cabling([](Cabling& cables) { cables.kept_links[0].rate = BitRate::from_gbps(1); });
    CHECK(t.link(LinkId{0}).rate == BitRate::from_gbps(1));
  }
  CHECK(copy.link(LinkId{0}).rate == BitRate::from_gbps(100));
  CHECK(copy.nodes.front().ports[3].name() == "p3");
}

TEST_CASE("shapes that are no fabric are refused") {
  FabricShape shape;
  shape.planes = 0;
  CHECK_THROWS_AS(build_topology(shape), std::invalid_argument);
  shape = {};
  shape.t0 = 2;
  shape.t1 = 0;
  CHECK_THROWS_AS(build_topology(shape), std::invalid_argument);
}
