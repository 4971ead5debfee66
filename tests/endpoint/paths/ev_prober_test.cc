#include "endpoint/paths/ev_prober.h"

#include <doctest/doctest.h>

#include "endpoint/options/profile_maker.h"
#include "tests/support/fabrics.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::us;

namespace {

/// Round numbers: RTT 10 us, no jitter.
const TransportProfile& profile() {
  static const TransportProfile made = [] {
    TransportProfile p = make_profile("lab", test::octet());
    p.base_rtt = FabricTime::from_us(10);
    p.probe_interval = p.base_rtt * 2;
    p.probe_interval_max = p.base_rtt * 32;
    p.damping_window = p.base_rtt * 500;
    p.probe_jitter_percent = 0;
    return p;
  }();
  return made;
}

}  // namespace

TEST_CASE("probes back off by half each time without an answer, up to 32 RTT") {
  EvProber prober(profile(), 1, NodeId{0}, 0);
  prober.assumed_bad(2, us(0));
  std::vector<int64_t> gaps;
  FabricTime last = us(0);
  for (uint16_t id = 1; id <= 10; ++id) {
    const FabricTime due = prober.next_due();
    CHECK(!prober.due(due - FabricTime::from_ps(1), id));
    CHECK(prober.due(due, id) == 2);
    gaps.push_back((due - last).ns());
    last = due;
  }
  CHECK(gaps == std::vector<int64_t>{20'000, 20'000, 30'000, 45'000, 67'500, 101'250, 151'875,
                                     227'812, 320'000, 320'000});
}

TEST_CASE("three answered probes in a row resurrect, and a silent one starts the count again") {
  EvProber prober(profile(), 1, NodeId{0}, 0);
  prober.assumed_bad(1, us(0));
  uint32_t ev = 99;
  CHECK(prober.due(us(20), 1) == 1);
  CHECK(prober.answered(1, us(30), ev) == EvProber::Answer::kCounted);
  CHECK(prober.due(prober.next_due(), 2) == 1);
  CHECK(prober.due(prober.next_due(), 3) == 1);  // 2 was not answered
  CHECK(prober.answered(2, us(80), ev) == EvProber::Answer::kUnknown);
  CHECK(prober.answered(3, us(80), ev) == EvProber::Answer::kCounted);
  CHECK(prober.due(prober.next_due(), 4) == 1);
  CHECK(prober.answered(4, us(120), ev) == EvProber::Answer::kCounted);
  CHECK(prober.due(prober.next_due(), 5) == 1);
  CHECK(prober.answered(5, us(160), ev) == EvProber::Answer::kResurrect);
  CHECK(ev == 1);
  CHECK(!prober.watches(1));
  CHECK(prober.next_due() == FabricTime::never());
}

TEST_CASE("a value is falsely accused if its first probe was answered, and all others") {
  EvProber prober(profile(), 1, NodeId{0}, 0);
  uint32_t ev = 99;
  const auto revive = [&](uint32_t value, FabricTime begin, bool first_is_lost) {
    prober.assumed_bad(value, begin);
    FabricTime now = begin;
    uint16_t id = 0;
    if (first_is_lost) prober.due(prober.next_due(), ++id);
    do {
      now = prober.next_due();
      REQUIRE(prober.due(now, ++id) == value);
    } while (prober.answered(id, now + us(10), ev) != EvProber::Answer::kResurrect);
    return now + us(10);
  };
  CHECK(!prober.was_falsely_accused(1, us(0)));
  const FabricTime back = revive(1, us(0), false);
  CHECK(prober.was_falsely_accused(1, back));
  CHECK(prober.was_falsely_accused(1, back + us(5'000)));
  CHECK(!prober.was_falsely_accused(1, back + us(5'001)));
  const FabricTime other = revive(2, us(200), true);
  CHECK(!prober.was_falsely_accused(2, other));
}

TEST_CASE("an answer is good for one probe only") {
  EvProber prober(profile(), 1, NodeId{0}, 0);
  prober.assumed_bad(1, us(0));
  uint32_t ev = 0;
  REQUIRE(prober.due(us(20), 7) == 1);
  CHECK(prober.answered(8, us(25), ev) == EvProber::Answer::kUnknown);
  CHECK(prober.answered(7, us(25), ev) == EvProber::Answer::kCounted);
  CHECK(prober.answered(7, us(26), ev) == EvProber::Answer::kUnknown);
}

TEST_CASE("a value that fails again within the damping window needs twice the successes") {
  EvProber prober(profile(), 1, NodeId{0}, 0);
  const auto successes_needed = [&](FabricTime start) {
    prober.assumed_bad(0, start);
    uint16_t id = 1;
    uint32_t ev = 0;
    while (true) {
      const FabricTime due = prober.next_due();
      prober.due(due, id);
      if (prober.answered(id++, due + us(5), ev) == EvProber::Answer::kResurrect) return id - 1;
    }
  };
  CHECK(successes_needed(us(0)) == 3);
  CHECK(successes_needed(us(1'000)) == 6);
  CHECK(successes_needed(us(3'000)) == 12);
  CHECK(successes_needed(us(20'000)) == 3);
}

TEST_CASE("a forgotten value is not probed") {
  EvProber prober(profile(), 1, NodeId{0}, 0);
  prober.assumed_bad(0, us(0));
  prober.assumed_bad(3, us(0));
  prober.forget(0);
  CHECK(prober.due(us(20), 1) == 3);
  CHECK(!prober.due(us(20), 2));
}
