#include "switchd/switch_node.h"

#include <doctest/doctest.h>

#include "fixture.h"

using namespace mrclab;
using namespace mrclab::switchd;
using namespace mrclab::switchd::testing;

namespace {

const FrameText kToUplink0{.carrier = "5f00:0:2000:1000:2001:e000::"};

}  // namespace

TEST_CASE(
    "a burst to one port leaves back to back, the first one pipeline latency after arriving") {
  Bench bench;
  bench.arrive(kU1, ps(1'000'000), kToH1);
  bench.arrive(kD0, ps(1'000'000), kToH1);
  bench.arrive(kU0, ps(1'000'000), kToH1);
  CHECK(bench.node.next_event() == ps(1'700'000));
  bench.run();
  REQUIRE(bench.notes.sent.size() == 3);
  const int64_t starts[] = {1'700'000, 2'040'000, 2'380'000};
  for (size_t i = 0; i < 3; ++i) {
    const Sent& sent = bench.notes.sent[i];
    CHECK(sent.port == kD1);
    CHECK(sent.start == ps(starts[i]));
    CHECK(sent.end == ps(starts[i] + kFrameTime));
    CHECK(sent.flight == kPropagation);
    CHECK(sent.lost == DropCause::kNone);
  }
  CHECK(bench.node.next_event() == FabricTime::never());
}

TEST_CASE("two ports send at the same time without waiting for each other") {
  Bench bench;
  bench.arrive(kU0, ps(1'000'000), kToH1);
  bench.arrive(kD1, ps(1'000'000), kToUplink0);
  bench.run();
  REQUIRE(bench.notes.sent.size() == 2);
  CHECK(bench.notes.sent[0].start == ps(1'700'000));
  CHECK(bench.notes.sent[1].start == ps(1'700'000));
}

TEST_CASE("records carry when the last bit came and when the last bit leaves") {
  Bench bench;
  bench.arrive(kU0, ps(1'000'000), kToH1);
  bench.run();
  REQUIRE(bench.notes.packets.size() == 2);
  const SeenPacket& in = bench.notes.packets[0];
  CHECK(in.t == ps(1'000'000));
  CHECK(in.port == kU0);
  CHECK(in.direction == Direction::kIngress);
  CHECK(in.event == PacketEvent::kPassed);
  CHECK(in.bytes == bytes_of(kToH1));
  const SeenPacket& out = bench.notes.packets[1];
  CHECK(out.t == ps(1'700'000 + kFrameTime));
  CHECK(out.port == kD1);
  CHECK(out.direction == Direction::kEgress);
  CHECK(out.event == PacketEvent::kPassed);
  CHECK(out.queue == QueueClass::kData);
  CHECK(out.bytes == bench.notes.sent[0].bytes);
}

TEST_CASE("events up to the committed time are processed, later ones wait") {
  Bench bench;
  bench.arrive(kU0, ps(1'000'000), kToH1);
  bench.run(ps(1'699'999));
  CHECK(bench.notes.packets.empty());
  bench.run(ps(1'700'000));
  CHECK(bench.notes.packets.size() == 2);
  CHECK(bench.node.next_event() == FabricTime::never());
}

TEST_CASE("the end of a transmission is an event only if something waits for it") {
  Bench bench;
  bench.arrive(kU0, ps(1'000'000), kToH1);
  bench.run(ps(1'700'001));
  CHECK(bench.node.next_event() == FabricTime::never());
  bench.arrive(kU1, ps(1'000'002), kToH1);
  bench.arrive(kU0, ps(1'000'003), kToH1);
  bench.run(ps(1'700'003));
  REQUIRE(bench.notes.sent.size() == 1);
  CHECK(bench.node.next_event() == ps(1'700'000 + kFrameTime));
  bench.run(ps(1'700'000 + 3 * kFrameTime));
  REQUIRE(bench.notes.sent.size() == 3);
  CHECK(bench.notes.sent[1].start == ps(1'700'000 + kFrameTime));
  CHECK(bench.notes.sent[2].start == ps(1'700'000 + 2 * kFrameTime));
  CHECK(bench.node.next_event() == FabricTime::never());
}

TEST_CASE("a frame that comes out at the instant at which a transmission ends starts then") {
  Bench bench;
  bench.arrive(kU0, ps(1'000'000), kToH1);
  bench.arrive(kU1, ps(1'000'000 + kFrameTime), kToH1);
  bench.run(ps(1'700'000 + kFrameTime));
  REQUIRE(bench.notes.sent.size() == 2);
  CHECK(bench.notes.sent[1].start == ps(1'700'000 + kFrameTime));
}

TEST_CASE("a late frame is processed at the committed time, and time does not run backwards") {
  Bench bench;
  bench.run(ps(5'000'000));
  bench.arrive(kU0, ps(1'000'000), kToH1);
  CHECK(bench.node.next_event() == ps(5'000'000));
  bench.run(ps(5'000'000));
  REQUIRE(bench.notes.sent.size() == 1);
  CHECK(bench.notes.sent[0].start == ps(5'000'000));
  CHECK(bench.notes.packets[0].t == ps(4'300'000));
}

TEST_CASE("a uSID chain crosses T0, T1, T0 with one uSID and one hop consumed at each") {
  const Topology fabric = bench_fabric();
  const Ipv6Address carrier = make_carrier(fabric, 0, 3, Path{0, 1});
  CHECK(carrier == address("5f00:0:2000:1001:2001:e001::"));
  std::vector<uint8_t> frame = bytes_of({.size = 4226});
  std::copy(carrier.begin(), carrier.end(), frame.begin() + 38);
  const char* const switches[] = {"p0.t0-0", "p0.t1-1", "p0.t0-1"};
  const char* const after[] = {"5f00:0:1001:2001:e001::", "5f00:0:2001:e001::", "5f00:0:e001::"};
  FabricTime arrival = ps(2'000'000);
  PortRef at = fabric.port({fabric.host(0), PortId{0}}).peer;
  for (size_t hop = 0; hop < 3; ++hop) {
    INFO(switches[hop]);
    Bench bench(switches[hop]);
    REQUIRE(at.node == bench.self);
    bench.arrive_bytes(at.port, arrival, frame);
    bench.run();
    REQUIRE(bench.notes.sent.size() == 1);
    const Sent& sent = bench.notes.sent[0];
    const Ipv6Address expected = address(after[hop]);
    CHECK(std::equal(expected.begin(), expected.end(), sent.bytes.begin() + 38));
    CHECK(sent.bytes[21] == 63 - hop);
    frame = sent.bytes;
    arrival = sent.end + sent.flight;
    at = fabric.port({at.node, sent.port}).peer;
  }
  CHECK(at == PortRef{fabric.host(3), PortId{0}});
  CHECK(arrival == ps(2'000'000 + 3 * (700'000 + kFrameTime + 500'000)));
}

TEST_CASE("what the pipeline refuses is recorded after its arrival and counted by cause") {
  Bench bench;
  std::vector<uint8_t> arp = bytes_of({.size = 60});
  arp[12] = 0x08, arp[13] = 0x06;
  std::vector<uint8_t> broken = bytes_of({.size = 100});
  broken.resize(90);
  bench.arrive(kU0, ps(1'000'000), {.carrier = "5f00:0:2000:1007::"});
  bench.arrive(kU0, ps(2'000'000), {.carrier = "5f00:0:2000::"});
  bench.arrive(kU0, ps(3'000'000), {.carrier = "fd01::1"});
  bench.arrive(kU0, ps(4'000'000), {.hop_limit = 1});
  bench.arrive_bytes(kU0, ps(5'000'000), arp);
  bench.arrive_bytes(kU0, ps(6'000'000), broken);
  bench.run();
  const DropCause causes[] = {DropCause::kUnknownUsid,    DropCause::kEndOfCarrier,
                              DropCause::kForeignCarrier, DropCause::kHopLimit,
                              DropCause::kNotIpv6,        DropCause::kMalformed};
  CHECK(bench.notes.sent.empty());
  REQUIRE(bench.notes.packets.size() == 12);
  for (size_t i = 0; i < 6; ++i) {
    INFO(name_of(causes[i]));
    const FabricTime arrival = ps(static_cast<int64_t>(i + 1) * 1'000'000);
    CHECK(bench.notes.packets[2 * i].event == PacketEvent::kPassed);
    CHECK(bench.notes.packets[2 * i].t == arrival);
    const SeenPacket& drop = bench.notes.packets[2 * i + 1];
    CHECK(drop.event == PacketEvent::kDropped);
    CHECK(drop.direction == Direction::kIngress);
    CHECK(drop.port == kU0);
    CHECK(drop.cause == causes[i]);
    CHECK(drop.t == arrival + kLatency);
    CHECK(bench.counters(kU0).dropped(causes[i]) == 1);
  }
  CHECK(bench.counters(kU0).rx == 6);
}

TEST_CASE("a foreign frame is forwarded like any other") {
  Bench bench;
  Arrival arrival;
  arrival.frame = bench.pool.copy(bytes_of({.carrier = "5f00:0:2000:f001::", .size = 118}));
  arrival.start = arrival.arrival = ps(1'000'000);
  arrival.foreign = true;
  bench.node.receive(kD0, std::move(arrival));
  bench.run();
  REQUIRE(bench.notes.sent.size() == 1);
  CHECK(bench.notes.sent[0].port == kD1);
  CHECK(bench.notes.packets[1].queue == QueueClass::kData);
}

TEST_CASE("a frame that the wire lost, or that nobody has the bytes of, is recorded and no more") {
  Bench bench;
  Arrival lost;
  lost.frame = bench.pool.copy(bytes_of({.size = 128}));
  lost.arrival = ps(1'000'000);
  lost.lost = DropCause::kWireLoss;
  bench.node.receive(kU0, std::move(lost));
  Arrival unknown;
  unknown.arrival = ps(2'000'000);
  unknown.lost = DropCause::kWireLoss;
  bench.node.receive(kU0, std::move(unknown));
  Arrival empty;
  empty.arrival = ps(3'000'000);
  bench.node.receive(kU0, std::move(empty));
  bench.run();
  REQUIRE(bench.notes.packets.size() == 3);
  CHECK(bench.notes.packets[0].event == PacketEvent::kDropped);
  CHECK(bench.notes.packets[0].t == ps(1'000'000));
  CHECK(bench.notes.packets[0].bytes.size() == 128);
  CHECK(bench.notes.packets[1].cause == DropCause::kWireLoss);
  CHECK(bench.notes.packets[1].bytes.empty());
  CHECK(bench.notes.packets[2].cause == DropCause::kNoBuffer);
  CHECK(bench.notes.sent.empty());
  CHECK(bench.counters(kU0).rx == 0);
  CHECK(bench.counters(kU0).arrivals_lost == 3);
}

TEST_CASE("incast: the last hop trims over its threshold with its own DSCP, uplinks with theirs") {
  Topology fabric = bench_fabric();
  // Each port has the thresholds of its own link: with the other's nothing would be trimmed.
  fabric.queues = {true,    true,     {4'000}, {16'000}, false, {60'000}, {30'000}, {4'000},
                   {4'000}, {60'000}, {},      {},       {},    {},       {}};
  fabric.fabric_queues = fabric.queues;
  fabric.fabric_queues.trim_threshold = {20'000};
  fabric.fabric_queues.trim_threshold_last_hop = {60'000};
  for (const bool last_hop : {true, false}) {
    Bench bench("p0.t0-0", fabric);
    FrameText text = last_hop ? kToH1 : kToUplink0;
    text.dscp = kDscpTrimmable;
    for (int64_t i = 0; i < 12; ++i) {
      for (const PortId port : {kD0, kU1}) bench.arrive(port, ps(1'000'000 + i * kFrameTime), text);
    }
    bench.run();
    const PortId egress = last_hop ? kD1 : kU0;
    CHECK(bench.counters(egress).trimmed > 0);
    CHECK(bench.counters(egress).ecn_marked == (last_hop ? 0 : bench.counters(kU0).ecn_marked));
    CHECK((bench.counters(egress).ecn_marked > 0) == !last_hop);
    CHECK(bench.counters(egress).data_depth_max <= Bytes{last_hop ? 30'000u : 20'000u});
    size_t trimmed = 0;
    for (const SeenPacket& packet : bench.notes.packets) {
      if (packet.event != PacketEvent::kTrimmed) continue;
      ++trimmed;
      CHECK(packet.direction == Direction::kEgress);
      CHECK(packet.queue == QueueClass::kTrimmed);
      CHECK(packet.bytes.size() == 128);
      const int dscp = (packet.bytes[14] & 0xF) << 2 | packet.bytes[15] >> 6;
      CHECK(dscp == (last_hop ? kDscpTrimmedLastHop : kDscpTrimmed));
    }
    CHECK(trimmed == bench.counters(egress).trimmed);
    CHECK(bench.notes.sent.size() == 24);
  }
}

TEST_CASE(
    "an already trimmed frame passes a congested port in the queue of its class, not cut again") {
  Bench bench;
  for (int i = 0; i < 3; ++i) bench.arrive(kU0, ps(1'000'000), kToH1);
  bench.arrive(kU1, ps(1'000'000), {.dscp = kDscpTrimmed, .size = 128});
  bench.run();
  REQUIRE(bench.notes.sent.size() == 4);
  CHECK(bench.notes.sent[1].bytes.size() == 128);  // overtakes the two that wait
  CHECK(bench.notes.count(PacketEvent::kTrimmed, Direction::kEgress) == 0);
  CHECK(bench.counters(kD1).trimmed == 0);
}

TEST_CASE("counters have names, port by port and in total, and drops only where they happened") {
  Bench bench;
  bench.arrive(kU0, ps(1'000'000), kToH1);
  bench.arrive(kU1, ps(1'000'000), {.carrier = "5f00:0:2000::", .size = 100});
  bench.run();
  const NamedCounters all = bench.node.named_counters();
  const auto value = [&](const std::string& name) -> int64_t {
    for (const auto& [key, number] : all) {
      if (key == name) return static_cast<int64_t>(number);
    }
    return -1;
  };
  CHECK(value("total.rx") == 2);
  CHECK(value("total.tx") == 1);
  CHECK(value("total.tx_bytes") == 4250);
  CHECK(value("u0.rx_bytes") == 4250);
  CHECK(value("d1.tx") == 1);
  CHECK(value("d1.data_depth_max_bytes") == 4250);
  CHECK(value("u1.drop.end_of_carrier") == 1);
  CHECK(value("total.drop.end_of_carrier") == 1);
  CHECK(value("u0.drop.end_of_carrier") == -1);
  CHECK(name_of(static_cast<DropCause>(kDropCauses)) == "unknown");  // no cause is left out
}
