#include "analysis/history/packet_joiner.h"
#include "analysis/history/sighting_reader.h"
#include "fabric/topology/build_topology.h"

#include <doctest/doctest.h>

#include <map>

#include "analysis/capture/open_capture.h"
#include "tests/support/fabrics.h"
#include "tests/support/synthetic_run.h"

namespace mrclab::analysis {
namespace {

using test::SyntheticRun;

/// 2 planes x (2 T0 + 2 T1), 4 hosts: h0, h1 on T0 0; h2, h3 on T0 1.
Topology fabric() { return build_topology(test::shape_of("quad", 2, 2, 2, 2)); }

PacketHistory history_of(const Topology& topology, SyntheticRun& run) {
  SightingReader frames(topology);
  const auto reader = capture_in_memory(run.writer().bytes());
  frames.add(*reader);
  return join_sightings(topology, frames.take());
}

SyntheticRun::Sent packet(uint32_t psn, Path path, FabricTime start) {
  SyntheticRun::Sent s;
  s.source = 0;
  s.destination = 2;
  s.psn = psn;
  s.path = path;
  s.start = start;
  return s;
}

constexpr Path kA{0, 0}, kB{1, 1};
const FabricTime kStart = FabricTime::from_us(10);

TEST_CASE("a delivered packet has a start, a path, an arrival and its payload") {
  const Topology topology = fabric();
  SyntheticRun run(topology);
  run.delivered(packet(7, kA, kStart));
  const PacketHistory h = history_of(topology, run);
  REQUIRE(h.packets().size() == 1);
  REQUIRE(h.attempts().size() == 1);
  const Attempt& t = h.attempts()[0];
  CHECK(t.fate == Fate::kDelivered);
  // Captures have nanoseconds.
  CHECK(t.start.ps() == doctest::Approx(static_cast<double>(kStart.ps())).epsilon(1e-4));
  CHECK(path_of(t.ev) == kA);
  CHECK(topology.port_name(t.where) == "h2:p0");
  CHECK(h.packets()[0].payload == SyntheticRun::kPayload);
  REQUIRE(h.deliveries().size() == 1);
  CHECK(h.deliveries()[0].plane == 0);
  CHECK(h.flows()[0].source == 0);
  CHECK(h.flows()[0].destination == 2);
}

TEST_CASE("hosts whose addresses end in the same byte are told apart, whatever was read before") {
  const Topology topology = build_topology(test::shape_of("many", 2, 5, 2, 64));
  SyntheticRun run(topology);
  FabricTime start = kStart;
  uint32_t psn = 0;
  for (int round = 0; round < 2; ++round) {
    for (const uint32_t source : {1u, 257u, 1u}) {
      SyntheticRun::Sent sent = packet(psn++, kA, start);
      sent.source = source;
      sent.destination = 258 - source;
      run.delivered(sent);
      start += FabricTime::from_us(5);
    }
  }
  const PacketHistory h = history_of(topology, run);
  std::map<uint32_t, uint32_t> packets;
  for (const Packet& sent : h.packets()) {
    CHECK(h.flows()[sent.flow].destination == 258 - h.flows()[sent.flow].source);
    ++packets[h.flows()[sent.flow].source];
  }
  CHECK(packets == std::map<uint32_t, uint32_t>{{1, 4}, {257, 2}});
}

TEST_CASE("a drop record names cause and place, also when only 128 bytes of the frame are left") {
  const Topology topology = fabric();
  SyntheticRun run(topology);
  run.lost(packet(7, kA, kStart), "p0.t0-1:d0", "wire_loss");
  const PacketHistory h = history_of(topology, run);
  REQUIRE(h.attempts().size() == 1);
  CHECK(h.attempts()[0].fate == Fate::kDropped);
  CHECK(h.attempts()[0].cause == DropCause::kWireLoss);
  CHECK(topology.port_name(h.attempts()[0].where) == "p0.t0-1:d0");
  CHECK(h.counters().dropped == 1);
  CHECK(h.deliveries().empty());
}

TEST_CASE("attempts of one packet are told apart, also on the same path") {
  const Topology topology = fabric();
  SyntheticRun run(topology);
  auto p = packet(7, kA, kStart);
  run.lost(p, "p0.t0-0:d0", "wire_down");
  p.retransmission = true;
  p.start = FabricTime::from_us(30);
  run.trimmed(p);
  p.start = FabricTime::from_us(50);
  run.delivered(p);
  const PacketHistory h = history_of(topology, run);
  REQUIRE(h.packets().size() == 1);
  CHECK(h.packets()[0].attempts == 3);
  REQUIRE(h.attempts().size() == 3);
  CHECK(h.attempts()[0].fate == Fate::kDropped);
  CHECK(h.attempts()[1].fate == Fate::kTrimmed);
  CHECK(h.attempts()[2].fate == Fate::kDelivered);
  CHECK(h.counters().retransmissions == 2);
  CHECK(h.counters().trimmed == 1);
  CHECK(h.counters().rtx_bit_wrong == 0);
}

TEST_CASE("what is a retransmission is read from the captures, not from the packet's own bit") {
  const Topology topology = fabric();
  SyntheticRun run(topology);
  auto p = packet(7, kA, kStart);
  run.lost(p, "p0.t0-0:d0", "wire_loss");
  p.start = FabricTime::from_us(30);
  run.delivered(p);  // claims to be a first transmission
  const PacketHistory h = history_of(topology, run);
  CHECK(h.counters().retransmissions == 1);
  CHECK(h.counters().rtx_bit_wrong == 1);
}

TEST_CASE("a packet that arrives twice is delivered once") {
  const Topology topology = fabric();
  SyntheticRun run(topology);
  auto p = packet(7, kA, kStart);
  run.delivered(p);
  p.path = kB;
  p.retransmission = true;
  p.start = FabricTime::from_us(30);
  run.delivered(p);
  const PacketHistory h = history_of(topology, run);
  CHECK(h.deliveries().size() == 1);
  CHECK(h.deliveries()[0].plane == 0);
  CHECK(h.counters().duplicate_deliveries == 1);
}

TEST_CASE("of a frame that a wire carries twice the first that arrives whole delivers the packet") {
  const Topology topology = fabric();
  SyntheticRun run(topology);
  auto p = packet(7, kA, kStart);
  run.trimmed(p);
  run.arrives_again(p, FabricTime::from_ns(400));  // its copy met a shorter queue
  p.retransmission = true;
  p.start = FabricTime::from_us(30);
  run.delivered(p);
  const PacketHistory h = history_of(topology, run);
  REQUIRE(h.packets().size() == 1);
  CHECK(h.packets()[0].delivered < FabricTime::from_us(20));
  REQUIRE(h.deliveries().size() == 1);
  CHECK(h.deliveries()[0].t == h.packets()[0].delivered);
  REQUIRE(h.attempts().size() == 2);
  CHECK(h.attempts()[0].fate == Fate::kDelivered);
  CHECK(h.attempts()[0].trimmed);
  CHECK(h.counters().trimmed == 1);
  CHECK(h.counters().copies == 1);
  CHECK(h.counters().duplicate_deliveries == 1);
}

TEST_CASE("a copy arrives for its own attempt, also once the packet was sent again on its path") {
  const Topology topology = fabric();
  SyntheticRun run(topology);
  auto p = packet(7, kA, kStart);
  p.sent_at = 100;
  run.trimmed(p);
  auto again = p;
  again.retransmission = true;
  again.start = kStart + run.flight() + FabricTime::from_us(1);
  again.sent_at = 140;
  run.lost(again, "p0.t0-1:d0", "wire_loss");
  run.arrives_again(p, again.start - kStart + FabricTime::from_ns(100));  // before the loss
  again.start += FabricTime::from_us(30);
  again.sent_at = 400;
  run.delivered(again);
  const PacketHistory h = history_of(topology, run);
  REQUIRE(h.attempts().size() == 3);
  CHECK(h.attempts()[0].fate == Fate::kDelivered);
  CHECK(h.attempts()[1].fate == Fate::kDropped);
  CHECK(h.attempts()[2].fate == Fate::kDelivered);
  CHECK(h.packets()[0].delivered == h.attempts()[0].ended);
}

TEST_CASE("of two frames of an attempt the NIC refuses one: the other still delivers the packet") {
  const Topology topology = fabric();
  SyntheticRun run(topology);
  const auto p = packet(7, kA, kStart);
  const FabricTime arrived = [&] {
    run.delivered(p);
    run.arrives_again(p, FabricTime::from_ns(400));
    return kStart + run.flight() + FabricTime::from_us(1);
  }();
  run.drop("h2:p0", test::kInbound, arrived + FabricTime::from_us(1), run.data_frame(p),
           "bad_icrc");
  SUBCASE("one") {
    const PacketHistory h = history_of(topology, run);
    CHECK(h.deliveries().size() == 1);
    CHECK(h.attempts()[0].fate == Fate::kDelivered);
  }
  SUBCASE("both") {
    run.drop("h2:p0", test::kInbound, arrived + FabricTime::from_us(2), run.data_frame(p),
             "bad_icrc");
    const PacketHistory h = history_of(topology, run);
    CHECK(h.deliveries().empty());
    CHECK(h.attempts()[0].fate == Fate::kDropped);
  }
}

TEST_CASE("records are joined in order of time, whatever their order in the file") {
  const Topology topology = fabric();
  SyntheticRun run(topology);
  auto late = packet(7, kB, FabricTime::from_us(30));
  late.retransmission = true;
  run.delivered(late);
  run.lost(packet(7, kA, kStart), "p0.t0-0:d0", "wire_loss");
  const PacketHistory h = history_of(topology, run);
  REQUIRE(h.attempts().size() == 2);
  CHECK(path_of(h.attempts()[0].ev) == kA);
  CHECK(h.counters().rtx_bit_wrong == 0);
}

TEST_CASE("a packet given to a port without carrier is an attempt that never left") {
  const Topology topology = fabric();
  SyntheticRun run(topology);
  run.refused(packet(7, kA, kStart));
  const PacketHistory h = history_of(topology, run);
  REQUIRE(h.attempts().size() == 1);
  CHECK(h.attempts()[0].fate == Fate::kDropped);
  CHECK(h.attempts()[0].cause == DropCause::kPortDown);
  CHECK(h.attempts()[0].start == kStart);
}

TEST_CASE("a packet that the receiving NIC refuses after its arrival was not delivered") {
  const Topology topology = fabric();
  SyntheticRun run(topology);
  const auto p = packet(7, kA, kStart);
  run.delivered(p);
  run.drop("h2:p0", test::kInbound, FabricTime::from_us(40), run.data_frame(p), "no_receiver");
  const PacketHistory h = history_of(topology, run);
  CHECK(h.deliveries().empty());
  CHECK(h.attempts()[0].cause == DropCause::kNoReceiver);
}

/// Attempts of RC look all the same.
SyntheticRun::Sent rc_packet(uint32_t psn, FabricTime start) {
  SyntheticRun::Sent sent = packet(psn, Path{0, 3, Chosen::kByFlow}, start);
  sent.payload = 1024;
  return sent;
}

TEST_CASE(
    "a NIC refuses the attempt of RC that it has looked at, not one like it that is under way") {
  const Topology topology = fabric();
  SyntheticRun run(topology);
  const auto first = rc_packet(7, kStart), again = rc_packet(7, kStart + FabricTime::from_us(1));
  run.delivered(first);
  run.delivered(again);
  const FabricTime sending =
      serialization_time(wire_length({run.data_frame(first).size()}), topology.host_rate);
  const FabricTime arrival = first.start + sending + run.flight();
  REQUIRE(again.start + sending < arrival + topology.host_latency);
  run.drop("h2:p0", test::kInbound, arrival + topology.host_latency, run.data_frame(first),
           "out_of_order");
  const PacketHistory h = history_of(topology, run);
  REQUIRE(h.attempts().size() == 2);
  CHECK(h.attempts()[0].refused());
  CHECK(h.attempts()[1].fate == Fate::kDelivered);
  CHECK(h.counters().copies == 0);
  CHECK(h.counters().dropped == 0);
  CHECK(h.counters().refused == 1);
  REQUIRE(h.deliveries().size() == 1);
  CHECK(h.deliveries()[0].t == h.attempts()[1].ended);
}

TEST_CASE(
    "what arrived of RC before the NIC refused the attempt ahead of it is what was delivered") {
  const Topology topology = fabric();
  const FabricTime between = topology.host_latency / 2;
  for (const int refusals : {1, 2}) {
    SyntheticRun run(topology);
    const auto first = rc_packet(7, kStart), again = rc_packet(7, kStart + between);
    run.delivered(first);
    run.delivered(again);
    const FabricTime sending =
        serialization_time(wire_length({run.data_frame(first).size()}), topology.host_rate);
    REQUIRE(sending < between);
    for (int i = 0; i < refusals; ++i) {
      const auto& sent = i == 0 ? first : again;
      run.drop("h2:p0", test::kInbound, sent.start + sending + run.flight() + topology.host_latency,
               run.data_frame(sent), "out_of_order");
    }
    const PacketHistory h = history_of(topology, run);
    REQUIRE(h.attempts().size() == 2);
    CHECK(h.attempts()[0].refused());
    CHECK(h.attempts()[1].refused() == (refusals == 2));
    CHECK(h.counters().refused == static_cast<uint64_t>(refusals));
    CHECK(h.counters().duplicate_deliveries == 0);
    REQUIRE(h.deliveries().size() == static_cast<size_t>(2 - refusals));
    if (refusals == 2) continue;
    CHECK(h.deliveries()[0].t == h.attempts()[1].ended);
    CHECK(h.packets()[h.deliveries()[0].packet].delivered == h.attempts()[1].ended);
  }
}

TEST_CASE("RC that goes back twice at once sends again; a new packet that leaves twice is a copy") {
  const Topology topology = fabric();
  const FabricTime frame = serialization_time(
      wire_length({SyntheticRun(topology).data_frame(rc_packet(7, kStart)).size()}),
      topology.host_rate);
  for (const bool before : {true, false}) {
    SyntheticRun run(topology);
    if (before) run.lost(rc_packet(7, kStart), "p0.t0-1:d0", "queue_full");
    const FabricTime again = kStart + FabricTime::from_us(50);
    run.delivered(rc_packet(7, again));
    run.delivered(rc_packet(7, again + frame));
    const PacketHistory h = history_of(topology, run);
    CHECK(h.attempts().size() == (before ? 3 : 1));
    CHECK((h.counters().copies == 0) == before);
  }
}

TEST_CASE("a full queue turns away the newest attempt of RC that can have come to it") {
  const Topology topology = fabric();
  SyntheticRun run(topology);
  const auto at = [](int64_t us) { return kStart + FabricTime::from_us(us); };
  const auto waits = rc_packet(7, at(0)), last = rc_packet(7, at(20)),
             young = rc_packet(7, at(25) - FabricTime::from_ns(300));
  run.leaves(waits);
  run.leaves(last);
  run.leaves(young);
  run.drop("p0.t0-0:u0", test::kOutbound, at(25), run.data_frame(last), "queue_full");
  const auto frame = run.data_frame(waits);
  run.record("h2:p0", test::kInbound, at(40), frame, frame.size());
  const PacketHistory h = history_of(topology, run);
  REQUIRE(h.attempts().size() == 3);
  CHECK(h.attempts()[0].fate == Fate::kDelivered);
  CHECK(h.attempts()[1].congested());
  CHECK(h.attempts()[2].fate == Fate::kInFlight);
}

TEST_CASE("a switch that trims a packet is found when its ports are captured") {
  const Topology topology = fabric();
  SyntheticRun run(topology);
  const auto p = packet(7, kA, kStart);
  run.trimmed(p);
  run.record("p0.t0-1:d0", test::kOutbound, FabricTime::from_us(12), run.trimmed_frame(p), 128,
             "trimmed");
  run.record("p0.t0-1:u0", test::kInbound, FabricTime::from_us(11), run.data_frame(p), 4242);
  const PacketHistory h = history_of(topology, run);
  CHECK(topology.port_name(h.attempts()[0].where) == "p0.t0-1:d0");
  CHECK(h.counters().passing == 1);
}

TEST_CASE("SACKs and NACKs are joined to the flow that they answer, among several QPs") {
  const Topology topology = fabric();
  SyntheticRun run(topology);
  std::vector<SyntheticRun::Sent> first, second;
  for (uint32_t i = 0; i < 4; ++i) {
    first.push_back(packet(100 + i, kA, kStart + FabricTime::from_us(i)));
    second.push_back(packet(5000 + i, kB, kStart + FabricTime::from_us(i)));
    second.back().qp = 0x200;
    run.delivered(first.back());
    run.delivered(second.back());
  }
  const FabricTime t = FabricTime::from_us(60);
  run.sack(first[2], 0x900, Psn{100}, 0b10, t, kA);  // 100 in order, 102 beyond a hole
  run.nack(second[1], 0x901, NackReason::kTrimmed, t, kB);
  run.sack(second[3], 0x901, Psn{5003}, 0, t + t, kB);
  const PacketHistory h = history_of(topology, run);
  const auto acknowledged = [&](uint32_t flow, uint32_t psn) {
    for (const Packet& p : h.packets()) {
      if (h.flows()[p.flow].destination_qp == Qpn{flow} && p.psn == Psn{psn}) return p.acknowledged;
    }
    return FabricTime::zero();
  };
  CHECK(acknowledged(0x100, 100) == t);
  CHECK(acknowledged(0x100, 101) == FabricTime::never());
  CHECK(acknowledged(0x100, 102) == t);
  CHECK(acknowledged(0x200, 5001) == t + t);
  CHECK(h.counters().sacks == 2);
  CHECK(h.counters().nacks == 1);
  CHECK(h.counters().acks_without_flow == 0);
  uint32_t nacked = 0;
  for (const Packet& p : h.packets()) nacked += p.nacks;
  CHECK(nacked == 1);
}

TEST_CASE("PSNs that wrap around stay different packets of one flow") {
  const Topology topology = fabric();
  SyntheticRun run(topology);
  for (uint32_t i = 0; i < 6; ++i) {
    run.delivered(packet((0xFF'FFFD + i) & Psn::kMask, kA, kStart + FabricTime::from_us(i)));
  }
  const PacketHistory h = history_of(topology, run);
  CHECK(h.packets().size() == 6);
  CHECK(h.counters().retransmissions == 0);
  CHECK(h.counters().over_limit == 0);
}

TEST_CASE("a PSN outside of any window is counted and costs no memory") {
  const Topology topology = fabric();
  SyntheticRun run(topology);
  run.delivered(packet(5, kA, kStart));
  run.delivered(packet(0x40'0000, kA, FabricTime::from_us(30)));
  const PacketHistory h = history_of(topology, run);
  CHECK(h.packets().size() == 1);
  CHECK(h.counters().over_limit == 2);  // its egress and its arrival
}

TEST_CASE("ordinary traffic, foreign hosts and unknown interfaces are counted, not used") {
  const Topology topology = fabric();
  SyntheticRun run(topology);
  const auto p = packet(7, kA, kStart);
  std::vector<uint8_t> ping = run.data_frame(p);
  ping[kInnerOffset + 6] = 58;  // ICMPv6
  run.record("h2:p0", test::kInbound, kStart, ping, ping.size());
  run.record("h3:p0", test::kInbound, kStart, run.data_frame(p), 4242);  // not its destination
  const uint32_t stranger = run.writer().interface("eth0");
  run.writer().packet(stranger, test::kInbound, 5, run.data_frame(p), 4242);
  const PacketHistory h = history_of(topology, run);
  CHECK(h.packets().empty());
  CHECK(h.counters().not_mrc == 1);
  CHECK(h.counters().unknown_host == 1);
  CHECK(h.counters().unknown_interface == 1);
}

TEST_CASE("an arrival that nobody saw leave is counted and still delivered") {
  const Topology topology = fabric();
  SyntheticRun run(topology);
  const auto p = packet(7, kA, kStart);
  run.record("h2:p0", test::kInbound, kStart, run.data_frame(p), 4242);
  const PacketHistory h = history_of(topology, run);
  CHECK(h.counters().unmatched_arrivals == 1);
  CHECK(h.deliveries().size() == 1);
  CHECK_FALSE(h.attempts()[0].start_seen);
}

TEST_CASE("a frame that a wire carries twice is one attempt, and no retransmission") {
  const Topology topology = fabric();
  SyntheticRun run(topology);
  const auto p = packet(7, kA, kStart);
  run.delivered(p);
  // A copy from the host's own wire, and of the first one another from further on.
  auto copy = p;
  copy.start = p.start + FabricTime::from_ns(345);
  run.delivered(copy);
  run.record("h2:p0", test::kInbound, kStart + FabricTime::from_us(9), run.data_frame(p), 4242);
  const PacketHistory h = history_of(topology, run);
  CHECK(h.attempts().size() == 1);
  CHECK(h.deliveries().size() == 1);
  CHECK(h.counters().copies == 3);
  CHECK(h.counters().duplicate_deliveries == 2);
  CHECK(h.counters().retransmissions == 0);
  CHECK(h.counters().rtx_bit_wrong == 0);
  CHECK(h.counters().unmatched_arrivals == 0);
}

TEST_CASE("among switches that tell nobody of drops, what has not arrived after 16 RTT is lost") {
  FabricShape shape = test::shape_of("quad", 2, 2, 2, 2);
  for (const Forwarding by : {Forwarding::kKernel, Forwarding::kSwitchd}) {
    shape.forwarding = by;
    const Topology topology = build_topology(shape);
    const FabricTime rtt = topology.base_rtt;
    SyntheticRun run(topology);
    run.leaves(packet(7, kA, kStart));
    run.leaves(packet(8, kA, kStart + rtt * 10));
    run.delivered(packet(9, kA, kStart + rtt * 20));
    const PacketHistory h = history_of(topology, run);
    REQUIRE(h.attempts().size() == 3);
    const Attempt &old = h.attempts()[0], &young = h.attempts()[1];
    CHECK(young.fate == Fate::kInFlight);
    CHECK(h.attempts()[2].fate == Fate::kDelivered);
    if (by == Forwarding::kKernel) {
      CHECK(old.fate == Fate::kDropped);
      CHECK(old.cause == DropCause::kNone);
      CHECK(old.ended == old.start);
    } else {
      CHECK(old.fate == Fate::kInFlight);  // ours would have reported that
    }
    CHECK(h.counters().dropped == (by == Forwarding::kKernel ? 1 : 0));
  }
}

}  // namespace
}  // namespace mrclab::analysis
