// What holds for NSCC whatever happens.

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tests/endpoint/congestion/nscc_bench.h"
#include "tests/support/property.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using namespace mrclab::endpoint::test_nscc;

namespace {

/// One event of a random history.
struct Step {
  int kind;        ///< 0-5 SACK, 6 trim, 7 loss, 8 withdrawal, 9 ports
  uint64_t bytes;  ///< sent before it, and reported by it
  int64_t delay;   ///< ns
  int64_t gap;     ///< ns since the step before
  bool marked;
  uint8_t penalty;
};

std::vector<Step> steps() {
  const auto bytes = [] { return *rc::gen::inRange<uint64_t>(1, 60'000); };
  std::vector<Step> all;
  const int count = *rc::gen::inRange(1, 200);
  for (int i = 0; i < count; ++i) {
    all.push_back({*rc::gen::inRange(0, 10), bytes(), *rc::gen::inRange<int64_t>(-6'000, 90'000),
                   *rc::gen::inRange<int64_t>(0, 30'000), *rc::gen::arbitrary<bool>(),
                   *rc::gen::element<uint8_t>(0, 0, 0, 5, 127)});
  }
  return all;
}

void play(NsccBench& b, const Step& step, FabricTime now) {
  if (step.kind == 9) return b.nscc.on_live_ports(static_cast<uint32_t>(step.bytes % 9));
  b.nscc.on_sent({step.bytes}, ns(0));
  if (step.kind == 6) {
    return b.nscc.on_trimmed({{step.bytes}}, CongestionControl::TrimmedAt::kLastHop, now);
  }
  if (step.kind == 7) return b.nscc.on_lost({{step.bytes}}, now);
  if (step.kind == 8) return b.nscc.on_withdrawn({step.bytes});
  Acknowledgement news;
  news.arrived = news.left_flight = {step.bytes};
  news.marked = step.marked;
  news.receiver_penalty = step.penalty;
  news.restore_cwnd = step.bytes % 2 == 0;
  if (step.kind != 0) news.rtt = RttSample{ns(kBase + step.delay), step.bytes > 1'000};
  b.nscc.on_acknowledged(news, now);
}

}  // namespace

TEST_CASE("whatever happens the window stays between one MTU and the largest") {
  CHECK(test::counterexample([] {
          NsccBench b;
          FabricTime now;
          uint64_t in_flight = 0;
          for (const Step& step : steps()) {
            now += ns(step.gap);
            const uint64_t standing = step.bytes % 7 * 100;
            b.nscc.on_sent({standing}, ns(0));
            in_flight += standing;
            play(b, step, now);
            RC_ASSERT(b.nscc.window() >= b.nscc.parameters().mtu);
            RC_ASSERT(b.nscc.window() <= b.nscc.max_window());
            RC_ASSERT(b.nscc.in_flight().value == in_flight);
            RC_ASSERT(b.nscc.base_rtt() <= ns(kBase));
            RC_ASSERT(b.nscc.average_delay() >= ns(0));
          }
        }) == "");
}

TEST_CASE("marks without delay never cut, and unmarked delay alone never does") {
  CHECK(test::counterexample([] {
          NsccBench b;
          b.shrink_to(100'000);
          FabricTime now;
          uint64_t before = b.window();
          const bool marked = *rc::gen::arbitrary<bool>();
          for (Step step : steps()) {
            now += ns(step.gap);
            step.kind = 1;
            step.penalty = 0;
            step.marked = marked;
            step.delay = marked ? step.delay % 8'000 : step.delay;
            step.delay = std::max<int64_t>(step.delay, 0);
            play(b, step, now);
            RC_ASSERT(b.window() >= before);
            before = b.window();
          }
        }) == "");
}

TEST_CASE("SACKs alone cut at most once per base RTT, and leave at least half") {
  CHECK(test::counterexample([] {
          NsccBench b([](TransportProfile& p) { p.nscc_delay_alpha = {1'000'000'000}; });
          FabricTime now, last_cut = ns(-1'000'000);
          for (Step step : steps()) {
            now += ns(step.gap);
            step.kind = 1;
            step.penalty = 0;
            step.delay = std::max<int64_t>(step.delay, 0);
            const uint64_t before = b.window();
            play(b, step, now);
            if (b.window() >= before) continue;
            RC_ASSERT(b.window() >= before / 2);
            RC_ASSERT(now - last_cut > b.nscc.base_rtt());
            last_cut = now;
          }
        }) == "");
}

TEST_CASE(
    "trims and losses never raise the window, and cost at most their size or go to arrivals") {
  CHECK(test::counterexample([] {
          NsccBench b([](TransportProfile& p) { p.nscc_disable_qa = true; });
          FabricTime now;
          for (const Step& step : steps()) {
            now += ns(step.gap);
            const uint64_t before = b.window();
            play(b, step, now);
            if (step.kind != 6 && step.kind != 7) continue;
            RC_ASSERT(b.window() <= before);
            RC_ASSERT(b.window() + step.bytes >= before);
          }
        }) == "");
}
