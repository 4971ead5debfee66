// Protection before routing has decided: a plane of switches whose BGP takes its time, and links that go dark.

#include <doctest/doctest.h>

#include "fabric/topology/fare.h"
#include "fare_plane.h"
#include "routing/notice/failure_notice.h"

using namespace mrclab;
using namespace mrclab::switchd;
using namespace mrclab::switchd::testing;

namespace {

FabricShape protected_shape(RerouteScope scope, FabricTime bfd = {}) {
  return fare_shape({.delays = FareDelays::kHardware, .bfd = bfd, .fast_reroute = scope});
}

constexpr FabricTime us(int64_t n) { return FabricTime::from_us(n); }

/// The notice as a frame that comes from the neighbour at that port.
std::vector<uint8_t> notice_frame(const Topology& t, PortRef to, const char* prefix,
                                  uint8_t hop_limit = 255) {
  const routing::TcpAddresses ends{link_address(t, t.port(to).peer), link_address(t, to)};
  const routing::Octets packet = routing::make_notice_packet(
      ends, {routing::FailureNotice::Type::kFailed, 1, {*routing::Prefix::parse(prefix)}});
  std::vector<uint8_t> frame(kEthernetBytes);
  frame[12] = 0x86, frame[13] = 0xDD;
  frame.insert(frame.end(), packet.begin(), packet.end());
  frame[kHopLimitOffset] = hop_limit;
  return frame;
}

}  // namespace

TEST_CASE(
    "a dead port leaves the groups of its switch when it is detected, and those of others when "
    "they are notified, both before BGP has decided") {
  for (const RerouteScope scope :
       {RerouteScope::kOff, RerouteScope::kLocal, RerouteScope::kRemote}) {
    CAPTURE(name_of(scope));
    const bool local = scope != RerouteScope::kOff, remote = scope == RerouteScope::kRemote;
    WiredPlane plane(protected_shape(scope));
    const FabricTime dark = fare_ready(plane.topology);
    const std::string all = "u0*1 u1*1 u2*1 u3*1", without = "u0*1 u2*1 u3*1";
    set_link(plane, "p0.t0-2:u1", false, dark);
    plane.run(dark + us(10) - FabricTime::from_ns(1));
    CHECK(hops(plane, "p0.t0-2", 0) == all);
    plane.run(dark + us(10));
    CHECK(hops(plane, "p0.t0-2", 0) == (local ? without : all));
    // A wire and a pipeline for the notice, and the time to react.
    plane.run(dark + us(10 + 10) + FabricTime::from_ns(1'100));
    CHECK(hops(plane, "p0.t0-0", 4) == all);
    plane.run(dark + us(10 + 10) + FabricTime::from_ns(1'300));
    CHECK(hops(plane, "p0.t0-0", 4) == (remote ? without : all));
    CHECK(hops(plane, "p0.t0-0", 2) == all);  // hosts of other leaves are as they were
    CHECK(count_events(plane, "p0.t1-1", "protected") == (local ? 1 : 0));
    CHECK(count_events(plane, "p0.t0-0", "notified") == (remote ? 1 : 0));
    // In the end all agree with what BGP decides.
    plane.run(dark + us(100));
    CHECK(hops(plane, "p0.t0-0", 4) == without);
    CHECK(hops(plane, "p0.t0-2", 0) == without);
    set_link(plane, "p0.t0-2:u1", true, dark + us(1000));
    plane.run(dark + us(2000));
    CHECK(hops(plane, "p0.t0-0", 4) == all);
    CHECK(hops(plane, "p0.t0-2", 0) == all);
    if (!remote) continue;
    const RerouteCounters& sent = plane.node("p0.t1-1").fast_reroute()->counters();
    CHECK(sent.notices_out >= 2 * (1'000 / 100));  // to two leaves, each 100us
    CHECK(sent.notices_out <= 2 * (1'200 / 100 + 3));
    CHECK(plane.node("p0.t0-0").fast_reroute()->lost_behind(PortId{3}) == 0);
  }
}

TEST_CASE("a link that is back before its loss is detected costs no notice") {
  WiredPlane plane(protected_shape(RerouteScope::kRemote));
  const FabricTime dark = fare_ready(plane.topology);
  set_link(plane, "p0.t0-2:u1", false, dark);
  set_link(plane, "p0.t0-2:u1", true, dark + us(8));
  plane.run(dark + us(40));
  CHECK(plane.node("p0.t1-1").fast_reroute()->counters().notices_out == 0);
  CHECK(count_events(plane, "p0.t0-2", "protected") == 0);
}

TEST_CASE("what a neighbour reported expires when it does not repeat it") {
  WiredPlane plane(protected_shape(RerouteScope::kRemote));
  const Topology& t = plane.topology;
  const FabricTime dark = fare_ready(t);
  const FastReroute& leaf = *plane.node("p0.t0-0").fast_reroute();
  set_link(plane, "p0.t0-2:u1", false, dark);
  plane.apply(dark + us(50), t.t1(0, 1), SwitchState{t.t1(0, 1), SwitchWork::kHung});
  plane.run(dark + us(300));
  CHECK(leaf.lost_behind(PortId{3}) == 2);
  plane.run(dark + us(400));
  CHECK(leaf.lost_behind(PortId{3}) == 0);
}

TEST_CASE("a silent neighbour is left when BFD misses it, before BGP has decided") {
  WiredPlane plane(protected_shape(RerouteScope::kRemote, us(20)));
  const Topology& t = plane.topology;
  const FabricTime hung = fare_ready(t);
  plane.apply(hung, t.t1(0, 0), SwitchState{t.t1(0, 0), SwitchWork::kHung});
  plane.run(hung + us(64));
  CHECK(hops(plane, "p0.t0-0", 4) == "u1*1 u2*1 u3*1");
  CHECK(count_events(plane, "p0.t0-0", "protected") == 1);
  CHECK(count_events(plane, "p0.t0-0", "fib") == count_events(plane, "p0.t0-1", "fib"));
}

TEST_CASE("notices from hosts, from afar, malformed or too many are refused and counted") {
  Bench bench("p0.t0-0", build_topology(protected_shape(RerouteScope::kRemote)));
  const Topology& t = bench.topology;
  const PortRef host{bench.self, PortId{0}}, uplink{bench.self, PortId{2}};
  bench.arrive_bytes(PortId{0}, us(1), notice_frame(t, host, "fd00:2::/32"));
  bench.arrive_bytes(PortId{2}, us(1), notice_frame(t, uplink, "fd00:2::/32", 254));
  bench.arrive_bytes(PortId{2}, us(2), notice_frame(t, {bench.self, PortId{3}}, "fd00:2::/32"));
  for (int i = 0; i < 300; ++i) {
    bench.arrive_bytes(PortId{2}, us(3) + FabricTime::from_ns(20 * i),
                       notice_frame(t, uplink, "::/0"));
  }
  bench.run(us(12));
  const auto drops = bench.notes.drops();
  REQUIRE(drops.size() == 1);
  CHECK(drops[0].port == PortId{0});
  CHECK(drops[0].cause == DropCause::kForeignCarrier);
  const RerouteCounters& counters = bench.node.fast_reroute()->counters();
  CHECK(counters.malformed == 2);
  CHECK(counters.refused == 300 - 256);
  CHECK(counters.notices_in == 0);
  bench.run(us(30));
  CHECK(counters.notices_in == 256);
}
