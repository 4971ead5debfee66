// Losses that were none: how they show, and what is put right.

#include "endpoint/queue_pair/requester.h"

#include <doctest/doctest.h>

#include "endpoint/options/profile_maker.h"
#include "tests/endpoint/queue_pair/requester_bench.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::kAll;
using mrclab::test::us;

namespace {

/// Packet 0 is sent at 0 us and taken for lost at 35 us.
struct OneLoss : test::RequesterBench {
  OneLoss() {
    post(4096 * 10);
    lost = *send(0);
    const auto second = send(1);
    sack(-1, 1, second->ev, 1, 0b10, 11);  // round trip 10 us
    const auto late = send(25);
    sack(-1, 2, late->ev, 25, 0b110, 35);
    REQUIRE(losses.size() == 1);
    REQUIRE(state(lost.ev) == EvState::kAssumedBad);
  }
  DataPacket lost;
};

bool put_right(OneLoss& b) {
  return b.stats.spurious_losses == 1 && b.state(b.lost.ev) == EvState::kGood &&
         b.stats.evs_regained == 1 && b.changes.size() == 2;
}

}  // namespace

TEST_CASE("a packet that arrives before it is sent again was never lost") {
  OneLoss b;
  b.sack(2, 2, b.lost.ev, 25, 0, 36);
  CHECK(put_right(b));
  CHECK(!b.send(36)->retransmission);
}

TEST_CASE("a timestamp of the first transmission shows that the second one was in vain") {
  OneLoss b;
  REQUIRE(b.send(36)->retransmission);
  b.sack(2, 0, b.lost.ev, 0, 0, 60);
  CHECK(put_right(b));
}

TEST_CASE("an answer sooner than a round trip shows it too, one in time does not") {
  for (const int64_t answered : {43, 44}) {
    OneLoss b;
    REQUIRE(b.send(36)->retransmission);
    b.sack(2, 2, b.lost.ev, 25, 0, answered);  // 7.5 us is three quarters of the round trip
    CHECK(put_right(b) == (answered == 43));
    CHECK(b.stats.spurious_losses == (answered == 43 ? 1 : 0));
  }
}

TEST_CASE("a retransmission that was needed puts nothing right") {
  OneLoss b;
  const auto again = b.send(36);
  b.sack(2, 0, again->ev, 36, 0, 46);
  CHECK(b.stats.spurious_losses == 0);
  CHECK(b.state(b.lost.ev) == EvState::kAssumedBad);
}

TEST_CASE("a trim is no judgement of the sender that could be wrong") {
  test::RequesterBench b;
  b.post(4096 * 4);
  const auto p = b.send(0);
  b.nack(0, p->ev, 0, NackReason::kTrimmed, 5);
  CHECK(b.sack(0, 0, p->ev, 0, 0, 6) == Refusal::kNone);
  CHECK(b.stats.spurious_losses == 0);
}

TEST_CASE("a newer loss held against a value keeps it out, and so does ALWAYS_SKIP") {
  for (const bool by_mark : {false, true}) {
    test::RequesterBench b;
    b.post(4096 * 40);
    const auto first = b.send(0);
    // More on the same value, all of it lost.
    std::optional<DataPacket> newer;
    std::vector<DataPacket> others;
    while (!newer && others.size() < 8) {
      const auto p = b.send(2);
      if (p->ev == first->ev) {
        newer = p;
      } else {
        others.push_back(*p);
      }
    }
    REQUIRE(newer);
    const auto late = b.send(30);
    const int trigger = late->psn - b.first_psn;
    b.sack(-1, trigger, by_mark ? first->ev : late->ev, 30, uint64_t{1} << trigger, 40,
           by_mark ? SackMark::kAlwaysSkip : SackMark::kNone);
    REQUIRE(b.state(first->ev) == EvState::kAssumedBad);
    REQUIRE(b.losses.size() >= 2);
    b.sack(0, 0, late->ev, 0, 0, 41);  // only the first one arrived
    CHECK(b.stats.spurious_losses == 1);
    CHECK(b.state(first->ev) == EvState::kAssumedBad);
    b.sack(newer->psn - b.first_psn, newer->psn - b.first_psn, late->ev, 2, 0, 42);
    CHECK(b.state(first->ev) == (by_mark ? EvState::kAssumedBad : EvState::kGood));
  }
}

TEST_CASE("a value that was never bad starts its damping as if nothing had been") {
  TransportProfile p = make_profile("lab", test::octet());
  p.revive_successes = 1;
  p.probe_jitter_percent = 0;
  EvProber prober(p, 1, NodeId{0}, 0);
  prober.assumed_bad(2, us(100));
  prober.exonerate(2);
  CHECK(!prober.watches(2));
  prober.assumed_bad(2, us(101));
  CHECK(prober.due(us(1000), 7) == 2u);
  uint32_t ev = 0;
  CHECK(prober.answered(7, us(1001), ev) == EvProber::Answer::kResurrect);
}

TEST_CASE("after a loss that was none the time rule waits longer") {
  OneLoss b;
  b.sack(2, 2, b.lost.ev, 25, 0, 36);
  REQUIRE(put_right(b));
  const auto next = b.send(40);
  const auto late = b.send(61);  // 20 us would be lost; now it takes 22.5 us
  const int trigger = late->psn - b.first_psn;
  b.sack(2, trigger, late->ev, 61, uint64_t{1} << (trigger - 3), 71);
  CHECK(b.losses.size() == 1);
  const auto later = b.send(63);
  const int last = later->psn - b.first_psn;
  b.sack(2, last, later->ev, 63, uint64_t{1} << (last - 3), 73);
  CHECK(b.losses.size() == 2);
  CHECK(next->psn == b.first_psn + 3);
}

TEST_CASE("a header that was trimmed and comes late shows that the path works") {
  OneLoss b;
  CHECK(b.nack(0, b.lost.ev, 0, NackReason::kTrimmed, 36) == Refusal::kNone);
  CHECK(put_right(b));
  const auto again = b.send(36);  // it is still missing
  REQUIRE(again);
  CHECK(again->retransmission);
  CHECK(b.nack(0, b.lost.ev, 1, NackReason::kTrimmed, 37) == Refusal::kStaleFeedback);
}

TEST_CASE("where most packets are trimmed just now one silent loss is not held against its path") {
  for (const int trims : {2, 20}) {
    test::RequesterBench b;
    b.window.on_live_ports(100);
    b.post(4096 * 40);
    const auto silent = b.send(0);
    std::vector<DataPacket> others;
    for (int i = 0; i < trims; ++i) others.push_back(*b.send(1));
    for (int i = 0; i < trims; ++i) {
      CHECK(b.nack(1 + i, others[static_cast<size_t>(i)].ev, 1, NackReason::kTrimmedLastHop, 29) ==
            Refusal::kNone);
    }
    std::optional<DataPacket> late;
    for (int i = 0; i <= trims; ++i) late = b.send(30);  // all of them again, and a new one
    b.sack(-1, trims + 1, late->ev, 30, 0, 40);
    REQUIRE(b.losses.size() == 1);
    CHECK((b.state(silent->ev) == EvState::kAssumedBad) == (trims == 2));
  }
}
