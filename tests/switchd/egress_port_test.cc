#include "switchd/egress_port.h"

#include <doctest/doctest.h>

#include "fixture.h"
#include "switchd/outer_header.h"

using namespace mrclab;
using namespace mrclab::switchd;
using namespace mrclab::switchd::testing;

namespace {

struct PortBench {
  explicit PortBench(bool host_facing = false) : PortBench(settings(host_facing)) {}
  explicit PortBench(const EgressSettings& s) : rules(s), port(s, rules) {}

  static EgressSettings settings(bool host_facing) {
    EgressSettings s;
    s.wire.from = {NodeId{7}, PortId{2}};
    s.wire.seed = 42;
    s.wire.rate = BitRate::from_gbps(100);
    s.wire.propagation = kPropagation;
    s.host_facing = host_facing;
    s.queues = {true,    true,      {10'000}, {40'000}, false, {50'000}, {75'000}, {2'000},
                {2'000}, {100'000}, {},       {},       {},    {},       {}};
    return s;
  }

  /// Offers a frame that takes `wire_bytes` on the wire.
  Admission offer(uint64_t wire_bytes, uint8_t dscp = kDscpTrimmable, uint8_t ecn = kEcnEct0) {
    Frame frame = pool.copy(bytes_of({.dscp = dscp, .ecn = ecn, .size = wire_bytes - 24}));
    REQUIRE(frame.wire_length() == Bytes{wire_bytes});
    const Admission admission = port.admit(frame, dscp);
    CHECK(static_cast<bool>(frame) == (admission.refused != DropCause::kNone));
    return admission;
  }
  void fill_data(uint64_t bytes) {
    for (; bytes > 0; bytes -= 1'000) REQUIRE(offer(1'000).queue == QueueClass::kData);
  }
  Departure depart() { return port.depart(FabricTime{}); }

  FramePool pool;
  QueueRules rules;
  EgressPort port;
};

}  // namespace

TEST_CASE(
    "the DSCP chooses the queue: control, trimmed, RoCE's data, and data for everything else") {
  for (uint8_t dscp = 0; dscp < 64; ++dscp) {
    INFO(int{dscp});
    const bool trimmed = dscp == 12 || dscp == 16;
    const bool control = dscp == 46 || dscp == 48;
    CHECK(PortBench().offer(100, dscp).queue == (control      ? QueueClass::kControl
                                                 : trimmed    ? QueueClass::kTrimmed
                                                 : dscp == 26 ? QueueClass::kLossless
                                                              : QueueClass::kData));
  }
}

TEST_CASE("a frame that fills the data queue exactly to the trim threshold is queued whole") {
  for (const bool last_hop : {false, true}) {
    const uint64_t threshold = last_hop ? 75'000 : 50'000;
    for (const uint8_t dscp : {kDscpTrimmable, kDscpTrimmableRetx}) {
      PortBench exact(last_hop);
      exact.fill_data(threshold - 1'000);
      CHECK_FALSE(exact.offer(1'000, dscp).trimmed);
      CHECK(exact.port.depth(QueueClass::kData) == Bytes{threshold});
      CHECK(exact.offer(1'000, dscp).trimmed);

      PortBench over(last_hop);
      over.fill_data(threshold - 1'000);
      const Admission admission = over.offer(1'001, dscp);
      CHECK(admission.trimmed);
      CHECK(admission.queue == QueueClass::kTrimmed);
      CHECK(over.port.depth(QueueClass::kData) == Bytes{threshold - 1'000});
      CHECK(over.port.depth(QueueClass::kTrimmed) == Bytes{128 + 4 + 20});
      CHECK(over.port.depth(QueueClass::kControl) == Bytes{0});
    }
  }
}

TEST_CASE("which DSCP is which class is the fabric's choice") {
  for (const bool last_hop : {false, true}) {
    EgressSettings settings = PortBench::settings(last_hop);
    settings.wire.dscps = {1, 10, 14, 20, 22, 48};
    for (const uint8_t dscp : {uint8_t{20}, uint8_t{22}}) {
      CHECK(PortBench(settings).offer(100, dscp).queue == QueueClass::kTrimmed);
    }
    CHECK(PortBench(settings).offer(100, 48).queue == QueueClass::kControl);
    for (const uint8_t dscp : {kDscpControl, kDscpTrimmed, kDscpTrimmedLastHop}) {
      CHECK(PortBench(settings).offer(100, dscp).queue == QueueClass::kData);
    }
    for (const uint8_t dscp : {uint8_t{10}, uint8_t{14}}) {
      PortBench bench(settings);
      bench.fill_data(last_hop ? 75'000 : 50'000);
      CHECK(bench.offer(1'000, dscp).trimmed);
      CHECK(dscp_of(bench.depart().frame.bytes()) == (last_hop ? 22 : 20));
    }
    PortBench not_ours(settings);
    not_ours.fill_data(75'000);
    CHECK_FALSE(not_ours.offer(1'000, kDscpTrimmableRetx).trimmed);
  }
}

TEST_CASE("a trimmed frame is its first 128 bytes with a new outer length and DSCP, nothing else") {
  for (const bool last_hop : {false, true}) {
    for (const uint8_t ecn : {kEcnNotEct, kEcnEct0, kEcnCe}) {
      PortBench bench(last_hop);
      bench.fill_data(last_hop ? 75'000 : 50'000);
      const FrameText text{.dscp = kDscpTrimmable, .ecn = ecn, .size = 4226, .filling = 9};
      Frame frame = bench.pool.copy(bytes_of(text));
      CHECK(bench.port.admit(frame, text.dscp).trimmed);

      std::vector<uint8_t> expected = bytes_of(text);
      expected.resize(128);
      const int traffic_class = (last_hop ? 16 : 12) << 2 | ecn;
      expected[14] = static_cast<uint8_t>(0x60 | traffic_class >> 4);
      expected[15] = static_cast<uint8_t>(traffic_class << 4 | 0x3);  // flow label stays
      expected[18] = 0;
      expected[19] = 128 - 14 - 40;
      const Departure departure = bench.depart();
      CHECK(departure.trimmed);
      CHECK(departure.queue == QueueClass::kTrimmed);
      CHECK_FALSE(departure.ecn_marked);
      CHECK(std::vector<uint8_t>(departure.frame.bytes().begin(), departure.frame.bytes().end()) ==
            expected);
      CHECK(departure.frame.wire_length() == Bytes{152});
      CHECK(departure.end == ps(152 * 80));
    }
  }
}

TEST_CASE("a frame whose payload is elided is trimmed by its modelled size") {
  PortBench bench;
  bench.fill_data(50'000);
  Frame frame = bench.pool.copy(bytes_of({.dscp = kDscpTrimmable, .size = 4226}));
  frame.resize(160);
  frame.set_modelled_size({4226});
  CHECK(bench.port.admit(frame, kDscpTrimmable).trimmed);
  const Departure departure = bench.depart();
  CHECK(departure.frame.size() == 128);
  CHECK(departure.frame.modelled_size() == Bytes{128});
}

TEST_CASE("frames without payload are not trimmed but queued up to the tail drop limit") {
  PortBench bench;
  bench.fill_data(50'000);
  CHECK(kLongestHeaderOnlyFrame == 154);
  CHECK_FALSE(bench.offer(154 + 24).trimmed);
  CHECK(bench.offer(155 + 24).trimmed);
}

TEST_CASE("a class that may not be trimmed is dropped at the tail, at the limit and not before") {
  for (const uint8_t dscp : {kDscpNoTrim, uint8_t{10}, uint8_t{63}}) {
    PortBench bench;
    for (int i = 0; i < 99; ++i) {
      REQUIRE(bench.offer(1'000, dscp).refused == DropCause::kNone);
    }
    CHECK(bench.offer(1'001, dscp).refused == DropCause::kQueueFull);
    CHECK(bench.offer(1'000, dscp).refused == DropCause::kNone);
    CHECK(bench.offer(84, dscp).refused == DropCause::kQueueFull);
    CHECK(bench.port.depth(QueueClass::kData) == Bytes{100'000});
    CHECK(bench.port.depth_max(QueueClass::kData) == Bytes{100'000});
  }
}

TEST_CASE("without trimming every class is dropped at the tail") {
  EgressSettings settings = PortBench::settings(false);
  settings.queues.trim = false;
  PortBench bench(settings);
  for (int i = 0; i < 100; ++i) REQUIRE(bench.offer(1'000).refused == DropCause::kNone);
  CHECK(bench.offer(1'000).refused == DropCause::kQueueFull);
  CHECK(bench.port.depth(QueueClass::kTrimmed) == Bytes{0});
}

TEST_CASE(
    "control packets and trimmed frames have a limit each, and neither takes the other's room") {
  PortBench bench;
  for (int i = 0; i < 13; ++i) REQUIRE(bench.offer(152, kDscpControl).refused == DropCause::kNone);
  const Admission refused = bench.offer(152, kDscpControl);  // 14 * 152 = 2,128 > 2,000
  CHECK(refused.refused == DropCause::kControlQueueFull);
  CHECK(refused.queue == QueueClass::kControl);
  bench.fill_data(50'000);
  for (int i = 0; i < 13; ++i) REQUIRE(bench.offer(4'000).trimmed);
  Frame frame = bench.pool.copy(bytes_of({.dscp = kDscpTrimmable}));
  CHECK(bench.port.admit(frame, kDscpTrimmable).refused == DropCause::kTrimmedQueueFull);
  CHECK(frame.size() == 4226);  // left alone
  // One that another switch trimmed is refused under the same name.
  CHECK(bench.offer(152, kDscpTrimmed).refused == DropCause::kTrimmedQueueFull);
  bench.depart();
  CHECK(bench.offer(152, kDscpControl).refused == DropCause::kNone);
  CHECK(bench.offer(152, kDscpTrimmedLastHop).refused == DropCause::kTrimmedQueueFull);
}

TEST_CASE("control goes before trimmed frames and data, up to its quantum") {
  EgressSettings settings = PortBench::settings(false);
  settings.queues.control_limit = {100'000};
  PortBench bench(settings);
  for (int i = 0; i < 3; ++i) bench.offer(1'520, kDscpNoTrim);
  for (int i = 0; i < 3; ++i) bench.offer(152, kDscpTrimmed);
  for (int i = 0; i < 60; ++i) bench.offer(152, kDscpControl);
  for (int i = 0; i < 60; ++i) REQUIRE(bench.depart().queue == QueueClass::kControl);
  CHECK(bench.depart().queue == QueueClass::kTrimmed);
}

TEST_CASE("control that never ends leaves a quarter of the bytes to data: it is never starved") {
  EgressSettings settings = PortBench::settings(false);
  settings.queues.control_limit = {100'000};
  PortBench bench(settings);
  for (int i = 0; i < 20; ++i) bench.offer(1'520, kDscpNoTrim);
  for (int i = 0; i < 300; ++i) bench.offer(152, kDscpControl);
  std::string order;
  while (bench.port.ready()) order += bench.depart().queue == QueueClass::kControl ? 'c' : 'd';
  // By hand: 86 c are 13,072 bytes, over the quantum of 13,000; each d pays 3 * 1,520 of it, or 30 c.
  std::string expected = std::string(86, 'c') + "d";
  for (int i = 0; i < 7; ++i) expected += std::string(30, 'c') + "d";
  CHECK(order == expected + "cccc" + std::string(12, 'd'));
}

TEST_CASE("control shares with trimmed frames and RoCE's data too, but with none that is paused") {
  EgressSettings settings = PortBench::settings(false);
  settings.queues.control_limit = {1'000'000};
  settings.queues.lossless_limit = {1'000'000};
  struct Row {
    uint8_t dscp;
    bool paused;
    bool shares;
  };
  for (const Row& row : {Row{kDscpTrimmed, true, true}, Row{kDscpLossless, false, true},
                         Row{kDscpLossless, true, false}}) {
    PortBench bench(settings);
    bench.port.set_paused(row.paused);
    for (int i = 0; i < 10; ++i) bench.offer(152, row.dscp);
    for (int i = 0; i < 200; ++i) bench.offer(152, kDscpControl);
    int others = 0;
    for (int i = 0; i < 110; ++i) {
      others += bench.depart().queue == QueueClass::kControl ? 0 : 1;
    }
    CHECK(others == (row.shares ? 6 : 0));  // after 86 frames of control each fourth: 24 / 4
  }
}

TEST_CASE("control that was sent while nothing else waited owes nothing") {
  EgressSettings settings = PortBench::settings(false);
  settings.queues.control_limit = {100'000};
  PortBench bench(settings);
  for (int i = 0; i < 300; ++i) bench.offer(152, kDscpControl);
  for (int i = 0; i < 200; ++i) bench.depart();
  bench.offer(1'520, kDscpNoTrim);
  for (int i = 0; i < 86; ++i) REQUIRE(bench.depart().queue == QueueClass::kControl);
  CHECK(bench.depart().queue == QueueClass::kData);
}

TEST_CASE("trimmed frames go first, but while data waits they get no more than half of the bytes") {
  EgressSettings settings = PortBench::settings(false);
  settings.queues.trimmed_limit = {100'000};
  PortBench bench(settings);
  for (int i = 0; i < 20; ++i) bench.offer(1'520, kDscpNoTrim);
  for (int i = 0; i < 60; ++i) bench.offer(152, kDscpTrimmed);
  std::string order;
  while (bench.port.ready()) order += bench.depart().queue == QueueClass::kTrimmed ? 't' : 'd';
  // By hand: t leads by 152; d turns that into -1368; nine t bring it to 0, the tenth to 152 ...
  const std::string turn = "dtttttttttt";
  CHECK(order == "t" + turn + turn + turn + turn + turn + "dttttttttt" + std::string(14, 'd'));
}

TEST_CASE("trimmed frames that come singly and are large cannot starve data either") {
  EgressSettings settings = PortBench::settings(false);
  settings.queues.trimmed_limit = {100'000};
  PortBench bench(settings);
  uint64_t trimmed = 0, data = 0;
  for (int i = 0; i < 5'000; ++i) {
    while (bench.port.depth(QueueClass::kData) < Bytes{1'000}) bench.offer(100, kDscpNoTrim);
    // Every other frame, so that data is also served while no trimmed frame happens to wait.
    if (i % 2 == 0 && bench.port.depth(QueueClass::kTrimmed) == Bytes{0}) {
      bench.offer(4'000, kDscpTrimmed);
    }
    const Departure departure = bench.depart();
    (departure.queue == QueueClass::kTrimmed ? trimmed : data) +=
        departure.frame.wire_length().value;
    CHECK(trimmed <= data + 4'000);
  }
  CHECK(trimmed + 4'000 > data);  // and they get their half
}

TEST_CASE("data sent while no trimmed frame waits earns it no claim against trimmed frames later") {
  PortBench bench;
  for (int i = 0; i < 40; ++i) bench.offer(1'000, kDscpNoTrim);
  for (int i = 0; i < 20; ++i) CHECK(bench.depart().queue == QueueClass::kData);
  bench.offer(152, kDscpTrimmed);
  bench.offer(152, kDscpTrimmed);
  CHECK(bench.depart().queue == QueueClass::kTrimmed);
  CHECK(bench.depart().queue == QueueClass::kData);
  CHECK(bench.depart().queue == QueueClass::kTrimmed);
}

TEST_CASE("ECN never marks while at most ecn_min is left behind and always from ecn_max on") {
  PortBench low;
  low.fill_data(11'000);
  for (int i = 0; i < 2'000; ++i) {
    const Departure departure = low.depart();  // leaves 10,000 behind
    CHECK_FALSE(departure.ecn_marked);
    CHECK((departure.frame.bytes()[15] >> 4 & 3) == kEcnEct0);
    low.fill_data(1'000);
  }
  PortBench high;
  high.fill_data(41'000);
  for (int i = 0; i < 2'000; ++i) {
    const Departure departure = high.depart();  // leaves 40,000 behind
    CHECK(departure.ecn_marked);
    CHECK((departure.frame.bytes()[15] >> 4 & 3) == kEcnCe);
    high.fill_data(1'000);
  }
}

TEST_CASE("between the thresholds the marked fraction is linear in the depth") {
  const std::pair<uint64_t, int> points[] = {{13'000, 10}, {25'000, 50}, {37'000, 90}};
  for (const auto& [depth, percent] : points) {
    PortBench bench;
    bench.fill_data(depth + 1'000);
    int marked = 0;
    for (int i = 0; i < 10'000; ++i) {
      marked += bench.depart().ecn_marked;
      bench.fill_data(1'000);
    }
    CHECK(marked > percent * 100 - 200);  // four standard deviations of 10,000 draws at most
    CHECK(marked < percent * 100 + 200);
  }
}

TEST_CASE(
    "only ECN-capable data is marked, only when ECN is on, and on the last hop only where the fabric "
    "asks for it") {
  const auto marks = [](const EgressSettings& settings, uint8_t ecn, uint8_t dscp) {
    PortBench bench(settings);
    for (int i = 0; i < 60; ++i) bench.offer(1'000, dscp, ecn);
    return bench.depart().ecn_marked;
  };
  const EgressSettings uplink = PortBench::settings(false);
  CHECK(marks(uplink, 1, kDscpNoTrim));
  CHECK(marks(uplink, 2, kDscpNoTrim));
  CHECK_FALSE(marks(uplink, kEcnNotEct, kDscpNoTrim));
  CHECK_FALSE(marks(uplink, kEcnCe, kDscpNoTrim));
  CHECK_FALSE(marks(PortBench::settings(true), 2, kDscpNoTrim));
  EgressSettings marking_last = PortBench::settings(true);
  marking_last.queues.ecn_last_hop = true;
  CHECK(marks(marking_last, 2, kDscpNoTrim));
  EgressSettings off = uplink;
  off.queues.ecn = false;
  CHECK_FALSE(marks(off, 2, kDscpNoTrim));
  PortBench control;
  control.fill_data(50'000);
  control.offer(1'000, kDscpControl);
  CHECK_FALSE(control.depart().ecn_marked);
}

TEST_CASE("marking changes the outer ECN bits and no other bit") {
  PortBench bench;
  bench.fill_data(45'000);
  std::vector<uint8_t> expected = bytes_of({.dscp = kDscpTrimmable, .size = 976});
  expected[15] |= 0x30;
  const Departure departure = bench.depart();
  CHECK(std::vector<uint8_t>(departure.frame.bytes().begin(), departure.frame.bytes().end()) ==
        expected);
}

TEST_CASE("the marks of two ports and two seeds differ, those of equal ones do not") {
  const auto pattern = [](uint64_t seed, uint32_t port) {
    EgressSettings settings = PortBench::settings(false);
    settings.wire.seed = seed;
    settings.wire.from.port = PortId{port};
    PortBench bench(settings);
    bench.fill_data(26'000);
    std::string out;
    for (int i = 0; i < 200; ++i) {
      out += bench.depart().ecn_marked ? 'm' : '.';
      bench.fill_data(1'000);
    }
    return out;
  };
  CHECK(pattern(1, 0) == pattern(1, 0));
  CHECK(pattern(1, 0) != pattern(1, 1));
  CHECK(pattern(1, 0) != pattern(2, 0));
}
