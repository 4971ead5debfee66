#include "fabric/node/wire_model.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "fabric/node/fec_code.h"
#include "fabric/packet/headers.h"
#include "fabric/topology/path.h"
#include "tests/support/fabrics.h"
#include "tests/support/mrc_frames.h"
#include "tests/support/times.h"

using namespace mrclab;
using mrclab::test::ps;
using mrclab::test::us;

TEST_CASE("a wire that was never down cuts nothing") {
  const IngressWire wire;
  CHECK(wire.up());
  CHECK_FALSE(wire.cut(us(0), us(1'000)));
}

TEST_CASE("a frame is cut when the wire was down at any instant between start and arrival") {
  IngressWire wire;
  wire.go_down(us(10));
  CHECK_FALSE(wire.up());
  wire.come_up(us(20));
  CHECK(wire.up());
  CHECK_FALSE(wire.cut(us(5), us(10) - ps(1)));
  CHECK(wire.cut(us(5), us(10)));  // went down at the instant of arrival
  CHECK(wire.cut(us(9), us(21)));  // a whole outage in between
  CHECK(wire.cut(us(12), us(13)));
  CHECK(wire.cut(us(20) - ps(1), us(25)));
  CHECK_FALSE(wire.cut(us(20), us(25)));  // starts at the instant of coming up
}

TEST_CASE("a wire that stays down cuts everything that arrives after") {
  IngressWire wire;
  wire.go_down(us(10));
  CHECK(wire.cut(us(100), us(101)));
  CHECK_FALSE(wire.cut(us(1), us(2)));
}

TEST_CASE("of several outages each one cuts") {
  IngressWire wire;
  for (int64_t i = 1; i <= 3; ++i) {
    wire.go_down(us(100 * i));
    wire.come_up(us(100 * i + 10));
  }
  CHECK(wire.cut(us(99), us(100)));
  CHECK_FALSE(wire.cut(us(110), us(199)));
  CHECK(wire.cut(us(110), us(200)));
  CHECK_FALSE(wire.cut(us(310), us(999)));
}

TEST_CASE("going down twice is one outage, and coming up twice ends one") {
  IngressWire wire;
  wire.go_down(us(10));
  wire.go_down(us(15));
  wire.come_up(us(20));
  wire.come_up(us(30));
  CHECK(wire.cut(us(11), us(12)));
  CHECK_FALSE(wire.cut(us(21), us(29)));
}

TEST_CASE("outages are forgotten only when no frame can still have met them") {
  const Topology topology = test::two_rows();
  const Wire& wire = topology.all_wires()[0];
  const FabricTime latency = FabricTime::from_ns(700);
  const auto remembers = [&](IngressWire& in, FabricTime ago) {
    const FabricTime now = FabricTime::from_ms(500);
    in.go_down(now - ago - us(1));
    in.come_up(now - ago);
    in.go_down(now);  // which is when old ones are forgotten
    return in.cut(now - ago - us(1), now - ps(1));
  };
  IngressWire as_built(wire, latency);
  CHECK(remembers(as_built, kMaxWireDelay + wire.propagation + latency));
  IngressWire forgets(wire, latency);
  CHECK_FALSE(remembers(forgets, kMaxWireDelay * 2));
  IngressWire slow(wire, latency);
  slow.set(WireRate{wire.id, {10'000'000}});  // 3.5 ms for a long frame
  slow.set(WireRate{wire.id, {}});            // one that started before may still be under way
  CHECK(remembers(slow, FabricTime::from_ms(4)));
}

namespace {

/// One wire from p1 on, frames of 4,250 bytes on it, back to back at 100 Gb/s: 340 ns each.
struct WireBench {
  explicit WireBench(uint64_t seed = 1)
      : wire({.propagation = us(1),
              .rate = BitRate::from_gbps(100),
              .seed = seed,
              .from = {NodeId{3}, PortId{1}},
              .plane = 1}) {}

  struct Sent {
    WireFate fate;
    FabricTime arrival;
  };
  Sent send(EntropyValue ev = {0x1'C000}, uint8_t dscp = kDscpTrimmable) {
    MrcFrameSpec spec;
    spec.ev = ev;
    spec.dscp = dscp;
    spec.extension = WriteHeaders{{}, {}, Reth{}, {}};
    const size_t size = 4226;
    spec.payload_length = size - mrc_header_size(spec) - kIcrcBytes;
    Frame frame = pool.make(mrc_header_size(spec));
    write_mrc_headers(spec, frame.writable_bytes());
    frame.set_modelled_size({size});
    const FabricTime end = wire.end_of(frame.wire_length(), now);
    const WireFate fate = wire.start_frame(frame, end);
    now = end;
    return {fate, end + fate.flight};
  }
  std::string losses(size_t count) {
    std::string text;
    for (size_t i = 0; i < count; ++i) text += send().fate.lost == DropCause::kNone ? '.' : 'x';
    return text;
  }
  size_t lost(size_t count) {
    const std::string text = losses(count);
    return static_cast<size_t>(std::count(text.begin(), text.end(), 'x'));
  }

  FramePool pool;
  EgressWire wire;
  FabricTime now;
};

WireLoss loss(LossKind kind, uint32_t percent) {
  WireLoss loss;
  loss.wire = WireId{0};
  loss.kind = kind;
  loss.loss = {percent * (Probability::kOne / 100)};
  return loss;
}

}  // namespace

TEST_CASE(
    "whose receiver is not ours: what starts while the wire is dark is lost, and nothing after") {
  WireBench bench;
  CHECK(bench.losses(3) == "...");
  bench.wire.set(WireState{WireId{0}, false});
  CHECK(bench.losses(3) == "xxx");
  bench.wire.set(WireState{WireId{0}, true});
  CHECK(bench.losses(3) == "...");
}

TEST_CASE("a wire as built, or built again, loses, delays and repeats nothing") {
  WireBench bench;
  for (const bool touched : {false, true}) {
    if (touched) {
      bench.wire.set(random_loss(WireId{0}, {Probability::kOne}));
      bench.wire.set(WireErrors{WireId{0}, {BitErrorRate::kOne}});
      bench.wire.set(WireCodewords{WireId{0}, FecCode::kKp4, {BitErrorRate::kOne / 20}, {}, 1});
      bench.wire.set(WireDelay{WireId{0}, us(5), us(5), {Probability::kOne}, true});
      bench.wire.set(WireDuplicates{WireId{0}, {Probability::kOne}});
      bench.wire.set(WireRate{WireId{0}, BitRate::from_gbps(1)});
      bench.send();
      bench.wire.set(random_loss(WireId{0}, {}));
      bench.wire.set(WireErrors{WireId{0}, {}});
      bench.wire.set(WireCodewords{WireId{0}});
      bench.wire.set(WireDelay{WireId{0}, {}, {}, {}, false});
      bench.wire.set(WireDuplicates{WireId{0}, {}});
      bench.wire.set(WireRate{WireId{0}, {}});
    }
    for (int i = 0; i < 100; ++i) {
      const FabricTime start = bench.now;
      const WireBench::Sent sent = bench.send();
      CHECK(bench.now == start + ps(340'000));
      CHECK(sent.fate.lost == DropCause::kNone);
      CHECK(sent.fate.flight == us(1));
      CHECK_FALSE(sent.fate.again);
    }
  }
}

TEST_CASE("random loss has its probability and repeats with the seed") {
  WireBench bench(1), twin(1), other(2);
  for (WireBench* b : {&bench, &twin, &other}) b->wire.set(loss(LossKind::kRandom, 20));
  const std::string lost = bench.losses(10'000);
  CHECK(lost == twin.losses(10'000));
  CHECK(lost != other.losses(10'000));
  CHECK(std::count(lost.begin(), lost.end(), 'x') > 1'800);
  CHECK(std::count(lost.begin(), lost.end(), 'x') < 2'200);
}

TEST_CASE("every n-th frame is lost, counted from the fault on") {
  WireBench bench;
  WireLoss third = loss(LossKind::kEveryNth, 0);
  third.every = 3;
  bench.wire.set(third);
  CHECK(bench.losses(7) == "..x..x.");
  bench.wire.set(third);  // set again: nothing has changed
  CHECK(bench.losses(5) == ".x..x");
  third.every = 2;
  bench.wire.set(third);
  CHECK(bench.losses(5) == ".x.x.");
}

TEST_CASE("bursty loss comes in bursts of the length and share that were asked for") {
  WireBench bench;
  WireLoss bursty = loss(LossKind::kBursty, 100);
  bursty.enter_bad = {Probability::kOne / 100};
  bursty.leave_bad = {Probability::kOne / 10};
  bench.wire.set(bursty);
  const std::string lost = bench.losses(40'000);
  size_t bursts = 0;
  for (size_t i = 1; i < lost.size(); ++i) bursts += lost[i] == 'x' && lost[i - 1] == '.';
  const auto frames = static_cast<size_t>(std::count(lost.begin(), lost.end(), 'x'));
  CHECK(frames > 2'900);  // 1 / (1 + 10) of them
  CHECK(frames < 4'400);
  CHECK(frames / bursts >= 8);  // 10 in a row
  CHECK(frames / bursts <= 12);
}

TEST_CASE("a loss of one entropy value takes its data frames only, beside the loss of all") {
  WireBench bench;
  WireLoss one = loss(LossKind::kRandom, 100);
  one.one_ev = true;
  one.ev = ev_of({1, 2});
  bench.wire.set(one);
  CHECK(bench.send(ev_of({1, 2})).fate.lost == DropCause::kWireLoss);
  CHECK(bench.send(ev_of({1, 2}), kDscpNoTrim).fate.lost == DropCause::kWireLoss);
  CHECK(bench.send(ev_of({1, 2}), kDscpControl).fate.lost == DropCause::kNone);
  CHECK(bench.send(ev_of({1, 2}), kDscpTrimmed).fate.lost == DropCause::kNone);
  CHECK(bench.send(ev_of({1, 3})).fate.lost == DropCause::kNone);
  WireLoss all = loss(LossKind::kEveryNth, 0);
  all.every = 2;
  bench.wire.set(all);
  CHECK(bench.send(ev_of({1, 3})).fate.lost == DropCause::kNone);
  CHECK(bench.send(ev_of({1, 3})).fate.lost == DropCause::kWireLoss);
  CHECK(bench.send(ev_of({1, 2})).fate.lost == DropCause::kWireLoss);
  one.kind = LossKind::kNone;  // heals its own target
  bench.wire.set(one);
  CHECK(bench.send(ev_of({1, 2})).fate.lost == DropCause::kWireLoss);
  CHECK(bench.send(ev_of({1, 2})).fate.lost == DropCause::kNone);
}

TEST_CASE("a bit error rate hits the share of frames that it should") {
  CHECK_FALSE(hit_by_error(UINT64_MAX, {0}, 34'000));
  CHECK(hit_by_error(0, {BitErrorRate::kOne}, 1));
  // 1 - (1 - p)^n, to five digits: 34,000 bits at 1e-6, 1e-5 and 1e-4.
  const std::pair<uint64_t, double> shares[] = {
      {1'000'000'000, 0.033428}, {10'000'000'000, 0.288231}, {100'000'000'000, 0.966632}};
  for (const auto& [rate, share] : shares) {
    const auto edge = static_cast<uint64_t>((1 - share) * 0x1p64);
    CHECK(hit_by_error(edge + (uint64_t{1} << 46), {rate}, 34'000));
    CHECK_FALSE(hit_by_error(edge - (uint64_t{1} << 46), {rate}, 34'000));
  }
  // The rarest: a good link.
  CHECK(hit_by_error(UINT64_MAX, {1}, 34'000));
  CHECK_FALSE(hit_by_error(UINT64_MAX - (uint64_t{1} << 31), {1}, 34'000));
  WireBench bench;
  bench.wire.set(WireErrors{WireId{0}, {10'000'000'000}});
  size_t hit = 0;
  for (int i = 0; i < 5'000; ++i) hit += bench.send().fate.lost == DropCause::kFrameCheck;
  CHECK(hit > 1'300);
  CHECK(hit < 1'600);
}

TEST_CASE("a delayed frame holds up those behind it, unless they may overtake it") {
  WireDelay delay{WireId{0}, us(5), us(3), {Probability::kOne / 4}, false};
  for (const bool overtaken : {false, true}) {
    CAPTURE(overtaken);
    delay.overtaken = overtaken;
    WireBench bench;
    bench.wire.set(delay);
    size_t early = 0, late = 0;
    FabricTime last;
    for (int i = 0; i < 400; ++i) {
      const WireBench::Sent sent = bench.send();
      CHECK(sent.fate.flight >= us(1));
      CHECK(sent.fate.flight <= us(1 + 5 + 3));
      late += sent.fate.flight >= us(6);
      early += sent.arrival < last;
      last = std::max(last, sent.arrival);
    }
    CHECK(late > 70);
    CHECK((early > 50) == overtaken);
    // After the end nothing overtakes what waits in line, and nothing waits longer than that.
    bench.wire.set(WireDelay{WireId{0}, {}, {}, {}, false});
    const FabricTime healed = bench.now;
    bool as_built = false;
    for (int i = 0; i < 100; ++i) {
      const WireBench::Sent sent = bench.send();
      if (!overtaken) CHECK(sent.arrival >= last);
      if (bench.now > healed + us(9)) as_built = sent.fate.flight == us(1);
    }
    CHECK(as_built);
  }
}

TEST_CASE("a share of the frames is sent again, a copy never") {
  WireBench bench;
  bench.wire.set(WireDuplicates{WireId{0}, {Probability::kOne / 2}});
  size_t again = 0;
  for (int i = 0; i < 1'000; ++i) again += bench.send().fate.again;
  CHECK(again > 400);
  CHECK(again < 600);
  bench.wire.set(WireDuplicates{WireId{0}, {Probability::kOne}});
  Frame frame = bench.pool.make(200);
  CHECK(bench.wire.start_frame(frame, us(1)).again);
  CHECK_FALSE(bench.wire.start_frame(frame, us(2), true).again);
}

TEST_CASE("a wire slows down from the next start on, and is never faster than its link") {
  WireBench bench;
  bench.wire.set(WireRate{WireId{0}, BitRate::from_gbps(50)});
  CHECK(bench.wire.end_of({4'250}, us(1)) == us(1) + ps(680'000));
  bench.wire.set(WireRate{WireId{0}, BitRate::from_gbps(400)});
  CHECK(bench.wire.end_of({4'250}, us(1)) == us(1) + ps(340'000));
  bench.wire.set(WireRate{WireId{0}, {}});
  CHECK(bench.wire.rate() == BitRate::from_gbps(100));
}

TEST_CASE("several things wrong with one wire draw independently of each other") {
  WireBench bench;
  bench.wire.set(loss(LossKind::kRandom, 50));
  bench.wire.set(WireErrors{WireId{0}, {10'000'000'000}});
  bench.wire.set(WireDuplicates{WireId{0}, {Probability::kOne / 2}});
  size_t lost = 0, hit = 0, lost_and_again = 0;
  for (int i = 0; i < 4'000; ++i) {
    const WireFate fate = bench.send().fate;
    lost += fate.lost == DropCause::kWireLoss;
    hit += fate.lost == DropCause::kFrameCheck;
    lost_and_again += fate.lost == DropCause::kWireLoss && fate.again;
  }
  CHECK(lost > 1'850);
  CHECK(lost < 2'150);
  CHECK(hit > 500);  // 28.8 % of the other half
  CHECK(hit < 660);
  CHECK(lost_and_again > 900);
  CHECK(lost_and_again < 1'100);
}

TEST_CASE("a codeword that is lost takes all frames that have a bit in it, and no others") {
  WireBench bench;
  const WireCodewords errors{WireId{0}, FecCode::kKp4, {1'200'000'000'000}, {}, 5};
  bench.wire.set(errors);
  const uint64_t loss = codeword_loss(errors);
  const CodewordClock clock(bench.wire.site().rate, FecCode::kKp4);
  size_t lost = 0, pairs = 0;
  bool before = false;
  constexpr int kFrames = 4'000;
  for (int i = 0; i < kFrames; ++i) {
    const FabricTime start = bench.now;
    const bool gone = bench.send().fate.lost == DropCause::kFrameCheck;
    bool hit = false;
    // 4,250 bytes of 80 ps, of which the last twelve are a gap.
    for (uint64_t n = start.ps() / 51'200;
         n <= static_cast<uint64_t>(start.ps() + 339'039) / 51'200; ++n) {
      hit = hit || codeword_is_lost(errors, loss, n);
    }
    CHECK(gone == hit);
    lost += gone;
    pairs += gone && before;
    before = gone;
  }
  // Each frame is in 7.6 codewords; neighbours share one, so that they are lost together far more often than by chance.
  const double p = static_cast<double>(loss) / static_cast<double>(kCertain);
  CHECK(static_cast<double>(lost) / kFrames == doctest::Approx(7.6 * p).epsilon(0.2));
  CHECK(pairs * kFrames > 3 * lost * lost);
}
