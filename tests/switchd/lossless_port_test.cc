// The class of RoCE's data at one egress port: its share of the link, its marks, pauses.

#include <doctest/doctest.h>

#include <cmath>

#include "fabric/packet/pause_frame.h"
#include "fixture.h"
#include "switchd/egress_port.h"
#include "switchd/outer_header.h"

using namespace mrclab;
using namespace mrclab::switchd;
using namespace mrclab::switchd::testing;

namespace {

struct LosslessBench {
  explicit LosslessBench(bool host_facing = false, bool pfc = true)
      : LosslessBench(settings(host_facing, pfc)) {}
  explicit LosslessBench(const EgressSettings& s) : rules(s), port(s, rules) {}

  static EgressSettings settings(bool host_facing, bool pfc) {
    EgressSettings s;
    s.wire.from = {NodeId{7}, PortId{2}};
    s.wire.seed = 42;
    s.wire.rate = BitRate::from_gbps(100);
    s.wire.propagation = kPropagation;
    s.host_facing = host_facing;
    s.queues = {true,    true,      {10'000}, {40'000}, false,         {50'000}, {75'000}, {2'000},
                {2'000}, {100'000}, {20'000}, {60'000}, {200'000'000}, {30'000}, {}};
    s.lossless.pfc = pfc;
    if (pfc) s.lossless_room = Bytes{1'000'000};
    return s;
  }
  Admission offer(uint64_t wire_bytes, uint8_t dscp = kDscpLossless, uint8_t ecn = kEcnEct0) {
    Frame frame = pool.copy(bytes_of({.dscp = dscp, .ecn = ecn, .size = wire_bytes - 24}));
    return port.admit(frame, dscp, PortId{5});
  }
  Departure depart() { return port.depart(FabricTime{}); }
  /// How many of `frames` were marked that left `depth` bytes behind them.
  uint32_t marked(uint64_t depth, uint32_t frames) {
    for (uint64_t queued = 0; queued < depth; queued += 1'000) offer(1'000);
    uint32_t marked = 0;
    for (uint32_t i = 0; i < frames; ++i) {
      offer(1'000);
      const Departure departure = depart();
      marked += departure.ecn_marked && departure.queue == QueueClass::kLossless ? 1 : 0;
    }
    return marked;
  }

  FramePool pool;
  QueueRules rules;
  EgressPort port;
};

}  // namespace

TEST_CASE(
    "RED marks linearly from Kmin to Pmax at Kmax and all above it, on host-facing ports too") {
  constexpr uint32_t kFrames = 20'000;
  struct Row {
    uint64_t depth;
    double share;
  };
  // Kmin 20,000, Kmax 60,000, Pmax 20 %; the depth is what a frame leaves behind.
  const Row rows[] = {{10'000, 0},   {20'000, 0},     {21'000, 0.005}, {30'000, 0.05},
                      {40'000, 0.1}, {59'000, 0.195}, {60'000, 1},     {80'000, 1}};
  for (const bool host_facing : {false, true}) {
    for (const Row& row : rows) {
      INFO(row.depth << " bytes, host facing " << host_facing);
      LosslessBench bench(host_facing);
      const double measured = bench.marked(row.depth, kFrames) / double{kFrames};
      const double four_sigma = 4 * std::sqrt(row.share * (1 - row.share) / kFrames);
      CHECK(std::abs(measured - row.share) <= four_sigma);
    }
  }
}

TEST_CASE(
    "RED counts RoCE's own queue, leaves frames alone that cannot be marked, and no other class") {
  LosslessBench bench;
  for (int i = 0; i < 45; ++i) bench.offer(1'000, kDscpTrimmable);  // 45,000 of MRC's data
  CHECK(bench.marked(0, 10) == 0);
  LosslessBench not_ect;
  for (int i = 0; i < 80; ++i) not_ect.offer(1'000, kDscpLossless, kEcnNotEct);
  CHECK_FALSE(not_ect.depart().ecn_marked);
  LosslessBench mrc;  // MRC's thresholds: 10,000 to 40,000 by its own depth
  for (int i = 0; i < 90; ++i) mrc.offer(1'000);
  mrc.offer(1'000, kDscpTrimmable);
  mrc.port.set_paused(true);
  const Departure departure = mrc.depart();
  CHECK(departure.queue == QueueClass::kData);
  CHECK_FALSE(departure.ecn_marked);
}

TEST_CASE("a switch without ECN marks no frame of RoCE") {
  EgressSettings settings = LosslessBench::settings(false, true);
  settings.queues.ecn = false;
  LosslessBench bench(settings);
  CHECK(bench.marked(80'000, 10) == 0);
}

TEST_CASE("RoCE's data and MRC's share a link by bytes, whatever their frames' lengths") {
  struct Row {
    uint64_t lossless, data;
  };
  for (const Row row : {Row{1'000, 4'000}, Row{4'000, 1'000}, Row{3'000, 2'000}, Row{4'250, 84}}) {
    INFO(row.lossless << " and " << row.data);
    LosslessBench bench;
    int64_t lead = 0;
    for (int i = 0; i < 400; ++i) {
      while (bench.port.depth(QueueClass::kLossless) < Bytes{10'000}) bench.offer(row.lossless);
      while (bench.port.depth(QueueClass::kData) < Bytes{10'000})
        bench.offer(row.data, kDscpNoTrim);
      const Departure departure = bench.depart();
      const auto length = static_cast<int64_t>(departure.frame.wire_length().value);
      lead += departure.queue == QueueClass::kLossless ? length : -length;
      CHECK(std::abs(lead) <= 4'250);
    }
  }
}

TEST_CASE("control goes before RoCE's data, and trimmed frames share MRC's half") {
  LosslessBench bench;
  for (int i = 0; i < 20; ++i) bench.offer(1'000);
  for (int i = 0; i < 8; ++i) bench.offer(200, kDscpTrimmed);
  bench.offer(100, kDscpControl);
  CHECK(bench.depart().queue == QueueClass::kControl);
  CHECK(bench.depart().queue == QueueClass::kLossless);
  for (int i = 0; i < 5; ++i) CHECK(bench.depart().queue == QueueClass::kTrimmed);
  CHECK(bench.depart().queue == QueueClass::kLossless);
  for (int i = 0; i < 3; ++i) CHECK(bench.depart().queue == QueueClass::kTrimmed);
  CHECK(bench.depart().queue == QueueClass::kLossless);
}

TEST_CASE("a paused port sends everything but RoCE's data, and that again when it may") {
  LosslessBench bench;
  bench.offer(1'000);
  bench.port.set_paused(true);
  CHECK_FALSE(bench.port.ready());
  bench.offer(100, kDscpControl);
  bench.offer(1'000, kDscpTrimmable);
  CHECK(bench.depart().queue == QueueClass::kControl);
  CHECK(bench.depart().queue == QueueClass::kData);
  CHECK_FALSE(bench.port.ready());
  bench.port.set_paused(false);
  const Departure departure = bench.depart();
  CHECK(departure.queue == QueueClass::kLossless);
  CHECK(departure.ingress == PortId{5});
}

TEST_CASE("a pause frame leaves before everything, paused or not, and the newest takes the place") {
  LosslessBench bench;
  bench.offer(100, kDscpControl);
  bench.port.set_paused(true);
  bench.port.put_pause(make_pause(bench.pool, MacAddress{}, kPauseQuanta));
  bench.port.put_pause(make_pause(bench.pool, MacAddress{}, 0));
  const Departure pause = bench.depart();
  CHECK(pause.queue == QueueClass::kPause);
  CHECK(lossless_quanta(pause.frame.bytes()) == 0);
  CHECK(pause.end == ps(84 * 80));
  CHECK(bench.depart().queue == QueueClass::kControl);
  CHECK_FALSE(bench.port.ready());
}

TEST_CASE("a pause frame goes before the copy of a frame that the wire carries twice") {
  LosslessBench bench;
  bench.port.wire().set(WireDuplicates{WireId{}, {Probability::kOne}});
  bench.offer(1'000);
  REQUIRE(bench.depart().queue == QueueClass::kLossless);
  bench.port.put_pause(make_pause(bench.pool, MacAddress{}, kPauseQuanta));
  CHECK(bench.depart().queue == QueueClass::kPause);
  CHECK(bench.depart().is_copy);
  CHECK_FALSE(bench.port.ready());
}

TEST_CASE(
    "a port has nothing of RoCE's before its first frame, and then all the room it was built "
    "with") {
  LosslessBench bench(false, false);
  CHECK(bench.port.depth(QueueClass::kLossless) == Bytes{});
  CHECK(bench.port.depth_max(QueueClass::kLossless) == Bytes{});
  CHECK(!bench.port.flush_one_lossless());
  // The first frame comes while most of the buffer is lost.
  QueueFaults faults;
  faults.buffer_lost = Probability{900'000'000};
  bench.rules.set_faults(faults);
  CHECK(bench.offer(1'000).refused == DropCause::kNone);
  bench.rules.set_faults({});
  uint32_t taken = 1;
  while (bench.offer(100).refused == DropCause::kNone) ++taken;
  CHECK(taken == 291);
  CHECK(bench.port.depth(QueueClass::kLossless) == Bytes{30'000});
  CHECK(bench.port.depth_max(QueueClass::kLossless) == Bytes{30'000});
  const auto flushed = bench.port.flush_one_lossless();
  REQUIRE(flushed);
  CHECK(flushed->ingress == PortId{5});
}

TEST_CASE("without pauses the class has a limit of its own, with them the whole switch's buffer") {
  for (const bool pfc : {false, true}) {
    LosslessBench bench(false, pfc);
    uint32_t taken = 0;
    while (bench.offer(1'000).refused == DropCause::kNone) ++taken;
    CHECK(taken == (pfc ? 1'000 : 30));
    CHECK(bench.offer(1'000).refused == DropCause::kQueueFull);
    CHECK(bench.offer(1'000, kDscpTrimmable).refused == DropCause::kNone);
  }
}
