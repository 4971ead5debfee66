// Adaptive routing of RoCE's data: the uplink whose queue is shortest in four steps, else a draw.

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "fixture.h"
#include "tests/support/sample_frames.h"

using namespace mrclab;
using namespace mrclab::switchd;
using namespace mrclab::switchd::testing;

namespace {

/// Queues of RoCE's data with a limit of 85,000 bytes, twenty frames: 5 % are one frame.
Topology adaptive_fabric() {
  FabricShape shape;
  shape.name = "adaptive";
  shape.planes = 1;
  shape.t0 = shape.hosts_per_t0 = 2;
  shape.t1 = 4;
  shape.routing = {Routing::kEcmp, Underlay::kIpv6, false, false};
  shape.lossless.adaptive = true;
  Topology topology = build_topology(shape);
  topology.fabric_queues.lossless_limit = Bytes{85'000};
  return topology;
}

constexpr uint32_t kUplinks = 4;
PortId uplink(uint32_t number) { return {2 + number}; }

struct AdaptiveBench : Bench {
  explicit AdaptiveBench(uint64_t seed = 1) : Bench("p0.t0-0", adaptive_fabric(), seed) {}

  /// From h0 to h2: one flow, whose packets are alike.
  std::vector<uint8_t> packet(size_t size = 4226, uint8_t dscp = kDscpLossless) const {
    std::vector<uint8_t> bytes = bytes_of({.dscp = dscp, .size = size});
    const Ipv6Address source = host_address(topology, 0), destination = host_address(topology, 2);
    std::copy(source.begin(), source.end(), bytes.begin() + 22);
    std::copy(destination.begin(), destination.end(), bytes.begin() + 38);
    bytes[20] = 17;
    return bytes;
  }
  /// So many frames of RoCE wait at an uplink, behind one that is being sent.
  void load(uint32_t number, uint32_t frames) {
    const FrameText text{.carrier = "5f00:0:2000:100" + std::to_string(number) + ":2001:e000::",
                         .dscp = kDscpLossless};
    for (uint32_t i = 0; i <= frames; ++i)
      arrive(kD1, ps(1'000'000), text);  // the first one leaves
  }
  std::map<uint32_t, uint32_t> sent_by_uplink() const {
    std::map<uint32_t, uint32_t> out;
    for (const Sent& sent : notes.sent) ++out[sent.port.value - 2];
    return out;
  }
  /// Where a packet goes that comes out of the pipeline at 1,700,001 ps.
  uint32_t choice(const std::vector<uint8_t>& bytes) {
    std::array<Bytes, kUplinks> before;
    arrive_bytes(kD0, ps(1'000'001), bytes);
    run(ps(1'700'000));
    for (uint32_t i = 0; i < kUplinks; ++i) before[i] = queued(i);
    run(ps(1'700'001));
    for (uint32_t i = 0; i < kUplinks; ++i) {
      if (queued(i) > before[i]) return i;
    }
    return kUplinks;
  }
  Bytes queued(uint32_t number) const { return counters(uplink(number)).lossless_depth; }
};

}  // namespace

TEST_CASE("a packet goes to the uplink with the least step of queue: 5, 10 and 20 % of the limit") {
  struct Row {
    const char* about;
    std::array<uint32_t, kUplinks> waiting;  // frames of 5 %
    std::set<uint32_t> expected;
  };
  const Row rows[] = {
      {"one below 5 %", {1, 0, 1, 1}, {1}},
      {"one below 10 %", {2, 2, 1, 2}, {2}},
      {"one below 20 %", {4, 4, 4, 3}, {3}},
      {"two below 20 %, not the same", {4, 2, 3, 4}, {1, 2}},
      {"all of 20 % and more are alike", {4, 9, 5, 16}, {0, 1, 2, 3}},
  };
  for (const Row& row : rows) {
    INFO(row.about);
    std::set<uint32_t> chosen;
    for (uint64_t seed = 1; seed <= 60; ++seed) {
      AdaptiveBench bench(seed);
      for (uint32_t i = 0; i < kUplinks; ++i) bench.load(i, row.waiting[i]);
      chosen.insert(bench.choice(bench.packet()));
    }
    CHECK(chosen == row.expected);
  }
}

TEST_CASE("among equal uplinks each is drawn as often, and an uplink without carrier never") {
  AdaptiveBench bench;
  bench.apply(ps(1), PortCarrier{{bench.self, uplink(2)}, false});
  for (int64_t i = 1; i <= 3'000; ++i) {
    bench.arrive_bytes(kD0, ps(i * 1'000'000), bench.packet());
  }
  bench.run(FabricTime::from_ms(20));
  const auto sent = bench.sent_by_uplink();
  CHECK(sent.count(2) == 0);
  for (const uint32_t number : {0u, 1u, 3u}) {
    INFO(number);
    CHECK(sent.at(number) > 1'000 - 104);  // four standard deviations
    CHECK(sent.at(number) < 1'000 + 104);
  }
}

TEST_CASE("short packets, and those of other classes, go by their hash") {
  struct Row {
    size_t size;
    uint8_t dscp;
    bool sprayed;
  };
  for (const Row row : {Row{100, kDscpLossless, true}, Row{99, kDscpLossless, false},
                        Row{4226, kDscpTrimmable, false}, Row{4226, kDscpControl, false}}) {
    INFO(row.size << " bytes, DSCP " << int{row.dscp});
    AdaptiveBench bench;
    for (int64_t i = 1; i <= 40; ++i) {
      bench.arrive_bytes(kD0, ps(i * 1'000'000), bench.packet(row.size, row.dscp));
    }
    bench.run(FabricTime::from_ms(20));
    CHECK(bench.sent_by_uplink().size() == (row.sprayed ? kUplinks : 1));
  }
}
