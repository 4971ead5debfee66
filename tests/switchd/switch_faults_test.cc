// What a switch does when its wires and ports fail, to the picosecond.

#include <doctest/doctest.h>

#include "fixture.h"

using namespace mrclab;
using namespace mrclab::switchd;
using namespace mrclab::switchd::testing;

TEST_CASE("an outage cuts what was under way at any instant of it, and both its edges are exact") {
  // The frame is under way in [start, arrival] = [1,160,000, 2,000,000] ps.
  const FabricTime arrival = ps(2'000'000);
  const FabricTime start = arrival - kPropagation - ps(kFrameTime);
  struct Case {
    const char* about;
    FabricTime down, up;
    bool cut;
  };
  const Case cases[] = {
      {"over before it starts", ps(1'000'000), start - ps(1), false},
      {"ends as it starts", ps(1'000'000), start, false},
      {"ends one picosecond after it starts", ps(1'000'000), start + ps(1), true},
      {"in the middle of the flight", start + ps(10), start + ps(20), true},
      {"covers the flight", ps(1'000'000), ps(3'000'000), true},
      {"begins as it arrives", arrival, ps(3'000'000), true},
      {"begins one picosecond after it arrived", arrival + ps(1), ps(3'000'000), false},
      {"never ends", start, FabricTime::never(), true},
  };
  for (const Case& c : cases) {
    INFO(c.about);
    Bench bench;
    bench.arrive(kU0, arrival, kToH1);
    bench.apply(c.down, WireState{bench.wire_into(kU0), false});
    if (c.up != FabricTime::never()) bench.apply(c.up, WireState{bench.wire_into(kU0), true});
    bench.run();
    CHECK(bench.notes.sent.size() == (c.cut ? 0 : 1));
    CHECK(bench.counters(kU0).dropped(DropCause::kWireDown) == (c.cut ? 1 : 0));
    if (c.cut) {
      REQUIRE(bench.notes.packets.size() == 1);
      CHECK(bench.notes.packets[0].cause == DropCause::kWireDown);
      CHECK(bench.notes.packets[0].direction == Direction::kIngress);
      CHECK(bench.notes.packets[0].t == arrival);
    }
  }
}

TEST_CASE("an outage concerns its own wire only, and old ones are forgotten without harm") {
  Bench bench;
  bench.apply(ps(0), WireState{bench.wire_into(kU1), false});
  bench.apply(ps(0), WireState{bench.wire_out_of(kU0), false});  // the other end's business
  for (int64_t i = 0; i < 100; ++i) {
    const FabricTime at = FabricTime::from_us(100 * i);
    bench.apply(at, WireState{bench.wire_into(kU0), false});
    bench.arrive(kU0, at, kToH1);
    bench.apply(at + FabricTime::from_us(50), WireState{bench.wire_into(kU0), true});
    bench.arrive(kU0, at + FabricTime::from_us(99), kToH1);
  }
  bench.run(FabricTime::from_ms(20));
  CHECK(bench.notes.sent.size() == 100);
  CHECK(bench.counters(kU0).dropped(DropCause::kWireDown) == 100);
}

TEST_CASE("a port that loses its carrier drops what waits, finishes what it sends, takes nothing") {
  Bench bench;
  for (int i = 0; i < 3; ++i) bench.arrive(kU0, ps(1'000'000), kToH1);
  bench.arrive(kU0, ps(1'000'000), {.dscp = kDscpControl, .size = 128});
  const PortRef d1{bench.self, kD1};
  bench.apply(ps(1'800'000), PortCarrier{d1, false});
  bench.arrive(kU0, ps(1'500'000), kToH1);  // reaches the port at 2.2 us: no carrier
  bench.apply(ps(3'000'000), PortCarrier{d1, true});
  bench.arrive(kU0, ps(2'300'000), kToH1);  // reaches the port as the carrier comes back
  bench.run();
  REQUIRE(bench.notes.sent.size() == 2);
  CHECK(bench.notes.sent[0].start == ps(1'700'000));
  CHECK(bench.notes.sent[0].end == ps(1'700'000 + kFrameTime));
  CHECK(bench.notes.sent[1].start == ps(3'000'000));

  const std::vector<SeenPacket> drops = bench.notes.drops();
  REQUIRE(drops.size() == 4);
  const QueueClass queues[] = {QueueClass::kControl, QueueClass::kData, QueueClass::kData,
                               QueueClass::kNone};
  for (size_t i = 0; i < 4; ++i) {
    CHECK(drops[i].cause == DropCause::kPortDown);
    CHECK(drops[i].direction == Direction::kEgress);
    CHECK(drops[i].port == kD1);
    CHECK(drops[i].queue == queues[i]);
    CHECK(drops[i].t == ps(i < 3 ? 1'800'000 : 2'200'000));
  }
  CHECK(bench.counters(kD1).dropped(DropCause::kPortDown) == 4);
  CHECK(bench.counters(kD1).data_depth == Bytes{0});
  CHECK(bench.counters(kD1).control_depth == Bytes{0});
  CHECK(bench.notes.events ==
        std::vector<SeenEvent>{{ps(1'800'000), "port_down", kD1}, {ps(3'000'000), "port_up", kD1}});
}

TEST_CASE(
    "a carrier that flaps while a frame is being sent does not let a second one overtake it") {
  Bench bench;
  const PortRef d1{bench.self, kD1};
  bench.arrive(kU0, ps(1'000'000), kToH1);
  bench.apply(ps(1'750'000), PortCarrier{d1, false});
  bench.apply(ps(1'760'000), PortCarrier{d1, true});
  bench.arrive(kU0, ps(1'100'000), kToH1);
  bench.run();
  REQUIRE(bench.notes.sent.size() == 2);
  CHECK(bench.notes.sent[1].start == ps(1'700'000 + kFrameTime));
}

TEST_CASE("a lossy wire takes frames at their start, they still occupy it, zero heals it") {
  Bench bench;
  bench.apply(ps(0), random_loss(bench.wire_out_of(kD1), {Probability::kOne}));
  bench.apply(ps(0),
              random_loss(bench.wire_into(kU0), {Probability::kOne}));  // the sender's business
  bench.arrive(kU0, ps(1'000'000), kToH1);
  bench.arrive(kU0, ps(1'000'000), kToH1);
  bench.apply(ps(1'900'000), random_loss(bench.wire_out_of(kD1), {0}));
  bench.run();
  REQUIRE(bench.notes.sent.size() == 2);
  CHECK(bench.notes.sent[0].lost == DropCause::kWireLoss);
  CHECK(bench.notes.sent[1].lost == DropCause::kNone);
  CHECK(bench.notes.sent[1].start == ps(1'700'000 + kFrameTime));
  CHECK(bench.counters(kD1).tx_lost == 1);
  CHECK(bench.notes.count(PacketEvent::kPassed, Direction::kEgress) == 2);
}

TEST_CASE("an effect on somebody else's wire or port, or on none at all, changes nothing") {
  Bench bench("p0.t0-1");
  const NodeId other = bench.topology.find_node("p1.t0-0").value();
  // The far end of u0 is port 1 of its T1; port 1 here is another one.
  REQUIRE(bench.topology.wire(bench.wire_into(kU0)).from.port == kD1);
  bench.apply(ps(0), random_loss(bench.wire_into(kU0), {Probability::kOne}));
  bench.apply(ps(0), PortCarrier{{other, kD1}, false});
  bench.apply(ps(0), PortCarrier{{bench.self, PortId{99}}, false});
  bench.apply(ps(0), WireState{WireId{1'000'000}, false});
  bench.apply(ps(0), random_loss(WireId{}, {Probability::kOne}));
  bench.apply(ps(0), WireState{bench.topology.port({other, kU0}).in, false});
  bench.arrive(kU0, ps(1'000'000), {.carrier = "5f00:0:2001:e001::"});
  bench.run();
  REQUIRE(bench.notes.sent.size() == 1);
  CHECK(bench.notes.sent[0].lost == DropCause::kNone);
  CHECK(bench.notes.events.empty());
}

TEST_CASE("a short outage in mid-flight still cuts when the next one begins before it is judged") {
  Bench bench;
  const WireId wire = bench.wire_into(kU0);
  bench.arrive(kU0, ps(2'000'000), kToH1);
  bench.apply(ps(1'500'000), WireState{wire, false});
  bench.apply(ps(1'500'001), WireState{wire, true});
  bench.apply(ps(2'000'001), WireState{wire, false});
  bench.run();
  CHECK(bench.notes.sent.empty());
  CHECK(bench.counters(kU0).dropped(DropCause::kWireDown) == 1);
}
