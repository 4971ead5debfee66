// Switches that route by themselves: a plane of them, joined by wires, whose tables come from BGP alone.

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "fabric/base/byte_order.h"
#include "fabric/topology/fare.h"
#include "fare_plane.h"
#include "routing/rib/spread_members.h"
#include "switchd/fare_table.h"
#include "switchd/outer_header.h"
#include "tests/support/sample_frames.h"

using namespace mrclab;
using namespace mrclab::switchd;
using namespace mrclab::switchd::testing;

namespace {

std::vector<uint8_t> routed_frame(const Topology& t, uint32_t from, uint32_t to, uint32_t number) {
  MrcFrameSpec spec = test::random_spec(Opcode::kWriteOnly, 5, 64);
  spec.encapsulation = Encapsulation::kIpv6;
  spec.inner_source = host_address(t, from);
  spec.inner_destination = host_address(t, to);
  spec.ev = ev_of({0, number, Chosen::kByHashIpv6});
  spec.hop_limit = 64;
  spec.dscp = kDscpTrimmable;
  return test::build_frame(spec);
}

/// When the last "fib" event of any switch was.
FabricTime last_change(WiredPlane& plane) {
  FabricTime last;
  for (const NodeSite& site : plane.topology.nodes) {
    if (site.role == NodeRole::kHost) continue;
    for (const SeenEvent& event : plane.notes(site.name).events) {
      if (event.kind == "fib") last = std::max(last, event.t);
    }
  }
  return last;
}

}  // namespace

TEST_CASE("switches that know nothing but their links find all hosts before the fabric is ready") {
  for (const FareDelays delays : {FareDelays::kIdeal, FareDelays::kHardware, FareDelays::kFrr}) {
    CAPTURE(name_of(delays));
    WiredPlane plane(fare_shape({.delays = delays}));
    const FabricTime ready = fare_ready(plane.topology);
    plane.run(ready);
    for (uint32_t host = 0; host < 6; ++host) {
      for (uint32_t leaf = 0; leaf < 3; ++leaf) {
        const bool own = host / 2 == leaf;
        CHECK(hops(plane, "p0.t0-" + std::to_string(leaf), host) ==
              (own ? "d" + std::to_string(host % 2) + "*1" : "u0*1 u1*1 u2*1 u3*1"));
      }
      for (uint32_t spine = 0; spine < 4; ++spine) {
        CHECK(hops(plane, "p0.t1-" + std::to_string(spine), host) ==
              "d" + std::to_string(host / 2) + "*1");
      }
    }
    CHECK(last_change(plane) < ready / 2);
    CHECK(count_events(plane, "p0.t0-1", "bgp_up") == 4);
    CHECK(count_events(plane, "p0.t1-1", "bgp_up") == 3);
    CHECK(plane.drops() == 0);
  }
}

TEST_CASE(
    "what comes at one instant is decided and told once, and routes that say the same go in one "
    "UPDATE") {
  WiredPlane plane(fare_shape());
  plane.run(fare_ready(plane.topology));
  // A leaf's two hosts, once for all its four sessions; and the end of its table.
  const routing::SpeakerCounters& spine = plane.node("p0.t1-0").speaker()->counters();
  CHECK(spine.announced_in == 3 * 2);
  CHECK(spine.updates_in == 3 * 2);
  CHECK(spine.decisions <= 2 * 6);
  // Of four spines the hosts of two other leaves each.
  const routing::SpeakerCounters& leaf = plane.node("p0.t0-0").speaker()->counters();
  CHECK(leaf.announced_in == 4 * 4);
  CHECK(leaf.updates_in <= 4 * 3);
}

TEST_CASE("BGP is a packet of the control class that no host gets and no switch passes on") {
  WiredPlane plane(fare_shape());
  plane.run(fare_ready(plane.topology));
  size_t segments = 0, bgp = 0;
  for (const NodeSite& site : plane.topology.nodes) {
    if (site.role == NodeRole::kHost) {
      CHECK(plane.delivered(site.index).empty());
      continue;
    }
    for (const SeenPacket& seen : plane.notes(site.name).packets) {
      const auto packet = routing::parse_tcp_packet(std::span(seen.bytes).subspan(kOuterOffset));
      REQUIRE(packet);
      const PortRef port{site.id, seen.port};
      const bool leaves = seen.direction == Direction::kEgress;
      CHECK((leaves ? packet->addresses.source : packet->addresses.destination) ==
            link_address(plane.topology, port));
      CHECK(seen.queue == (leaves ? QueueClass::kControl : QueueClass::kNone));
      CHECK(seen.bytes[kHopLimitOffset] == 255);
      segments += leaves ? 1 : 0;
      bgp += leaves && !packet->segment.payload.empty() ? 1 : 0;
    }
  }
  CHECK(segments > 12 * 3);
  CHECK(bgp > 12 * 4);
}

TEST_CASE(
    "a link T1-T0 that dies is told to the other T0s, which leave that T1 out: nothing is lost "
    "later") {
  WiredPlane plane(fare_shape());
  const FabricTime ready = fare_ready(plane.topology);
  set_link(plane, "p0.t0-2:u1", false, ready);
  plane.run(ready + FabricTime::from_us(20));
  CHECK(hops(plane, "p0.t0-0", 4) == "u0*1 u2*1 u3*1");
  // What that T1 had for the lost leaf it now promises to the others: a fair share, not capacity.
  CHECK(hops(plane, "p0.t0-0", 2) == "u0*1 u1*2 u2*1 u3*1");
  CHECK(hops(plane, "p0.t0-2", 0) == "u0*1 u2*1 u3*1");
  CHECK(hops(plane, "p0.t1-1", 4) == "");
  CHECK(count_events(plane, "p0.t1-1", "bgp_down") == 1);
  CHECK(last_change(plane) < ready + FabricTime::from_us(5));
  for (uint32_t i = 0; i < 64; ++i) {
    plane.send(0, ready + FabricTime::from_us(30 + i), routed_frame(plane.topology, 0, 4, i));
  }
  set_link(plane, "p0.t0-2:u1", true, ready + FabricTime::from_us(200));
  plane.run(ready + FabricTime::from_us(300));
  CHECK(plane.delivered(4).size() == 64);
  CHECK(hops(plane, "p0.t0-0", 4) == "u0*1 u1*1 u2*1 u3*1");
}

TEST_CASE("a slow uplink gets a smaller share, in turn by packets and by hash of flows") {
  for (const Spray spray : {Spray::kPacket, Spray::kFlow}) {
    CAPTURE(name_of(spray));
    WiredPlane plane(fare_shape({.spray = spray}));
    const Topology& t = plane.topology;
    const FabricTime ready = fare_ready(t);
    const WireId slow = t.port(port_of(t, "p0.t0-0:u2")).out;
    plane.apply(ready, t.t0(0, 0), WireRate{slow, BitRate::from_gbps(10)});
    plane.run(ready + FabricTime::from_us(20));
    // The leaf of host 4 advertises 100 on each uplink, a T1 50 to each of two others; the slow link lets 10 pass.
    CHECK(hops(plane, "p0.t0-0", 4) == "u0*5 u1*5 u2*1 u3*5");
    constexpr uint32_t kPackets = 1600;
    for (uint32_t i = 0; i < kPackets; ++i) {
      plane.send(0, ready + FabricTime::from_us(30) + FabricTime::from_ns(400) * i,
                 routed_frame(t, 0, 4, i % 1024));
    }
    plane.run(ready + FabricTime::from_ms(2));
    CHECK(plane.delivered(4).size() == kPackets);
    std::map<uint32_t, size_t> by_port;
    for (const Sent& sent : plane.notes("p0.t0-0").sent) {
      if (sent.bytes[kNextHeaderOffset] == kNextHeaderUdp) ++by_port[sent.port.value];
    }
    for (uint32_t uplink = 0; uplink < 4; ++uplink) {
      const auto got = static_cast<int64_t>(by_port[2 + uplink]);
      const int64_t share = uplink == 2 ? kPackets / 16 : kPackets * 5 / 16;
      // Four standard deviations of a binomial distribution, and nothing where they go in turn.
      const int64_t off = spray == Spray::kPacket ? 0 : 76;
      CHECK(std::abs(got - share) <= off);
    }
  }
}

TEST_CASE(
    "members of a group come as evenly as their weights allow, and two kinds of packets take turns "
    "of their own") {
  const auto turns = [](std::vector<routing::WeightedHop> list) {
    std::string text;
    for (const PortId port : routing::spread_members(list)) text += std::to_string(port.value);
    return text;
  };
  CHECK(turns({{PortId{1}, 1}, {PortId{2}, 1}, {PortId{3}, 2}, {PortId{4}, 2}}) == "341234");
  CHECK(turns({{PortId{1}, 4}, {PortId{2}, 1}}) == "11211");
  CHECK(turns({}) == "");

  const Topology t = build_topology(fare_shape());
  FareTable table(t, t.t0(0, 0));
  CHECK(table.routed_hosts() == 0);
  for (const uint32_t host : {4u, 5u}) table.set_hops(host, {{PortId{2}, 1}, {PortId{3}, 1}});
  CHECK(table.routed_hosts() == 2);
  CHECK(table.groups() == 1);  // of both hosts
  std::vector<uint8_t> data = routed_frame(t, 0, 4, 1), control = routed_frame(t, 0, 4, 1);
  set_dscp(control, kDscpControl);
  std::map<std::string, std::set<PortId>> used;
  for (int i = 0; i < 4; ++i) {
    used["data"].insert(*table.route(data).port);
    used["control"].insert(*table.route(control).port);
  }
  CHECK(used["data"].size() == 2);
  CHECK(used["control"].size() == 2);
  table.set_hops(4, {});
  CHECK(table.route(data).known);
  CHECK_FALSE(table.route(data).port);
  CHECK(table.groups() == 1);
  table.set_hops(5, {{PortId{3}, 1}});
  CHECK(table.groups() == 0);
  table.clear();
  CHECK(table.routed_hosts() == 0);
  CHECK(table.ports_to(1) == std::vector{PortId{1}});
}

TEST_CASE("a host's address is told as long as its link lives") {
  WiredPlane plane(fare_shape());
  const FabricTime ready = fare_ready(plane.topology);
  set_link(plane, "p0.t0-2:d0", false, ready);
  plane.run(ready + FabricTime::from_us(20));
  CHECK(hops(plane, "p0.t0-0", 4) == "");
  CHECK(hops(plane, "p0.t0-0", 5) == "u0*1 u1*1 u2*1 u3*1");
  CHECK(hops(plane, "p0.t0-2", 4) == "d0*1");
  set_link(plane, "p0.t0-2:d0", true, ready + FabricTime::from_us(30));
  plane.run(ready + FabricTime::from_us(50));
  CHECK(hops(plane, "p0.t0-0", 4) == "u0*1 u1*1 u2*1 u3*1");
}

TEST_CASE("a T1 that loses its power forgets all, and speaks again when it is back") {
  for (const FareDelays delays : {FareDelays::kIdeal, FareDelays::kHardware}) {
    WiredPlane plane(fare_shape({.delays = delays}));
    const Topology& t = plane.topology;
    const FabricTime ready = fare_ready(t), back = ready + FabricTime::from_us(200);
    const NodeId t1 = t.t1(0, 3);
    const auto light = [&](bool up, FabricTime at) {
      for (const char* port : {"p0.t1-3:d0", "p0.t1-3:d1", "p0.t1-3:d2"}) {
        set_link(plane, port, up, at);
      }
    };
    plane.apply(ready, t1, SwitchState{t1, SwitchWork::kDown});
    light(false, ready);
    plane.run(ready + FabricTime::from_us(100));
    CHECK(hops(plane, "p0.t0-0", 4) == "u0*1 u1*1 u2*1");
    plane.apply(back, t1, SwitchState{t1, SwitchWork::kForwarding});
    plane.run(back + FabricTime::from_us(1));
    CHECK(hops(plane, "p0.t1-3", 4) == "");
    light(true, back + FabricTime::from_us(20));
    plane.run(back + FabricTime::from_us(100));
    CHECK(hops(plane, "p0.t0-0", 4) == "u0*1 u1*1 u2*1 u3*1");
    CHECK(hops(plane, "p0.t1-3", 4) == "d2*1");
    CHECK(count_events(plane, "p0.t1-3", "bgp_up") == 6);
  }
}

TEST_CASE("a T1 that hangs is left where BFD is spoken, and only there") {
  for (const bool bfd : {false, true}) {
    WiredPlane plane(fare_shape({.bfd = bfd ? FabricTime::from_us(20) : FabricTime::zero()}));
    const Topology& t = plane.topology;
    const FabricTime ready = fare_ready(t), awake = ready + FabricTime::from_us(300);
    const NodeId t1 = t.t1(0, 0);
    plane.apply(ready, t1, SwitchState{t1, SwitchWork::kHung});
    plane.apply(awake, t1, SwitchState{t1, SwitchWork::kForwarding});
    plane.run(ready + FabricTime::from_us(100));
    CHECK(hops(plane, "p0.t0-0", 4) == (bfd ? "u1*1 u2*1 u3*1" : "u0*1 u1*1 u2*1 u3*1"));
    plane.run(awake + FabricTime::from_ms(3));
    CHECK(hops(plane, "p0.t0-0", 4) == "u0*1 u1*1 u2*1 u3*1");
    CHECK(count_events(plane, "p0.t0-0", "bgp_down") == (bfd ? 1 : 0));
    for (const Sent& sent : plane.notes("p0.t1-0").sent) {
      CHECK((sent.start < ready || sent.start >= awake));
    }
  }
}

TEST_CASE(
    "a link that was dark for as long as BFD takes to notice silence has its session again at "
    "once") {
  WiredPlane plane(fare_shape({.bfd = FabricTime::from_us(20)}));
  const FabricTime ready = fare_ready(plane.topology);
  set_link(plane, "p0.t0-2:u1", false, ready);
  set_link(plane, "p0.t0-2:u1", true, ready + FabricTime::from_us(40));
  plane.run(ready + FabricTime::from_us(80));
  CHECK(hops(plane, "p0.t0-0", 4) == "u0*1 u1*1 u2*1 u3*1");
  CHECK(count_events(plane, "p0.t0-2", "bgp_up") == 5);
  CHECK(plane.drops() == 0);  // nothing is sent into the dark
}

TEST_CASE(
    "a delay of the table's writes is kept: packets are lost at the dead link until the hardware "
    "has them") {
  for (const FareDelays delays : {FareDelays::kIdeal, FareDelays::kHardware}) {
    WiredPlane plane(fare_shape({.delays = delays}));
    const FabricTime ready = fare_ready(plane.topology);
    set_link(plane, "p0.t0-0:u1", false, ready);
    plane.run(ready + FabricTime::from_us(9));
    const bool at_once = delays == FareDelays::kIdeal;
    CHECK(hops(plane, "p0.t0-0", 4) == (at_once ? "u0*1 u2*1 u3*1" : "u0*1 u1*1 u2*1 u3*1"));
    plane.run(ready + FabricTime::from_us(60));
    CHECK(hops(plane, "p0.t0-0", 4) == "u0*1 u2*1 u3*1");
  }
}

TEST_CASE(
    "what is sent to an address of a link and is no packet of its neighbour is dropped and "
    "counted") {
  Bench bench("p0.t0-0", build_topology(fare_shape()));
  const Topology& t = bench.topology;
  std::vector<uint8_t> frame = routed_frame(t, 0, 4, 1);
  const Ipv6Address own = link_address(t, {bench.self, PortId{2}});
  std::copy(own.begin(), own.end(), frame.begin() + kDestinationOffset);
  bench.arrive_bytes(PortId{2}, FabricTime::from_us(1), frame);
  bench.arrive_bytes(PortId{0}, FabricTime::from_us(1), frame);
  bench.run(FabricTime::from_us(10));
  REQUIRE(bench.notes.drops().size() == 2);
  for (const SeenPacket& drop : bench.notes.drops())
    CHECK(drop.cause == DropCause::kForeignCarrier);
}
