#include "endpoint/queue_pair/requester.h"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include "tests/endpoint/queue_pair/requester_bench.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::kAll;
using mrclab::test::RequesterBench;
using mrclab::test::us;

TEST_CASE("a write is cut at the PMTU and every packet carries address, rkey and whole length") {
  RequesterBench b;
  REQUIRE(b.post(2 * 4096 + 100, 0xBEEF));
  const auto p1 = b.send(0), p2 = b.send(0), p3 = b.send(0);
  REQUIRE(p3);
  CHECK(!b.send(0));
  CHECK(p1->opcode == Opcode::kWriteFirst);
  CHECK(p2->opcode == Opcode::kWriteMiddle);
  CHECK(p3->opcode == Opcode::kWriteLastImm);
  CHECK(p3->immediate == 0xBEEFu);
  CHECK(!p1->immediate);
  CHECK(p1->psn == Psn{100});
  CHECK(p3->psn == Psn{102});
  CHECK(p2->reth.va == 0x10'0000 + 4096);
  CHECK(p3->payload.size() == 100);
  CHECK(p3->payload.data() == b.memory.data() + 8192);
  for (const auto& p : {p1, p2, p3}) {
    CHECK(p->reth.dma_length == 8292);
    CHECK(p->reth.rkey == 7);
    CHECK(p->meth.msn == 1);
    CHECK(p->meth.rqmsn == 1);
  }
  CHECK(!p1->ack_request);
  CHECK(p3->ack_request);
}

TEST_CASE("one-packet writes are ONLY, plain writes do not count RQMSN") {
  RequesterBench b;
  b.post(10);
  b.post(10, 1);
  CHECK(b.send(0)->opcode == Opcode::kWriteOnly);
  const auto second = b.send(0);
  CHECK(second->opcode == Opcode::kWriteOnlyImm);
  CHECK(second->meth.msn == 2);
  CHECK(second->meth.rqmsn == 1);
  CHECK(b.post(0));  // no bytes are one packet, too
  const auto empty = b.send(0);
  CHECK(empty->opcode == Opcode::kWriteOnly);
  CHECK(empty->payload.empty());
  CHECK(empty->reth.dma_length == 0);
}

TEST_CASE("a write completes on the transport ACK that covers its last packet, not on SACK") {
  RequesterBench b;
  b.post(8192);
  b.post(100);
  const auto ev = b.send(0)->ev;
  b.send(0), b.send(0);
  CHECK(b.sack(2, 2, ev, 0, 0, 10) == Refusal::kNone);
  CHECK(b.completed.empty());
  CHECK(b.requester.outstanding().size() == 0);
  CHECK(b.ack(0, 11) == Refusal::kNone);
  CHECK(b.completed.empty());
  CHECK(b.ack(1, 12) == Refusal::kNone);
  CHECK(b.completed == std::vector<uint64_t>{1});
  b.ack(2, 13);
  CHECK(b.completed == std::vector<uint64_t>{1, 2});
}

TEST_CASE("the PSN wraps without anybody noticing") {
  RequesterBench b(Psn{0xFFFFFE});
  b.post(4096 * 5);
  std::vector<uint32_t> psns;
  EntropyValue ev;
  for (int i = 0; i < 5; ++i) {
    const auto p = b.send(i);
    psns.push_back(p->psn.value());
    ev = p->ev;
  }
  CHECK(psns == std::vector<uint32_t>{0xFFFFFE, 0xFFFFFF, 0, 1, 2});
  CHECK(b.sack(-1, 3, ev, 3, 0b01000, 13) == Refusal::kNone);
  CHECK(b.requester.outstanding()[3].state == SentPacket::State::kSacked);
  CHECK(b.ack(4, 14) == Refusal::kNone);
  CHECK(b.completed.size() == 1);
}

TEST_CASE("a packet is lost when one sent a reorder window later has arrived, and not before") {
  RequesterBench b;
  b.post(4096 * 10);
  const auto lost = b.send(0);
  const auto early = b.send(19);
  CHECK(b.sack(-1, 1, early->ev, 19, 0b10, 29) == Refusal::kNone);
  CHECK(b.losses.empty());
  const auto late = b.send(20);
  CHECK(b.sack(-1, 2, late->ev, 20, 0b110, 30) == Refusal::kNone);
  CHECK(b.losses == std::vector<std::string>{"rack"});
  CHECK(b.state(lost->ev) == EvState::kAssumedBad);
  REQUIRE(b.changes.size() == 1);
  CHECK(b.changes[0].first == lost->ev);
  const auto again = b.send(31);
  CHECK(again->retransmission);
  CHECK(again->psn == lost->psn);
  CHECK(again->ev != lost->ev);
  CHECK(again->payload.data() == lost->payload.data());
  CHECK(b.stats.retransmissions == 1);
}

TEST_CASE("a SACK of a retransmission serves the time rule only if it names that transmission") {
  RequesterBench b;
  b.post(4096 * 10);
  const auto first = b.send(0);
  const auto second = b.send(1);
  CHECK(b.nack(0, first->ev, 0, NackReason::kTrimmedLastHop, 10) == Refusal::kNone);
  b.send(30);  // retransmission of 0, 29 us after packet 1
  // The bitmap alone: either transmission may have arrived, packet 1 is not judged by it.
  CHECK(b.sack(-1, 5, second->ev, 5, 0b01, 40) == Refusal::kNone);
  CHECK(b.losses.empty());
}

TEST_CASE("a trim NACK costs the value a turn and retransmits at once, nobody is assumed bad") {
  RequesterBench b;
  b.post(4096 * 4);
  const auto trimmed = b.send(0);
  CHECK(b.nack(0, trimmed->ev, 0, NackReason::kTrimmed, 9) == Refusal::kNone);
  CHECK(b.state(trimmed->ev) == EvState::kSkip);
  CHECK(b.losses.empty());
  const auto again = b.send(9);
  CHECK(again->psn == trimmed->psn);
  CHECK(again->ev != trimmed->ev);
  // The same NACK again is about an earlier transmission.
  CHECK(b.nack(0, trimmed->ev, 0, NackReason::kTrimmed, 10) == Refusal::kStaleFeedback);
  CHECK(!b.send(10)->retransmission);
}

TEST_CASE("a trim on the last hop leaves the value alone") {
  RequesterBench b;
  b.post(4096);
  const auto p = b.send(0);
  CHECK(b.nack(0, p->ev, 0, NackReason::kTrimmedLastHop, 9) == Refusal::kNone);
  CHECK(b.state(p->ev) == EvState::kGood);
  CHECK(b.send(9)->retransmission);
}

TEST_CASE("a retransmission never takes the value of the NACK, even if that is still GOOD") {
  RequesterBench b;
  b.post(4096 * 100);
  for (int i = 0; i < 40; ++i) {
    const auto p = b.send(i, 0b01);
    REQUIRE(!p->retransmission);
    CHECK(b.nack(p->psn - b.first_psn, p->ev, i, NackReason::kTrimmedLastHop, i) == Refusal::kNone);
    const auto again = b.send(i, 0b01);
    REQUIRE(again->retransmission);
    CHECK(again->ev != p->ev);
    if (i % 3 == 0) b.send(i, 0b01);  // another phase of the rotation
  }
}

TEST_CASE("an ECN mark in a SACK makes its value SKIP, ALWAYS_SKIP makes it bad") {
  RequesterBench b;
  b.post(4096 * 4);
  const auto p1 = b.send(0), p2 = b.send(0);
  CHECK(b.sack(0, 0, p1->ev, 0, 0, 10, SackMark::kSkipOnce) == Refusal::kNone);
  CHECK(b.state(p1->ev) == EvState::kSkip);
  CHECK(b.sack(1, 1, p2->ev, 0, 0, 10, SackMark::kAlwaysSkip) == Refusal::kNone);
  CHECK(b.state(p2->ev) == EvState::kAssumedBad);
}

TEST_CASE(
    "never more than MPR packets beyond the cumulative one, nor more immediates than agreed") {
  RequesterBench b(Psn{5}, 8);
  b.post(4096 * 20);
  EntropyValue ev;
  for (int i = 0; i < 8; ++i) ev = b.send(0)->ev;
  CHECK(!b.requester.ready(FabricTime{}));
  b.sack(-1, 7, ev, 0, 0b1111'1110, 10);
  CHECK(!b.requester.ready(FabricTime{}));
  b.sack(0, 7, ev, 0, 0, 11);
  CHECK(b.requester.ready(FabricTime{}));

  RequesterBench c;
  for (uint32_t i = 0; i < 3; ++i) c.post(1, i);
  CHECK(c.send(0));
  CHECK(c.send(0));
  CHECK(!c.send(0));
  c.ack(0, 5);
  CHECK(c.send(5)->immediate == 2u);
}

TEST_CASE("a plane that is down gets no blame for what it lost, and is restored at once") {
  RequesterBench b;
  b.post(4096 * 10);
  const auto on_zero = b.send(0, 0b01);
  b.requester.set_live_ports({0b10}, us(1));
  CHECK(b.stats.evs_lost == 2);
  CHECK(!b.send(1, 0b01));
  const auto p = b.send(30, 0b10);
  b.sack(-1, 1, p->ev, 30, 0b10, 40);
  CHECK(b.losses.size() == 1);
  CHECK(b.changes.empty());
  b.requester.set_live_ports({0b11}, us(50));
  CHECK(b.stats.evs_regained == 2);
  CHECK(b.state(on_zero->ev) == EvState::kGood);
  CHECK(b.send(50, 0b01));
}

TEST_CASE("a retransmission waits for another port, and new data takes the one that lost it") {
  RequesterBench b;
  b.post(4096 * 8);
  const auto lost = b.send(0, 0b01);
  // Both values of plane 1 and the other one of plane 0 go.
  for (int i = 1; i <= 2; ++i) b.send(i, 0b10);
  const auto other = b.send(3, 0b01);
  b.sack(-1, 3, other->ev, 3, 0b1000, 10, SackMark::kAlwaysSkip);
  CHECK(b.nack(0, lost->ev, 0, NackReason::kTrimmedLastHop, 11) == Refusal::kNone);
  const auto fresh = b.send(11, 0b01);
  REQUIRE(fresh);
  CHECK(!fresh->retransmission);
  CHECK(fresh->ev == lost->ev);
  const auto again = b.send(11, 0b10);
  REQUIRE(again);
  CHECK(again->retransmission);
  CHECK(again->psn == lost->psn);
}

TEST_CASE("the oldest gap goes first, whatever the order of the news") {
  RequesterBench b;
  b.post(4096 * 8);
  std::vector<DataPacket> sent;
  for (int i = 0; i < 6; ++i) sent.push_back(*b.send(i));
  for (const int i : {4, 1, 3}) b.nack(i, sent[i].ev, i, NackReason::kTrimmedLastHop, 10);
  CHECK(b.send(10)->psn == Psn{101});
  CHECK(b.send(10)->psn == Psn{103});
  CHECK(b.send(10)->psn == Psn{104});
  CHECK(b.send(10)->psn == Psn{106});
}

TEST_CASE("retransmissions are subject to the window like everything else") {
  RequesterBench b;
  b.window.on_live_ports(0);  // it always takes one packet
  b.post(4096 * 100);
  const auto first = b.send(0);
  CHECK(!b.send(0));
  b.nack(0, first->ev, 0, NackReason::kTrimmedLastHop, 5);
  // The trimmed packet left the window, so its retransmission fits, and nothing else.
  CHECK(b.send(5)->retransmission);
  CHECK(!b.send(5));
}

TEST_CASE("data may be trimmed only if the destination answers trims") {
  RequesterBench b,
      without(Psn{100}, 1024, [](ConnectionLimits&l) { l.sending.trim_nack = false; });
  for (RequesterBench* bench : {&b, &without}) bench->post(100);
  CHECK(b.send(0)->trimmable);
  CHECK(!without.send(0)->trimmable);
}

TEST_CASE("a shrunk range pauses new data and delays retransmissions until the invariant holds") {
  RequesterBench b(Psn{0xFFFFE0}, 512, [](ConnectionLimits& l) { l.sending.dynamic_mpr = true; });
  b.window.on_live_ports(100);
  b.post(1 << 20), b.post(1 << 20), b.post(1 << 20);
  std::vector<DataPacket> sent;
  for (int i = 0; i < 300; ++i) sent.push_back(*b.send(0));
  b.range = 1;  // 128 PSNs
  CHECK(b.sack(0, 0, sent[0].ev, 0, 0, 5) == Refusal::kNone);
  CHECK(!b.requester.ready(FabricTime{}));
  b.nack(200, sent[200].ev, 0, NackReason::kTrimmedLastHop, 6);
  CHECK(!b.send(6));
  b.nack(128, sent[128].ev, 0, NackReason::kTrimmedLastHop, 6);  // 128 <= 0 + 128
  CHECK(b.send(6)->psn == b.first_psn + 128);
  CHECK(!b.send(6));
  b.sack(71, 71, sent[71].ev, 0, 0, 7);
  CHECK(!b.send(7));
  b.sack(72, 72, sent[72].ev, 0, 0, 7);
  CHECK(b.send(7)->psn == b.first_psn + 200);
  CHECK(!b.send(7));
  b.range = 4;
  b.sack(72, 73, sent[73].ev, 0, 0, 8);
  CHECK(b.send(8)->psn == b.first_psn + 300);
}

TEST_CASE(
    "a range of nothing is one unit, an old SACK does not change it, nor what is not agreed") {
  RequesterBench b(Psn{100}, 512, [](ConnectionLimits& l) { l.sending.dynamic_mpr = true; });
  RequesterBench off(Psn{100}, 512);
  for (RequesterBench* bench : {&b, &off}) {
    bench->window.on_live_ports(100);
    bench->post(1 << 20), bench->post(1 << 20), bench->post(1 << 20);
    const auto first = bench->send(0);
    bench->send(0);
    bench->range = 0;
    bench->received_units = 16;
    bench->sack(1, 1, first->ev, 0, 0, 5);
    bench->range = 4;
    bench->received_units = 0;
    bench->sack(0, 0, first->ev, 0, 0, 5);
    int more = 0;
    while (bench->send(6)) ++more;
    CHECK(more == (bench == &b ? 128 : 512));
  }
}

TEST_CASE("a message may have 2^32 - 1 bytes and no more") {
  // Address space only: the requester cuts the message up without reading it.
  constexpr uint64_t kMost = 0xFFFF'FFFF;
  void* pages =
      mmap(nullptr, kMost + 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(pages != MAP_FAILED);
  const std::span<const uint8_t> local(static_cast<const uint8_t*>(pages), kMost + 1);
  RequesterBench b(Psn{0xFFFFF0});
  WriteRequest request;
  request.remote_va = 0x7000'0000'0000;
  request.local = local;
  CHECK(!b.requester.post(request, {}));
  request.local = local.first(kMost);
  REQUIRE(b.requester.post(request, {}));
  uint64_t bytes = 0;
  std::optional<DataPacket> last;
  int index = 0;
  while (const auto p = b.send(0)) {
    REQUIRE(p->reth.va == request.remote_va + bytes);
    REQUIRE(p->reth.dma_length == kMost);
    bytes += p->payload.size();
    last = p;
    if (index % 16 == 15) REQUIRE(b.ack(index, 0) == Refusal::kNone);
    ++index;
  }
  CHECK(bytes == kMost);
  CHECK(index == 1 << 20);
  CHECK(last->opcode == Opcode::kWriteLast);
  CHECK(last->payload.size() == 4095);
  CHECK(b.ack(index - 1, 0) == Refusal::kNone);
  CHECK(b.completed.size() == 1);
  munmap(pages, kMost + 1);
}
