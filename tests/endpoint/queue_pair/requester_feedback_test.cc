// Timers, probes, and feedback that is to be ignored.

#include "endpoint/queue_pair/requester.h"

#include <doctest/doctest.h>

#include "tests/endpoint/queue_pair/requester_bench.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::kAll;
using mrclab::test::RequesterBench;
using mrclab::test::us;

TEST_CASE("silence: a tail probe after 40 us, and its answer decides") {
  RequesterBench b;
  b.post(4096 * 3);
  const auto p0 = b.send(0);
  b.send(0), b.send(0);
  CHECK(b.sack(0, 0, p0->ev, 0, 0, 10) == Refusal::kNone);
  CHECK(b.requester.deadline(FabricTime{}) == us(50));
  b.requester.on_timer(us(50));
  const auto probe = b.requester.next_probe(us(50));
  REQUIRE(probe);
  CHECK(!b.requester.next_probe(us(50)));
  Seth answer;
  answer.probe_response = true;
  answer.psn_offset_or_probe_id = probe->id;
  answer.entropy = probe->ev;
  answer.cumulative = b.first_psn;
  answer.sack_offset = 1;
  answer.bitmap = 0b10;  // packet 2 is there, 1 is not
  CHECK(b.requester.on_sack(answer, us(60)) == Refusal::kNone);
  CHECK(b.losses == std::vector<std::string>{"probe"});
  CHECK(b.send(60)->psn == Psn{101});
}

TEST_CASE("a path that is assumed bad is resurrected after three answers, marked if the last was") {
  bool marked = false;
  SUBCASE("not marked") {}
  SUBCASE("marked") { marked = true; }
  RequesterBench b;
  b.post(4096 * 4);
  const auto lost = b.send(0);
  const auto ok = b.send(20);
  b.sack(-1, 1, ok->ev, 20, 0b10, 30);
  REQUIRE(b.state(lost->ev) == EvState::kAssumedBad);
  for (int i = 0; i < 3; ++i) {
    CHECK(b.state(lost->ev) == EvState::kAssumedBad);
    const FabricTime due = us(50 + 20 * i);
    b.requester.on_timer(due);
    auto probe = b.requester.next_probe(due);
    while (probe && probe->ev != lost->ev) probe = b.requester.next_probe(due);  // tail probes
    REQUIRE(probe);
    Seth answer;
    answer.probe_response = true;
    answer.psn_offset_or_probe_id = probe->id;
    answer.entropy = probe->ev;
    answer.cumulative = b.first_psn + (-1);
    answer.sack_offset = 1;
    answer.bitmap = 0b10;
    if (marked && i == 2) answer.mark = SackMark::kSkipOnce;
    CHECK(b.requester.on_sack(answer, due + us(5)) == Refusal::kNone);
  }
  CHECK(b.state(lost->ev) == (marked ? EvState::kSkip : EvState::kGood));
  CHECK(b.stats.evs_regained == 1);
}

TEST_CASE("ALWAYS_SKIP takes a value out of use like a loss, and probes follow") {
  RequesterBench b;
  b.post(4096 * 4);
  const auto packet = b.send(0);
  CHECK(b.sack(0, 0, packet->ev, 0, 0, 10, SackMark::kAlwaysSkip) == Refusal::kNone);
  CHECK(b.state(packet->ev) == EvState::kAssumedBad);
  CHECK(b.losses.empty());
  CHECK(b.requester.deadline(FabricTime{}) <= us(30));
}

TEST_CASE("a denied value is not used, probed or revived, until it is allowed") {
  RequesterBench b;
  b.post(4096 * 40);
  const auto lost = b.send(0);
  const auto ok = b.send(20);
  b.sack(-1, 1, ok->ev, 20, 0b10, 30);
  REQUIRE(b.state(lost->ev) == EvState::kAssumedBad);
  b.requester.set_denied(lost->ev, true, us(31));
  b.requester.set_denied(lost->ev, true, us(31));  // once is enough
  for (int64_t now = 50; now < 400; now += 50) {
    b.requester.on_timer(us(now));
    while (const auto probe = b.requester.next_probe(us(now))) CHECK(probe->ev != lost->ev);
  }
  b.requester.set_live_ports({0}, us(400));
  b.requester.set_live_ports({kAll}, us(401));
  CHECK(b.state(lost->ev) == EvState::kDenied);
  for (int i = 0; i < 12; ++i) {
    if (const auto packet = b.send(402)) CHECK(packet->ev != lost->ev);
  }
  b.requester.set_denied(lost->ev, false, us(410));
  CHECK(b.state(lost->ev) == EvState::kGood);
  using Change = std::pair<EntropyValue, EvState>;
  CHECK(b.changes == std::vector<Change>{{lost->ev, EvState::kAssumedBad},
                                         {lost->ev, EvState::kDenied},
                                         {lost->ev, EvState::kGood}});
  b.requester.set_denied({0xFFFF'FFFF}, true, us(411));  // not one of ours
}

TEST_CASE("forged feedback is refused under its own name and changes nothing") {
  RequesterBench b;
  b.post(4096 * 4);
  const auto p = b.send(0);
  b.send(0);
  const auto unchanged = [&] {
    return b.requester.outstanding().size() == 2 && b.requester.outstanding().in_flight() == 2 &&
           b.completed.empty() && b.changes.empty() && b.failure.empty();
  };
  CHECK(b.sack(2, 2, p->ev, 0, 0, 1) == Refusal::kSackOfFuture);
  CHECK(b.sack(-1, 0, p->ev, 0, 0b111, 1) == Refusal::kSackOfFuture);
  CHECK(b.sack(-1, 0, p->ev, 0, uint64_t{1} << 63, 1) == Refusal::kSackOfFuture);
  CHECK(b.sack(0x70'0000, 0, p->ev, 0, 0, 1) == Refusal::kSackOfFuture);
  CHECK(b.sack(-1, 0, {0x1234'5678}, 0, 1, 1) == Refusal::kUnknownEv);
  CHECK(b.ack(2, 1) == Refusal::kAckOfFuture);
  CHECK(b.ack(2, 1, 0x62) == Refusal::kAckOfFuture);
  CHECK(b.ack(-1, 1, 0x62) == Refusal::kStaleFeedback);
  CHECK(b.nack(2, p->ev, 0, NackReason::kTrimmed, 1) == Refusal::kNackOfUnsent);
  CHECK(b.nack(-1, p->ev, 0, NackReason::kTrimmed, 1) == Refusal::kStaleFeedback);
  CHECK(b.nack(0, p->ev, 55, NackReason::kUnexpectedEvent, 1) == Refusal::kStaleFeedback);
  CHECK(b.nack(0, p->ev, 0, static_cast<NackReason>(0x77), 1) == Refusal::kMalformed);
  CHECK(unchanged());
  // Old but true: nothing new.
  CHECK(b.sack(-1, 0, p->ev, 0, 0, 1) == Refusal::kNone);
  CHECK(unchanged());
  // An old cumulative PSN half the number space away is the past, not the future.
  CHECK(b.sack(-0x70'0000, 0, p->ev, 0, 0, 1) == Refusal::kNone);
  CHECK(unchanged());
}

TEST_CASE("a NAK fails the queue pair with what it says") {
  for (const auto& [syndrome, failure] : {std::pair{0x61, "Remote Invalid Request Error"},
                                          {0x62, "Remote Access Error"},
                                          {0x63, "Remote Operation Error"},
                                          {0x65, "Inflight WriteImm Limit Exceeded"},
                                          {0x60, "Remote Operation Error"}}) {
    RequesterBench b;
    b.post(100);
    b.send(0);
    CHECK(b.ack(0, 1, static_cast<uint8_t>(syndrome)) == Refusal::kNone);
    CHECK(b.failure == failure);
  }
}

TEST_CASE("receiver-not-ready and reserved syndromes do not exist in MRC") {
  RequesterBench b;
  b.post(100);
  b.send(0);
  for (const int syndrome : {0x20, 0x3F, 0x40, 0x80, 0xE2}) {
    CHECK(b.ack(0, 1, static_cast<uint8_t>(syndrome)) == Refusal::kMalformed);
  }
  CHECK(b.completed.empty());
  CHECK(b.failure.empty());
}

TEST_CASE("a packet that was SACKed, even cumulatively, may still be NAKed, an ACKed one not") {
  RequesterBench b;
  b.post(100);
  b.post(4096 * 3);
  const auto first = b.send(0);
  for (int i = 0; i < 3; ++i) b.send(0);
  CHECK(b.sack(2, 2, first->ev, 0, 0, 10) == Refusal::kNone);
  CHECK(b.ack(0, 11) == Refusal::kNone);
  CHECK(b.ack(0, 12, 0x62) == Refusal::kStaleFeedback);
  CHECK(b.failure.empty());
  CHECK(b.ack(1, 12, 0x62) == Refusal::kNone);
  CHECK(b.failure == "Remote Access Error");
}

TEST_CASE(
    "a failure flushes what is outstanding in order, names the culprit and frees the window") {
  RequesterBench b;
  for (int i = 0; i < 5; ++i) b.post(4096);
  for (int i = 0; i < 4; ++i) b.send(0);
  b.ack(0, 5);
  CHECK(b.ack(2, 6, 0x62) == Refusal::kNone);
  CHECK(b.completed == std::vector<uint64_t>{1});
  CHECK(b.flushed ==
        std::vector<std::pair<uint64_t, std::string>>{
            {2, "flushed"}, {3, "Remote Access Error"}, {4, "flushed"}, {5, "flushed"}});
  CHECK(b.window.in_flight().value == 0);
  CHECK(b.ack(3, 7) == Refusal::kQpInError);
  CHECK(b.completed.size() == 1);
}

TEST_CASE("UNEXP_EVENT is not retried: a remote operation error of the write that it names") {
  RequesterBench b;
  b.post(100), b.post(100);
  b.send(0);
  const auto p = b.send(0);
  CHECK(b.nack(1, p->ev, 0, NackReason::kUnexpectedEvent, 9) == Refusal::kNone);
  CHECK(b.failure == "Remote Operation Error");
  REQUIRE(b.flushed.size() == 2);
  CHECK(b.flushed[0].second == "flushed");
  CHECK(b.flushed[1].second == "Remote Operation Error");
}

TEST_CASE(
    "what a receiver lacks is retried after each interval, linear then doubled, without blame") {
  for (const NackReason reason : {NackReason::kNoBitmap, NackReason::kNoPacketBuffer,
                                  NackReason::kNoResource, NackReason::kPsnOutOfWindow}) {
    RequesterBench b;
    b.post(4096 * 2);
    std::vector<FabricTime> rounds;
    FabricTime now;
    for (; b.failure.empty() && rounds.size() < 100; now = b.next_retry(now)) {
      std::vector<DataPacket> sent;
      while (const auto p = b.requester.next_packet(kAll, now)) sent.push_back(*p);
      if (sent.empty()) continue;
      REQUIRE(sent.size() == 2);
      rounds.push_back(now);
      for (const DataPacket& p : sent) {
        const Refusal expected = b.failure.empty() ? Refusal::kNone : Refusal::kQpInError;
        const int64_t at = now.ns() / 1000;
        CHECK(b.nack(p.psn - b.first_psn, p.ev, at, reason, at + 5) == expected);
        CHECK_FALSE(b.requester.ready(now + us(5)));
      }
      now += us(5);
    }
    CHECK(b.failure == "Retry Counter Exceeded");
    REQUIRE(rounds.size() == 11);  // the first one, and 7 + 3 retries
    for (size_t i = 1; i < rounds.size(); ++i) {
      const int64_t interval = i <= 7 ? 80 : 80 << (i - 7);
      CHECK(rounds[i] - rounds[i - 1] == us(interval + 5));
    }
    CHECK(b.changes.empty());
    CHECK(b.losses.empty());
    CHECK(b.stats.resource_nacks_received == 21);  // the last packet met a failed queue pair
    CHECK(b.window.refused == 20);
    CHECK(b.window.in_flight().value == 0);
  }
}

TEST_CASE(
    "while a refused packet waits others go, and refusals within its interval are no retries") {
  RequesterBench b;
  b.post(4096 * 40);
  for (int i = 0; i < 30; ++i) {
    const auto p = b.send(i);
    REQUIRE(p);
    CHECK_FALSE(p->retransmission);
    CHECK(b.nack(i, p->ev, i, NackReason::kNoPacketBuffer, i + 1) == Refusal::kNone);
  }
  CHECK(b.failure.empty());
  // A SACK for one of them, from a copy that a wire made: it does not go again.
  const auto p = b.send(50);
  CHECK(b.sack(-1, 30, p->ev, 50, 0b10, 60) == Refusal::kNone);
  int again = 0;
  for (FabricTime now = us(60); now < us(130); now = b.next_retry(now)) {
    while (const auto q = b.requester.next_packet(kAll, now)) {
      if (q->retransmission) ++again;
      CHECK(q->psn - b.first_psn != 1);
    }
  }
  CHECK(again == 29);
  CHECK(b.failure.empty());
}

TEST_CASE("a refusal that comes after its packet was held for lost takes the blame back") {
  RequesterBench b;
  b.post(4096 * 3);
  const auto first = b.send(0);
  b.send(0);
  const auto third = b.send(30);
  b.sack(-1, 2, third->ev, 30, 0b100, 40);  // those of 20 us before are lost
  REQUIRE(b.losses.size() == 2);
  REQUIRE(b.state(first->ev) == EvState::kAssumedBad);
  CHECK(b.nack(0, first->ev, 0, NackReason::kNoPacketBuffer, 45) == Refusal::kNone);
  CHECK(b.state(first->ev) == EvState::kGood);
  CHECK(b.stats.spurious_losses == 1);
}
