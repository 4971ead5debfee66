// What a switch does when something is wrong with itself, or with what a wire does to its frames.

#include <doctest/doctest.h>

#include <map>

#include "fixture.h"
#include "tests/support/mrc_frames.h"

using namespace mrclab;
using namespace mrclab::switchd;
using namespace mrclab::switchd::testing;

namespace {

/// One frame at 1 us, one at 20 us: what the second finds is what the heal has left.
void arrive_before_and_after(Bench& bench, const FrameText& text = kToH1) {
  bench.arrive(kU0, ps(1'000'000), text);
  bench.arrive(kU0, ps(20'000'000), text);
}

std::vector<DropCause> causes(const Notebook& notes) {
  std::vector<DropCause> out;
  for (const SeenPacket& drop : notes.drops()) out.push_back(drop.cause);
  return out;
}

/// The frame of a Bench with all of its bits right, one flipped, or elided behind its headers.
Frame frame_of(FramePool& pool, const FrameText& text, bool elided) {
  std::vector<uint8_t> bytes = bytes_of(text);
  const size_t size = bytes.size();
  if (elided) bytes.resize(142);
  Frame frame = pool.copy(bytes);
  frame.set_modelled_size({size});
  return frame;
}

}  // namespace

TEST_CASE("a switch that hangs takes everything in, forwards nothing, and then works again") {
  Bench bench;
  const SwitchState hung{bench.self, SwitchWork::kHung};
  for (int i = 0; i < 3; ++i) bench.arrive(kU0, ps(1'000'000), kToH1);
  bench.arrive(kU0, ps(1'400'000), kToH1);  // in the pipeline when it hangs
  bench.apply(ps(1'800'000), hung);
  bench.arrive(kU0, ps(5'000'000), kToH1);
  bench.apply(ps(10'000'000), SwitchState{bench.self, SwitchWork::kForwarding});
  bench.arrive(kU0, ps(20'000'000), kToH1);
  bench.run();
  REQUIRE(bench.notes.sent.size() == 2);  // what was on its way out, and the one at 20 us
  CHECK(bench.notes.sent[0].end == ps(1'700'000 + kFrameTime));
  CHECK(bench.notes.sent[1].start == ps(20'700'000));
  const std::vector<SeenPacket> drops = bench.notes.drops();
  REQUIRE(drops.size() == 4);
  for (const SeenPacket& drop : drops) CHECK(drop.cause == DropCause::kSwitchHung);
  for (const size_t queued : {0u, 1u}) {
    CHECK(drops[queued].t == ps(1'800'000));
    CHECK(drops[queued].direction == Direction::kEgress);
    CHECK(drops[queued].port == kD1);
  }
  CHECK(drops[2].t == ps(2'100'000));  // one ingress latency after its last bit
  CHECK(drops[2].direction == Direction::kIngress);
  CHECK(drops[3].t == ps(5'700'000));
  CHECK(bench.notes.count(PacketEvent::kPassed, Direction::kIngress) == 6);
  CHECK(bench.notes.events == std::vector<SeenEvent>{{ps(1'800'000), "switch_state", PortId{}},
                                                     {ps(10'000'000), "switch_state", PortId{}}});
}

TEST_CASE(
    "a switch that loses its power loses its queues and its pipeline, whoever is told first") {
  Bench bench;
  for (int i = 0; i < 3; ++i) bench.arrive(kU0, ps(1'000'000), kToH1);
  bench.arrive(kU0, ps(1'400'000), kToH1);
  // Its ports get it first, but what was queued is gone with the power. It is back before the
  // pipeline would have been through.
  bench.apply(ps(1'800'000), PortCarrier{{bench.self, kD1}, false});
  bench.apply(ps(1'800'000), SwitchState{bench.self, SwitchWork::kDown});
  bench.apply(ps(1'900'000), PortCarrier{{bench.self, kD1}, true});
  bench.apply(ps(1'900'000), SwitchState{bench.self, SwitchWork::kForwarding});
  bench.arrive(kU0, ps(2'000'000), kToH1);
  bench.run();
  CHECK(causes(bench.notes) == std::vector(3, DropCause::kSwitchDown));
  REQUIRE(bench.notes.sent.size() == 2);
  CHECK(bench.notes.sent[1].start == ps(2'700'000));
  CHECK(bench.counters(kD1).dropped(DropCause::kSwitchDown) == 2);
  CHECK(bench.counters(kU0).dropped(DropCause::kSwitchDown) == 1);
}

TEST_CASE("a switch that has booted and has no table knows no uSID, not even its own") {
  Bench bench;
  bench.apply(ps(0), SwitchState{bench.self, SwitchWork::kDown});
  bench.apply(ps(500'000), SwitchState{bench.self, SwitchWork::kNoTable});
  bench.arrive(kU0, ps(1'000'000), kToH1);
  bench.arrive(kU0, ps(1'100'000), {.carrier = "2001:db8::"});  // its parser works
  bench.arrive(kU0, ps(1'200'000), {.carrier = "5f00:0:e001::"});
  bench.apply(ps(10'000'000), SwitchState{bench.self, SwitchWork::kForwarding});
  bench.arrive(kU0, ps(20'000'000), kToH1);
  bench.run();
  CHECK(causes(bench.notes) ==
        std::vector{DropCause::kUnknownUsid, DropCause::kForeignCarrier, DropCause::kUnknownUsid});
  CHECK(bench.notes.sent.size() == 1);
}

TEST_CASE("a route that is missing or wrong concerns its own uSID, and comes back as built") {
  const Usid to_h1{0xE001};
  struct Case {
    SwitchRoute route;
    std::vector<DropCause> drops;
    std::vector<PortId> sent;
  };
  const NodeId self = bench_fabric().find_node("p0.t0-0").value();
  const Case cases[] = {
      {{self, to_h1, RouteKind::kMissing, {}}, {DropCause::kUnknownUsid}, {kD1}},
      {{self, to_h1, RouteKind::kWrong, kU1}, {}, {kU1, kD1}},
      {{self, to_h1, RouteKind::kWrong, PortId{9}}, {}, {kD1, kD1}},  // it has no such port
      {{self, {0xE000}, RouteKind::kMissing, {}}, {}, {kD1, kD1}},
      {{NodeId{0}, to_h1, RouteKind::kMissing, {}}, {}, {kD1, kD1}},
  };
  for (const Case& c : cases) {
    Bench bench;
    const size_t routes = bench.node.table().size();
    arrive_before_and_after(bench);
    bench.apply(ps(0), c.route);
    bench.apply(ps(10'000'000), SwitchRoute{c.route.node, c.route.usid, {}, {}});
    bench.run();
    CHECK(causes(bench.notes) == c.drops);
    std::vector<PortId> sent;
    for (const Sent& s : bench.notes.sent) sent.push_back(s.port);
    CHECK(sent == c.sent);
    CHECK(bench.node.table().size() == routes);
  }
  Bench bench;  // a uSID that it never had
  bench.apply(ps(0), SwitchRoute{self, {0x1777}, RouteKind::kWrong, kD0});
  bench.apply(ps(10'000'000), SwitchRoute{self, {0x1777}, {}, {}});
  arrive_before_and_after(bench, {.carrier = "5f00:0:2000:1777::"});
  bench.run();
  CHECK(bench.notes.sent.size() == 1);
  CHECK(causes(bench.notes) == std::vector{DropCause::kUnknownUsid});
}

TEST_CASE("without trimming what is too much is dropped, with less buffer it is too much earlier") {
  struct Case {
    const char* about;
    std::vector<Effect> effects;
    bool trims, drops;
  };
  const NodeId self = bench_fabric().find_node("p0.t0-0").value();
  const Case cases[] = {
      {"as built", {}, true, false},
      {"no trimming", {SwitchTrim{self, true}}, false, true},
      {"trimming again", {SwitchTrim{self, true}, SwitchTrim{self, false}}, true, false},
      {"no buffer", {SwitchBuffer{self, {Probability::kOne}}}, false, true},
      {"buffer again",
       {SwitchBuffer{self, {Probability::kOne}}, SwitchBuffer{self, {}}},
       true,
       false},
      {"somebody else's", {SwitchTrim{NodeId{0}, true}}, true, false},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.about));
    Bench bench;
    for (const Effect& effect : c.effects) bench.apply(ps(0), effect);
    // Three frames at once from both uplinks for 30 frame times: 60 that D1 cannot send in time.
    for (int i = 0; i < 60; ++i) {
      for (const PortId port : {kU0, kU1, kD0}) {
        bench.arrive(port, ps(1'000'000 + i * kFrameTime),
                     {.carrier = "5f00:0:2000:e001::", .dscp = kDscpTrimmable});
      }
    }
    bench.run();
    CHECK((bench.notes.count(PacketEvent::kTrimmed, Direction::kEgress) > 0) == c.trims);
    const PortCounters port = bench.counters(kD1);
    const uint64_t too_much =
        port.dropped(DropCause::kQueueFull) + port.dropped(DropCause::kTrimmedQueueFull);
    CHECK((too_much > 0) == c.drops);
  }
  const QueueProfile built{true, true,  {10}, {40}, false, {50}, {75}, {20},
                           {24}, {100}, {},   {},   {},    {},   {}};
  const QueueProfile quarter = spoilt(built, {.buffer_lost = {750'000'000}});
  CHECK(quarter.ecn_min == Bytes{2});
  CHECK(quarter.trim_threshold == Bytes{12});
  CHECK(quarter.control_limit == Bytes{5});
  CHECK(quarter.trimmed_limit == Bytes{6});
  CHECK(quarter.tail_drop == Bytes{25});
}

TEST_CASE("ECN is off or always on, on the ports that may mark at all") {
  const NodeId self = bench_fabric().find_node("p0.t0-0").value();
  const auto marks = [&](const char* carrier, std::vector<EcnKind> kinds, PortId out) {
    Bench bench;
    for (const EcnKind kind : kinds) bench.apply(ps(0), SwitchEcn{self, kind});
    for (int i = 0; i < 40; ++i) {
      for (const PortId port : {kD0, kD1}) {
        bench.arrive(port, ps(1'000'000 + i * kFrameTime), {.carrier = carrier});
      }
    }
    bench.run();
    return bench.counters(out).ecn_marked;
  };
  const char* const up = "5f00:0:2000:1000:2001:e001::";
  const uint64_t built = marks(up, {}, kU0);
  CHECK(built > 10);
  CHECK(built < 80);
  CHECK(marks(up, {EcnKind::kOff}, kU0) == 0);
  CHECK(marks(up, {EcnKind::kAlways}, kU0) == 80);
  CHECK(marks(up, {EcnKind::kAlways, EcnKind::kAsBuilt}, kU0) == built);
  CHECK(marks("5f00:0:2000:e001::", {EcnKind::kAlways}, kD1) == 0);
}

TEST_CASE(
    "a frame that a wire carries twice is sent twice in a row, both are counted and recorded") {
  Bench bench;
  const WireId out = bench.wire_out_of(kD1);
  bench.apply(ps(0), WireDuplicates{out, {Probability::kOne}});
  bench.arrive(kU0, ps(1'000'000), kToH1);
  bench.arrive(kU0, ps(1'000'000), kToH1);
  bench.apply(ps(10'000'000), WireDuplicates{out, {}});
  bench.arrive(kU0, ps(20'000'000), kToH1);
  bench.run();
  REQUIRE(bench.notes.sent.size() == 5);
  for (size_t i = 0; i < 4; ++i) {
    CHECK(bench.notes.sent[i].start == ps(1'700'000 + static_cast<int64_t>(i) * kFrameTime));
    CHECK(bench.notes.sent[i].bytes == bench.notes.sent[0].bytes);
  }
  CHECK(bench.notes.count(PacketEvent::kPassed, Direction::kEgress) == 5);
  CHECK(bench.counters(kD1).tx == 5);
  CHECK(bench.counters(kD1).tx_copies == 2);
}

TEST_CASE("the second copy of a frame dies with the carrier, or with the switch") {
  for (const bool carrier : {true, false}) {
    CAPTURE(carrier);
    Bench bench;
    bench.apply(ps(0), WireDuplicates{bench.wire_out_of(kD1), {Probability::kOne}});
    bench.arrive(kU0, ps(1'000'000), kToH1);
    const FabricTime at = ps(1'800'000), back = ps(1'900'000);
    if (carrier) {
      bench.apply(at, PortCarrier{{bench.self, kD1}, false});
      bench.apply(back, PortCarrier{{bench.self, kD1}, true});
    } else {
      bench.apply(at, SwitchState{bench.self, SwitchWork::kHung});
      bench.apply(back, SwitchState{bench.self, SwitchWork::kForwarding});
    }
    bench.run();
    CHECK(bench.notes.sent.size() == 1);
    CHECK(bench.notes.drops().empty());  // it was never there
  }
}

TEST_CASE("rate and delay of a wire out of a switch show in its transmissions, until healed") {
  Bench bench;
  const WireId out = bench.wire_out_of(kD1);
  bench.apply(ps(0), WireRate{out, BitRate::from_gbps(25)});
  bench.apply(ps(0), WireDelay{out, ps(3'000), {}, {Probability::kOne}, false});
  bench.apply(ps(10'000'000), WireRate{out, {}});
  bench.apply(ps(10'000'000), WireDelay{out, {}, {}, {}, false});
  arrive_before_and_after(bench);
  bench.run();
  REQUIRE(bench.notes.sent.size() == 2);
  CHECK(bench.notes.sent[0].end == ps(1'700'000 + 4 * kFrameTime));
  CHECK(bench.notes.sent[0].flight == kPropagation + ps(3'000));
  CHECK(bench.notes.sent[1].end == ps(20'700'000 + kFrameTime));
  CHECK(bench.notes.sent[1].flight == kPropagation);
}

TEST_CASE("what an error on the wire spoils, the port that it arrives at drops and counts") {
  for (const bool dark : {false, true}) {
    CAPTURE(dark);
    Bench bench;
    if (dark) bench.apply(ps(0), WireState{bench.wire_into(kU0), false});
    Arrival spoilt;
    spoilt.frame = bench.pool.copy(bytes_of(kToH1));
    spoilt.arrival = ps(1'000'000);
    spoilt.start = ps(100'000);
    spoilt.lost = DropCause::kFrameCheck;
    bench.node.receive(kU0, std::move(spoilt));
    bench.run();
    const DropCause cause = dark ? DropCause::kWireDown : DropCause::kFrameCheck;
    CHECK(causes(bench.notes) == std::vector{cause});
    CHECK(bench.counters(kU0).dropped(cause) == 1);
    CHECK(bench.counters(kU0).arrivals_lost == 1);
  }
}

TEST_CASE(
    "each bit of a frame flips by itself, and the note of a payload that is not there says so") {
  FramePool pool;
  const std::vector<uint8_t> right = bytes_of(kToH1);
  for (uint32_t bit = 0; bit < right.size() * 8; bit += 13) {
    CAPTURE(bit);
    Frame real = frame_of(pool, kToH1, false);
    const bool length_is_right = flip(real, bit);
    CHECK(length_is_right == (bit / 8 != 18 && bit / 8 != 19));
    size_t wrong_bits = 0;
    for (size_t i = 0; i < right.size(); ++i) {
      wrong_bits += static_cast<size_t>(__builtin_popcount(right[i] ^ real.bytes()[i]));
    }
    CHECK(wrong_bits == 1);
    CHECK(((right[bit / 8] ^ real.bytes()[bit / 8]) & 0x80 >> bit % 8) != 0);
    CHECK(real.damage() == 0);
    Frame elided = frame_of(pool, kToH1, true);
    flip(elided, bit);
    CHECK(std::equal(elided.bytes().begin(), elided.bytes().end(), real.bytes().begin()));
    CHECK((elided.damage() != 0 || bit / 8 < 106));  // all behind the masked BTH byte is protected
    flip(elided, bit);
    CHECK(elided.damage() == 0);
  }
}

TEST_CASE("the note of damage says what the ICRC would say, for every bit of the headers") {
  MrcFrameSpec spec;
  spec.ev = ev_of({1, 2});
  spec.extension = WriteHeaders{{}, Tseth{}, Reth{}, {}};
  spec.payload_length = 64;
  std::vector<uint8_t> right(mrc_frame_size(spec));
  write_mrc_headers(spec, right);
  finish_mrc_frame(right);
  REQUIRE(icrc_ok(right));
  FramePool pool;
  for (uint32_t bit = 8 * kInnerOffset; bit < right.size() * 8; ++bit) {
    CAPTURE(bit);
    Frame real = pool.copy(right);
    flip(real, bit);
    Frame elided = pool.copy(std::span(right).first(mrc_header_size(spec)));
    elided.set_modelled_size({right.size()});
    flip(elided, bit);
    CHECK(icrc_ok(real.bytes()) == (elided.damage() == 0));
  }
}

TEST_CASE("bits flip in the share of frames that the rate says, and the switch finds what it can") {
  Bench bench;
  bench.apply(ps(0), SwitchErrors{bench.self, {10'000'000'000}});  // 28.7 % of these frames
  constexpr int kFrames = 2'000;
  for (int i = 0; i < kFrames; ++i) bench.arrive(kU0, FabricTime::from_us(1 + i), kToH1);
  bench.apply(FabricTime::from_us(2'010), SwitchErrors{bench.self, {}});
  for (int i = 0; i < 100; ++i) bench.arrive(kU0, FabricTime::from_us(2'020 + i), kToH1);
  bench.run();
  Bench whole;
  whole.arrive(kU0, ps(1'000'000), kToH1);
  whole.run();
  const std::vector<uint8_t>& right = whole.notes.sent.at(0).bytes;
  size_t wrong = 0, wrong_after = 0;
  for (const Sent& sent : bench.notes.sent) {
    (sent.start < FabricTime::from_us(2'020) ? wrong : wrong_after) += sent.bytes != right;
  }
  CHECK(wrong_after == 0);
  const size_t dropped = bench.notes.drops().size();
  CHECK(bench.notes.sent.size() + dropped == kFrames + 100);
  CHECK(wrong + dropped > 500);
  CHECK(wrong + dropped < 650);
  CHECK(dropped < 25);  // 40 of 4,226 bytes are the outer header
}
