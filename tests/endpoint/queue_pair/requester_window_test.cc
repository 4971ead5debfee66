// What a requester reports to its destination's window: bytes, marks, valid round trips, and why a packet
// left flight. Nominal packet size: 4,096 + 88.

#include <doctest/doctest.h>

#include "endpoint/queue_pair/requester.h"
#include "tests/endpoint/queue_pair/requester_bench.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::RequesterBench;
using mrclab::test::us;

namespace {

constexpr uint64_t kFull = 4'184;

}  // namespace

TEST_CASE("a SACK is told once, with everything that it acknowledges, marks and asks for") {
  RequesterBench b;
  b.post(4096 * 5);
  std::vector<DataPacket> sent;
  for (int i = 0; i < 5; ++i) sent.push_back(*b.send(i));
  Seth seth;
  seth.cumulative = b.first_psn + 1;
  seth.psn_offset_or_probe_id = 2;  // packet 3
  seth.entropy = sent[3].ev;
  seth.tx_timestamp = tx_timestamp(us(3));
  seth.sack_offset = 1;
  seth.bitmap = 0b10;
  seth.mark = SackMark::kSkipOnce;
  seth.receiver_penalty = 64;
  seth.restore_cwnd = true;
  CHECK(b.requester.on_sack(seth, us(12)) == Refusal::kNone);
  REQUIRE(b.window.acknowledged.size() == 1);
  const Acknowledgement& news = b.window.acknowledged.front();
  CHECK(news.arrived.value == 3 * kFull);  // packets 0, 1 and 3
  CHECK(news.left_flight.value == 3 * kFull);
  CHECK(news.marked);
  CHECK(news.receiver_penalty == 64);
  CHECK(news.restore_cwnd);
  REQUIRE(news.rtt);
  CHECK(news.rtt->rtt == us(9));
  CHECK(news.rtt->full_size);
  CHECK(b.window.in_flight().value == 2 * kFull);
}

TEST_CASE("a round trip counts only if the reflected timestamp is that of the transmission") {
  RequesterBench b;
  b.post(4096 * 2 + 100);
  const auto p0 = b.send(0), p1 = b.send(1), p2 = b.send(2);
  b.sack(0, 0, p0->ev, 5, 0, 10);  // packet 0 was not sent at 5
  CHECK_FALSE(b.window.acknowledged.back().rtt);
  b.sack(0, 0, p0->ev, 0, 0, 11);  // its answer comes after the cumulative PSN has passed it
  CHECK_FALSE(b.window.acknowledged.back().rtt);
  b.sack(0, 2, p2->ev, 2, 0b10, 12);
  REQUIRE(b.window.acknowledged.back().rtt);
  CHECK_FALSE(b.window.acknowledged.back().rtt->full_size);  // its payload is 100 bytes
  // In the bitmap of an earlier SACK already: its own answer still gives its round trip.
  b.sack(0, 2, p2->ev, 2, 0b10, 13);
  REQUIRE(b.window.acknowledged.back().rtt);
  CHECK(b.window.acknowledged.back().rtt->rtt == us(11));
  CHECK(b.window.acknowledged.back().arrived.value == 0);
  CHECK(p1);
}

TEST_CASE(
    "the time that a packet waited for its receiver's software is no part of its round trip") {
  const auto agreed = [](ConnectionLimits& limits) { limits.sending.service_time = true; };
  const auto refused = [](ConnectionLimits&) {};
  for (const bool tells : {true, false}) {
    RequesterBench b(Psn{100}, 1024, tells ? +agreed : +refused);
    b.post(4096);
    const auto packet = b.send(0);
    Seth seth;
    seth.cumulative = b.first_psn;
    seth.entropy = packet->ev;
    seth.tx_timestamp = tx_timestamp(us(0));
    seth.tx_timestamp += 250;  // 32 us in units of 128 ns
    CHECK(b.requester.on_sack(seth, us(42)) == Refusal::kNone);
    const std::optional<RttSample> rtt = b.window.acknowledged.back().rtt;
    CHECK(rtt.has_value() == tells);  // else it is another transmission's
    if (tells) CHECK(rtt->rtt == us(10));
  }
}

TEST_CASE("a service time longer than the round trip is a lie, or another transmission's") {
  RequesterBench b(Psn{100}, 1024, [](ConnectionLimits& l) { l.sending.service_time = true; });
  b.post(4096);
  const auto packet = b.send(0);
  b.sack(0, 0, packet->ev, 20, 0, 10);  // as if it had waited 20 us, after 10
  CHECK_FALSE(b.window.acknowledged.back().rtt);
}

TEST_CASE("a service time that leaves nothing for the way leaves a unit of the timestamp") {
  RequesterBench b(Psn{100}, 1024, [](ConnectionLimits& l) { l.sending.service_time = true; });
  b.post(4096);
  const auto packet = b.send(0);
  b.sack(0, 0, packet->ev, 16, 0, 16);  // 125 units of 128 ns: all of the 16 us
  REQUIRE(b.window.acknowledged.back().rtt);
  CHECK(b.window.acknowledged.back().rtt->rtt == FabricTime::from_ns(128));
}

TEST_CASE("a round trip of a retransmission counts, to UEC's letter of the second one only") {
  struct Case {
    NsccRules rules;
    int transmissions;
  };
  for (const Case& c :
       {Case{NsccRules::kUec, 2}, Case{NsccRules::kUec, 3}, Case{NsccRules::kEven, 3}}) {
    const NsccRules rules = c.rules;
    const int transmissions = c.transmissions;
    CAPTURE(transmissions);
    for (const bool newest_answered : {true, false}) {
      RequesterBench b(
          Psn{100}, 1024, [](ConnectionLimits&) {}, rules);
      b.post(4096);
      auto packet = b.send(0);
      for (int i = 1; i < transmissions; ++i) {
        b.nack(0, packet->ev, 10 * (i - 1), NackReason::kTrimmed, 10 * i);
        packet = b.send(10 * i);
      }
      const int64_t newest = 10 * (transmissions - 1);
      b.sack(0, 0, packet->ev, newest_answered ? newest : 0, 0, newest + 8);
      const std::optional<RttSample> rtt = b.window.acknowledged.back().rtt;
      const bool counts = rules == NsccRules::kEven || transmissions == 2;
      CHECK(rtt.has_value() == (counts && newest_answered));
      if (rtt) CHECK(rtt->rtt == us(8));
    }
  }
}

TEST_CASE("what arrives after it was held for lost has left flight already") {
  RequesterBench b;
  b.post(4096 * 2);
  const auto p0 = b.send(0), p1 = b.send(30);
  b.sack(-1, 1, p1->ev, 30, 0b10, 40);
  REQUIRE(b.window.lost == 1);
  CHECK(b.window.in_flight().value == 0);
  b.sack(1, 0, p0->ev, 0, 0, 41);
  CHECK(b.window.acknowledged.back().arrived.value == kFull);
  CHECK(b.window.acknowledged.back().left_flight.value == 0);
  CHECK(b.window.in_flight().value == 0);
}

TEST_CASE(
    "a trim is congestion wherever it happened, and a receiver's want of resources is its own") {
  struct Case {
    NackReason reason;
    int trimmed, refused;
  };
  for (const Case& c :
       {Case{NackReason::kTrimmed, 1, 0}, Case{NackReason::kTrimmedLastHop, 1, 0},
        Case{NackReason::kNoPacketBuffer, 0, 1}, Case{NackReason::kNoBitmap, 0, 1},
        Case{NackReason::kNoResource, 0, 1}, Case{NackReason::kPsnOutOfWindow, 0, 1}}) {
    RequesterBench b;
    b.post(4096);
    const auto packet = b.send(0);
    CHECK(b.nack(0, packet->ev, 0, c.reason, 10) == Refusal::kNone);
    CHECK(b.window.trimmed == c.trimmed);
    CHECK(b.window.refused == c.refused);
    CHECK(b.window.lost == 0);
    CHECK(b.window.in_flight().value == 0);
  }
}

TEST_CASE("a queue pair that fails gives back what it had in flight, and nobody is cut") {
  RequesterBench b;
  b.post(4096 * 3);
  b.send(0), b.send(1), b.send(2);
  b.requester.fail("Remote Operation Error");
  CHECK(b.window.withdrawn == 3);
  CHECK(b.window.lost == 0);
  CHECK(b.window.in_flight().value == 0);
}

TEST_CASE("a packet asks for an acknowledgement when the window wants one") {
  RequesterBench b;
  b.post(4096 * 4);
  CHECK_FALSE(b.send(0)->ack_request);
  b.window.wants = true;
  CHECK(b.send(1)->ack_request);
}

TEST_CASE("queue pairs that share a window ask before all of them wait for 16 KiB to be answered") {
  RequesterBench b;
  b.post(4096 * 16);
  const auto asked = [&](uint32_t queue_pairs) {
    b.window.share_among(queue_pairs);
    std::string which;
    for (int i = 0; i < 4; ++i) which += b.send(i)->ack_request ? 'A' : '-';
    return which;
  };
  CHECK(b.window.window().value == 25'000'000);
  CHECK(asked(1) == "----");
  CHECK(asked(350) == "----");   // 17,857 bytes each: more than a receiver's own threshold
  CHECK(asked(1000) == "A-A-");  // 6,250 bytes each, in packets of 4,178
}

TEST_CASE(
    "the scheduler's states: idle, ready, active when the window is full, pending at the end") {
  RequesterBench b;
  const auto state = [&] { return b.requester.scheduler_state(FabricTime{}); };
  CHECK(state() == SchedulerState::kIdle);
  b.post(4096 * 2);
  CHECK(state() == SchedulerState::kReady);
  const auto p0 = b.send(0);
  CHECK(state() == SchedulerState::kReady);
  b.window.on_live_ports(0);
  CHECK(state() == SchedulerState::kActive);
  b.window.on_live_ports(2);
  const auto p1 = b.send(1);
  CHECK(state() == SchedulerState::kPending);
  b.nack(1, p1->ev, 1, NackReason::kTrimmed, 10);  // to be retransmitted
  CHECK(state() == SchedulerState::kReady);
  const auto again = b.send(11);
  b.sack(1, 1, again->ev, 11, 0, 20);
  CHECK(state() == SchedulerState::kPending);  // the transport ACK is missing
  b.ack(1, 21);
  CHECK(state() == SchedulerState::kIdle);
  CHECK(p0);
  b.post(1);
  b.send(29);
  b.requester.fail("Remote Operation Error");
  CHECK(state() == SchedulerState::kIdle);
}
