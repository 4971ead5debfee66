// Switches that cut through: when a frame leaves, by hand arithmetic, and what goes no further.

#include <doctest/doctest.h>

#include "fixture.h"

using namespace mrclab;
using namespace mrclab::switchd;
using namespace mrclab::switchd::testing;

namespace {

const FrameText kUplinkFrame{.carrier = "5f00:0:2000:1000:2001:e000::"};

Topology cutting(BitRate host = BitRate::from_gbps(100), BitRate fabric = BitRate::from_gbps(100)) {
  FabricShape shape;
  shape.name = "bench";
  shape.planes = 2;
  shape.t0 = shape.t1 = shape.hosts_per_t0 = 2;
  shape.host_rate = host;
  shape.fabric_rate = fabric;
  shape.switching = Switching::kCutThrough;
  return build_topology(shape);
}

/// When a frame whose last bit comes at 1 us leaves.
FabricTime leaves(Topology fabric, PortId in, const FrameText& frame) {
  Bench bench("p0.t0-0", std::move(fabric));
  bench.arrive(in, ps(1'000'000), frame);
  bench.run();
  REQUIRE(bench.notes.sent.size() == 1);
  REQUIRE(bench.notes.packets.size() == 2);
  CHECK(bench.notes.packets[0].t == ps(1'000'000));  // its last bit, whenever it was looked at
  CHECK(bench.notes.packets[1].t == bench.notes.sent[0].end);
  return bench.notes.sent[0].start;
}

}  // namespace

TEST_CASE("a frame that is cut through leaves sooner by all of it but its first 128 bytes") {
  // 4,250 bytes on the wire less preamble and 128: 4,114 bytes of 80 ps.
  CHECK(leaves(cutting(), kU0, kToH1) == ps(1'700'000 - 329'120));
  CHECK(leaves(bench_fabric(), kU0, kToH1) == ps(1'700'000));
  FrameText shortest = kToH1;
  shortest.size = 60;
  CHECK(leaves(cutting(), kU0, shortest) == ps(1'700'000));
}

TEST_CASE("what goes on faster than it came is stored first, and what goes on slower is not") {
  const BitRate slow = BitRate::from_gbps(100), fast = BitRate::from_gbps(400);
  CHECK(leaves(cutting(slow, fast), kD0, kUplinkFrame) == ps(1'700'000));
  CHECK(leaves(cutting(slow, fast), kD0, kToH1) == ps(1'700'000 - 329'120));
  CHECK(leaves(cutting(slow, fast), kU0, kToH1) == ps(1'700'000 - 329'120 / 4));
}

TEST_CASE("a frame that takes longer than the pipeline is looked at when its last bit comes") {
  const BitRate slow = BitRate::from_gbps(10);
  CHECK(leaves(cutting(slow, slow), kU0, kToH1) == ps(1'000'000));
}

TEST_CASE("frames of one port leave in their order, long and short, cut through and stored") {
  Bench bench("p0.t0-0", cutting(BitRate::from_gbps(100), BitRate::from_gbps(400)));
  FrameText shortest = kUplinkFrame;
  shortest.size = 60;
  FabricTime at = ps(1'000'000);
  for (uint8_t i = 0; i < 40; ++i) {
    FrameText frame = i % 3 == 0 ? kUplinkFrame : shortest;
    frame.filling = i;
    at += ps(i % 3 == 0 ? kFrameTime : 84 * 80);
    bench.arrive(kD0, at, frame);
  }
  bench.run();
  REQUIRE(bench.notes.sent.size() == 40);
  for (uint8_t i = 0; i < 40; ++i) {  // by a byte that no switch changes
    CHECK(bench.notes.sent[i].bytes[58] == static_cast<uint8_t>(58 * 7 + i));
  }
}

TEST_CASE(
    "what is cut or fails its check is dropped where it came in, and no part of it travels on") {
  Bench bench("p0.t0-0", cutting());
  bench.apply(ps(900'000), WireState{bench.wire_into(kU0), false});
  bench.arrive(kU0, ps(1'000'000), kToH1);
  Arrival spoilt;
  spoilt.frame = bench.pool.copy(bytes_of(kToH1));
  spoilt.start = ps(160'000);
  spoilt.arrival = ps(1'000'000);
  spoilt.lost = DropCause::kFrameCheck;
  bench.node.receive(kU1, std::move(spoilt));
  bench.run();
  CHECK(bench.notes.sent.empty());
  REQUIRE(bench.notes.drops().size() == 2);
  for (const SeenPacket& drop : bench.notes.drops()) CHECK(drop.t == ps(1'000'000));
}

TEST_CASE("a switch that hangs or loses its power loses what it has looked at and stored") {
  for (const SwitchWork work : {SwitchWork::kHung, SwitchWork::kDown}) {
    Bench bench("p0.t0-0", cutting(BitRate::from_gbps(100), BitRate::from_gbps(400)));
    bench.arrive(kD0, ps(1'000'000), kUplinkFrame);
    bench.apply(ps(1'500'000), SwitchState{bench.self, work});
    if (work == SwitchWork::kDown) {
      bench.apply(ps(1'600'000), SwitchState{bench.self, SwitchWork::kForwarding});
    }
    bench.run();
    CHECK(bench.notes.sent.empty());
    REQUIRE(bench.notes.drops().size() == 1);
    const bool hung = work == SwitchWork::kHung;
    CHECK(bench.notes.drops()[0].cause == (hung ? DropCause::kSwitchHung : DropCause::kSwitchDown));
    CHECK(bench.notes.drops()[0].t == ps(1'700'000));
  }
}
