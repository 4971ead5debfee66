// Frames without a carrier at a switch: routes by host, groups of uplinks, what is rewritten.

#include "switchd/ecmp_table.h"

#include <doctest/doctest.h>

#include <map>

#include "fabric/paths/path_list.h"
#include "fabric/topology/fabric_file.h"
#include "fixture.h"
#include "switchd/outer_header.h"
#include "tests/support/sample_frames.h"

using namespace mrclab;
using namespace mrclab::switchd;
using namespace mrclab::switchd::testing;

namespace {

Topology hashing_fabric(Underlay underlay, bool resilient = false) {
  FabricShape shape;
  shape.name = "hashing";
  shape.planes = shape.t0 = shape.hosts_per_t0 = 2;
  shape.t1 = 4;
  shape.routing = {Routing::kEcmp, underlay, false, resilient};
  return build_topology(shape);
}

/// A frame from h<from> to h<to> with number `number` in plane 0.
std::vector<uint8_t> frame_of(const Topology& t, uint32_t from, uint32_t to, uint32_t number,
                              uint8_t hop_limit = 64, size_t payload = 4096) {
  const bool ipv4 = t.routing.underlay == Underlay::kIpv4;
  MrcFrameSpec spec = test::random_spec(Opcode::kWriteOnly, 5, payload);
  spec.encapsulation = ipv4 ? Encapsulation::kIpv4 : Encapsulation::kIpv6;
  spec.inner_source = ipv4 ? host_address_ipv4(from) : host_address(t, from);
  spec.inner_destination = ipv4 ? host_address_ipv4(to) : host_address(t, to);
  spec.ev = ev_of({0, number, ipv4 ? Chosen::kByHashIpv4 : Chosen::kByHashIpv6});
  spec.hop_limit = hop_limit;
  spec.dscp = kDscpTrimmable;
  spec.ecn = kEcnEct0;
  return test::build_frame(spec);
}

ForwardingDecision forwarded(const ForwardingTable& table, std::vector<uint8_t>& frame) {
  return table.forward(frame, {frame.size()});
}

}  // namespace

TEST_CASE("a T0 gives its own hosts their port and all others to the uplink that is published") {
  for (const Underlay underlay : {Underlay::kIpv6, Underlay::kIpv4}) {
    const Topology t = hashing_fabric(underlay);
    const Chosen chosen = underlay == Underlay::kIpv4 ? Chosen::kByHashIpv4 : Chosen::kByHashIpv6;
    const ForwardingTable table(t, t.t0(0, 0));
    std::vector<uint8_t> local = frame_of(t, 0, 1, 0);
    CHECK(forwarded(table, local).port == PortId{1});
    std::map<uint32_t, uint32_t> used;
    for (uint32_t number = 0; number < 64; ++number) {
      std::vector<uint8_t> frame = frame_of(t, 0, 3, number);
      const ForwardingDecision decision = forwarded(table, frame);
      REQUIRE(decision.drop == DropCause::kNone);
      CHECK(decision.dscp == kDscpTrimmable);
      const auto path = path_between(t, 0, 3, {0, number, chosen});
      CHECK(decision.port == PortId{2 + path->uplink});  // behind two downlinks
      ++used[decision.port.value];
    }
    CHECK(used.size() == 4);
  }
}

TEST_CASE("a T1 has one port for each row") {
  const Topology t = hashing_fabric(Underlay::kIpv6);
  const ForwardingTable table(t, t.t1(0, 3));
  for (uint32_t to = 1; to < 4; ++to) {
    std::vector<uint8_t> frame = frame_of(t, 0, to, 9);
    CHECK(forwarded(table, frame).port == PortId{to / 2});
  }
}

TEST_CASE("through three tiers each switch takes the port of the path that is published") {
  for (const bool resilient : {false, true}) {
    FabricShape shape;
    shape.name = "pods";
    shape.planes = 2;
    shape.pods = 2;
    shape.t0 = shape.t1 = shape.t2 = 4;
    shape.routing = {Routing::kEcmp, Underlay::kIpv6, false, resilient};
    const Topology t = build_topology(shape);
    for (uint32_t number = 0; number < 64; ++number) {
      for (const uint32_t to : {1u, 3u}) {
        const auto path = path_between(t, 0, to, {0, number, Chosen::kByHashIpv6});
        REQUIRE(path);
        std::vector<uint8_t> frame = frame_of(t, 0, to, number);
        for (const PortRef exit : exits_of(t, 0, to, *path)) {
          if (exit.node == t.host(0)) continue;
          const ForwardingTable table(t, exit.node);
          CHECK(forwarded(table, frame).port == exit.port);
        }
      }
    }
  }
}

TEST_CASE(
    "a hop costs one of the hop limit, the MACs are the link's, and IPv4's checksum is right") {
  for (const Underlay underlay : {Underlay::kIpv6, Underlay::kIpv4}) {
    const Topology t = hashing_fabric(underlay);
    const ForwardingTable table(t, t.t0(0, 1));
    std::vector<uint8_t> frame = frame_of(t, 0, 2, 9);
    REQUIRE(forwarded(table, frame).port == PortId{0});
    MrcPacket packet;
    REQUIRE(parse_mrc_frame(frame, packet) == ParseError::kNone);  // checks the checksum
    CHECK(packet.outer.hop_limit == 63);
    CHECK(packet.ethernet.destination == t.port({t.host(2), PortId{0}}).mac);
    CHECK(icrc_ok(frame));
  }
}

TEST_CASE("what has no route is dropped as it came, under its own cause") {
  const Topology t = hashing_fabric(Underlay::kIpv4);
  const ForwardingTable table(t, t.t0(0, 0));
  const auto dropped = [&](std::vector<uint8_t> frame) {
    const std::vector<uint8_t> before = frame;
    const DropCause cause = forwarded(table, frame).drop;
    CHECK(frame == before);
    return cause;
  };
  CHECK(dropped(frame_of(t, 0, 3, 0, 1)) == DropCause::kHopLimit);
  CHECK(dropped(frame_of(t, 0, 99, 0)) == DropCause::kNoRoute);
  std::vector<uint8_t> frame = frame_of(t, 0, 3, 0);
  frame[kTtlOffset] ^= 1;  // and the checksum stays
  CHECK(dropped(frame) == DropCause::kMalformed);
  frame = frame_of(t, 0, 3, 0);
  frame.resize(frame.size() - 1);
  CHECK(dropped(frame) == DropCause::kMalformed);
  // A fabric has one underlay.
  CHECK(dropped(frame_of(hashing_fabric(Underlay::kIpv6), 0, 3, 0)) == DropCause::kForeignCarrier);
  ForwardingTable unloaded(t, t.t0(0, 0));
  unloaded.set_loaded(false);
  frame = frame_of(t, 0, 3, 0);
  CHECK(forwarded(unloaded, frame).drop == DropCause::kNoRoute);
}

TEST_CASE("an uplink without carrier is not chosen, and with none left there is no route") {
  for (const bool resilient : {false, true}) {
    const Topology t = hashing_fabric(Underlay::kIpv6, resilient);
    ForwardingTable table(t, t.t0(0, 0));
    const auto ports = [&] {
      std::vector<uint32_t> list;
      for (uint32_t number = 0; number < 256; ++number) {
        std::vector<uint8_t> frame = frame_of(t, 0, 3, number, 64, 0);
        list.push_back(forwarded(table, frame).port.value);
      }
      return list;
    };
    const std::vector<uint32_t> before = ports();
    using Ports = std::vector<PortId>;
    CHECK(table.host_routes() == std::vector<Ports>{{PortId{0}},
                                                    {PortId{1}},
                                                    {PortId{2}, PortId{3}, PortId{4}, PortId{5}},
                                                    {PortId{2}, PortId{3}, PortId{4}, PortId{5}}});
    table.set_live(PortId{4}, false);
    CHECK(table.host_routes()[3] == Ports{PortId{2}, PortId{3}, PortId{5}});
    const std::vector<uint32_t> after = ports();
    uint32_t moved = 0, moved_of_others = 0;
    for (size_t i = 0; i < before.size(); ++i) {
      CHECK(after[i] != 4);
      moved += after[i] != before[i] ? 1 : 0;
      moved_of_others += after[i] != before[i] && before[i] != 4 ? 1 : 0;
    }
    CHECK(moved >= 40);
    if (resilient) CHECK(moved_of_others == 0);
    if (!resilient) CHECK(moved_of_others > 90);  // half of all
    table.set_live(PortId{4}, true);
    CHECK(ports() == before);
    for (uint32_t port = 2; port < 6; ++port) table.set_live(PortId{port}, false);
    CHECK(table.host_routes()[3].empty());
    std::vector<uint8_t> frame = frame_of(t, 0, 3, 0);
    CHECK(forwarded(table, frame).drop == DropCause::kNoRoute);
    frame = frame_of(t, 0, 1, 0);
    CHECK(forwarded(table, frame).drop == DropCause::kNone);  // needs no uplink
    table.set_loaded(false);
    CHECK(table.host_routes().empty());
  }
}

TEST_CASE("marks and trims of a packet without a carrier are read by its receiver") {
  for (const Underlay underlay : {Underlay::kIpv6, Underlay::kIpv4}) {
    const Topology t = hashing_fabric(underlay);
    FramePool pool;
    Frame frame = pool.copy(frame_of(t, 0, 3, 5));
    CHECK(dscp_of(frame.bytes()) == kDscpTrimmable);
    CHECK(is_ect(frame.bytes()));
    mark_ce(frame.hop_bytes());
    MrcPacket packet;
    REQUIRE(parse_mrc_frame(frame.bytes(), packet) == ParseError::kNone);
    CHECK(packet.outer.ecn() == kEcnCe);
    CHECK(packet.outer.dscp() == kDscpTrimmable);
    CHECK(icrc_ok(frame.bytes()));
    trim(frame, true, {});
    CHECK(frame.size() == kTrimmedFrameBytes);
    REQUIRE(parse_mrc_frame(frame.bytes(), packet) == ParseError::kNone);
    CHECK(packet.trimmed);
    CHECK(packet.payload_length == 4096);
    CHECK(packet.outer.dscp() == kDscpTrimmedLastHop);
    CHECK(packet.outer.ecn() == kEcnCe);
    CHECK_FALSE(icrc_ok(frame.bytes()));
    const ForwardingTable table(t, t.t0(0, 0));
    CHECK(table.forward(frame.hop_bytes(), frame.modelled_size()).drop == DropCause::kNone);
  }
}

TEST_CASE("what has no carrier counts for no uSID") {
  for (const Underlay underlay : {Underlay::kIpv6, Underlay::kIpv4}) {
    Bench bench("p0.t0-0", hashing_fabric(underlay));
    bench.arrive_bytes(kD0, FabricTime::from_us(1), frame_of(bench.topology, 0, 1, 5));
    bench.run();
    CHECK(bench.notes.sent.size() == 1);
    CHECK(bench.node.usid_counts().empty());
  }
}

TEST_CASE("what has no ports is routed as well") {
  const Topology t = hashing_fabric(Underlay::kIpv6);
  const ForwardingTable table(t, t.t0(0, 0));
  std::vector<uint8_t> frame = bytes_of({.carrier = "fd00:1::3", .size = kInnerOffset});
  const ForwardingDecision decision = forwarded(table, frame);
  CHECK(decision.drop == DropCause::kNone);
  CHECK(decision.port.value >= 2);
}

TEST_CASE("a switch of a listed fabric hashes over the ports of the shortest paths to a host") {
  const FabricShape shape =
      parse_fabric(read_yaml_text("name: square\n"
                                  "switches: {s0: 0100, s1: 0200, s2: 0300, s3: 0400}\n"
                                  "hosts: [[s0], [s1], [s2], [s3]]\n"
                                  "links: {s0: [s1, s3], s2: [s1, s3]}\n",
                                  "square"));
  const Topology t = build_topology(shape);
  const NodeId s0 = t.find_node("s0").value();
  const auto port_to = [&](const char* peer) {
    for (uint32_t i = 0; i < t.node(s0).ports.size(); ++i) {
      if (t.node(t.node(s0).ports[i].peer.node).name == peer) return PortId{i};
    }
    return PortId{99};
  };
  EcmpTable table(t, s0);
  CHECK(table.hosts() == 4);
  CHECK(table.ports_to(0) == std::vector{port_to("h0")});
  CHECK(table.ports_to(1) == std::vector{port_to("s1")});
  std::vector<PortId> both{port_to("s1"), port_to("s3")};
  std::sort(both.begin(), both.end());
  CHECK(table.ports_to(2) == both);
  std::map<uint32_t, uint32_t> used;
  for (uint32_t number = 0; number < 64; ++number) {
    ++used[table.route(frame_of(t, 0, 2, number)).port.value().value];
  }
  CHECK(used.size() == 2);
  table.set_live(port_to("s1"), false);
  CHECK(table.ports_to(2) == std::vector{port_to("s3")});
  CHECK_FALSE(table.route(frame_of(t, 0, 1, 5)).port.has_value());
}

TEST_CASE("a listed fabric whose NICs have several ports has no routes for hosts") {
  const FabricShape shape =
      parse_fabric(read_yaml_text("name: dual\nswitches: {s0: 0100, s1: 0200}\nhosts: [[s0, s1], "
                                  "[s0, s1]]\nlinks: {s0: [s1]}\n",
                                  "dual"));
  const Topology t = build_topology(shape);
  EcmpTable table(t, t.find_node("s0").value());
  CHECK(table.hosts() == 0);
  CHECK_FALSE(table.route(frame_of(t, 0, 1, 5)).known);
}
