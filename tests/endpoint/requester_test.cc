#include "endpoint/requester.h"

#include <doctest/doctest.h>

#include <vector>

#include "fabric/path.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::endpoint;

namespace {

constexpr FabricTime at(int64_t us) { return FabricTime::from_us(us); }
constexpr uint32_t kAll = 0b11;

/// A requester on 2 planes x 2 uplinks with round numbers: RTT 10 us, reorder window 20 us, tail
/// probe 40 us, ACK timeout 80 us. Plays the peer by hand.
class Bench : private RequesterEvents {
 public:
  explicit Bench(Psn first = Psn{100}, uint32_t mpr = 1024)
      : first_psn(first),
        memory(1 << 20),
        window({1'000'000'000'000}, at(100), 100, 2),
        requester(make(mpr)) {}

  TransportProfile profile(uint32_t mpr) {
    TransportProfile p = make_profile("lab", test::octet());
    p.base_rtt = at(10);
    p.reorder_window = at(20);
    p.tail_probe = at(40);
    p.ack_timeout = at(80);
    p.probe_interval = at(20);
    p.probe_interval_max = at(320);
    p.probe_jitter_percent = 0;
    p.max_psn_range = mpr;
    p.max_immediates = 2;
    return p;
  }

  bool post(size_t bytes, std::optional<uint32_t> immediate = {}) {
    WriteRequest request;
    request.id = ++posted;
    request.local = std::span<const uint8_t>(memory).first(bytes);
    request.remote_va = 0x10'0000;
    request.rkey = 7;
    request.immediate = immediate;
    return requester.post(request);
  }
  std::optional<DataPacket> send(int64_t us, uint32_t ports = kAll) {
    return requester.next_packet(ports, at(us));
  }
  /// A SACK for the packet with this index, sent at `sent_us` on `ev`.
  Refusal sack(int cumulative, int trigger, EntropyValue ev, int64_t sent_us, uint64_t bitmap,
               int64_t now_us, SackMark mark = SackMark::kNone) {
    Seth seth;
    seth.cumulative = first_psn + cumulative;
    seth.psn_offset_or_probe_id = static_cast<uint16_t>(trigger - cumulative);
    seth.entropy = ev;
    seth.tx_timestamp = tx_timestamp(at(sent_us));
    seth.sack_offset = 1;
    seth.bitmap = bitmap;
    seth.mark = mark;
    return requester.on_sack(seth, at(now_us));
  }
  Refusal nack(int index, EntropyValue ev, int64_t sent_us, NackReason reason, int64_t now_us) {
    Neth neth;
    neth.reason = static_cast<uint8_t>(reason);
    neth.entropy = ev;
    neth.psn = first_psn + index;
    neth.tx_timestamp = tx_timestamp(at(sent_us));
    return requester.on_nack(neth, at(now_us));
  }
  Refusal ack(int index, int64_t now_us, uint8_t syndrome = 0x1F) {
    return requester.on_ack({syndrome, 0}, first_psn + index, at(now_us));
  }
  EvState state(EntropyValue ev) { return requester.evs().state(*requester.evs().find(ev)); }

  Psn first_psn;
  uint64_t posted = 0;
  std::vector<uint8_t> memory;
  HostStats stats;
  FixedWindow window;
  Requester requester;
  std::vector<uint64_t> completed;
  std::vector<std::pair<EntropyValue, EvState>> changes;
  std::vector<std::string> losses;
  std::string failure;

 private:
  Requester make(uint32_t mpr) {
    std::vector<EntropyValue> values;
    for (uint32_t p = 0; p < 2; ++p) {
      for (uint32_t u = 0; u < 2; ++u) values.push_back(ev_of({p, u}));
    }
    const TransportProfile p = profile(mpr);
    return {p,
            first_psn,
            EvSet(values, 2, 4, {1, NodeId{0}, 0}),
            EvProber(p, 4, 1, NodeId{0}, 0),
            window,
            *this,
            stats};
  }
  void write_completed(uint64_t id) override { completed.push_back(id); }
  void ev_changed(EntropyValue ev, EvState to) override { changes.emplace_back(ev, to); }
  void loss_detected(EntropyValue, Psn, std::string_view cause) override {
    losses.emplace_back(cause);
  }
  void failed(std::string_view reason) override { failure = reason; }
};

}  // namespace

TEST_CASE("a write is cut at the PMTU and every packet carries address, rkey and whole length") {
  Bench b;
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
  Bench b;
  b.post(10);
  b.post(10, 1);
  CHECK(b.send(0)->opcode == Opcode::kWriteOnly);
  const auto second = b.send(0);
  CHECK(second->opcode == Opcode::kWriteOnlyImm);
  CHECK(second->meth.msn == 2);
  CHECK(second->meth.rqmsn == 1);
  CHECK(!b.post(0));
}

TEST_CASE("a write completes on the transport ACK that covers its last packet, not on SACK") {
  Bench b;
  b.post(8192);
  b.post(100);
  const auto ev = b.send(0)->ev;
  b.send(0), b.send(0);
  CHECK(b.sack(2, 2, ev, 0, 0, 10) == Refusal::kCount);
  CHECK(b.completed.empty());
  CHECK(b.requester.outstanding().size() == 0);
  CHECK(b.ack(0, 11) == Refusal::kCount);
  CHECK(b.completed.empty());
  CHECK(b.ack(1, 12) == Refusal::kCount);
  CHECK(b.completed == std::vector<uint64_t>{1});
  b.ack(2, 13);
  CHECK(b.completed == std::vector<uint64_t>{1, 2});
}

TEST_CASE("the PSN wraps without anybody noticing") {
  Bench b(Psn{0xFFFFFE});
  b.post(4096 * 5);
  std::vector<uint32_t> psns;
  EntropyValue ev;
  for (int i = 0; i < 5; ++i) {
    const auto p = b.send(i);
    psns.push_back(p->psn.value());
    ev = p->ev;
  }
  CHECK(psns == std::vector<uint32_t>{0xFFFFFE, 0xFFFFFF, 0, 1, 2});
  CHECK(b.sack(-1, 3, ev, 3, 0b01000, 13) == Refusal::kCount);
  CHECK(b.requester.outstanding()[3].state == SentPacket::State::kSacked);
  CHECK(b.ack(4, 14) == Refusal::kCount);
  CHECK(b.completed.size() == 1);
}

TEST_CASE("a packet is lost when one sent a reorder window later has arrived, and not before") {
  Bench b;
  b.post(4096 * 10);
  const auto lost = b.send(0);
  const auto early = b.send(19);
  CHECK(b.sack(-1, 1, early->ev, 19, 0b10, 29) == Refusal::kCount);
  CHECK(b.losses.empty());
  const auto late = b.send(20);
  CHECK(b.sack(-1, 2, late->ev, 20, 0b110, 30) == Refusal::kCount);
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
  Bench b;
  b.post(4096 * 10);
  const auto first = b.send(0);
  const auto second = b.send(1);
  CHECK(b.nack(0, first->ev, 0, NackReason::kTrimmedLastHop, 10) == Refusal::kCount);
  b.send(30);  // retransmission of 0, 29 us after packet 1
  // The bitmap alone: either transmission may have arrived, packet 1 is not judged by it.
  CHECK(b.sack(-1, 5, second->ev, 5, 0b01, 40) == Refusal::kCount);
  CHECK(b.losses.empty());
}

TEST_CASE("a trim NACK costs the value a turn and retransmits at once, nobody is assumed bad") {
  Bench b;
  b.post(4096 * 4);
  const auto trimmed = b.send(0);
  CHECK(b.nack(0, trimmed->ev, 0, NackReason::kTrimmed, 9) == Refusal::kCount);
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
  Bench b;
  b.post(4096);
  const auto p = b.send(0);
  CHECK(b.nack(0, p->ev, 0, NackReason::kTrimmedLastHop, 9) == Refusal::kCount);
  CHECK(b.state(p->ev) == EvState::kGood);
  CHECK(b.send(9)->retransmission);
}

TEST_CASE("a retransmission never takes the value of the NACK, even if that is still GOOD") {
  Bench b;
  b.post(4096 * 100);
  for (int i = 0; i < 40; ++i) {
    const auto p = b.send(i, 0b01);
    REQUIRE(!p->retransmission);
    CHECK(b.nack(p->psn - b.first_psn, p->ev, i, NackReason::kTrimmedLastHop, i) ==
          Refusal::kCount);
    const auto again = b.send(i, 0b01);
    REQUIRE(again->retransmission);
    CHECK(again->ev != p->ev);
    if (i % 3 == 0) b.send(i, 0b01);  // another phase of the rotation
  }
}

TEST_CASE("an ECN mark in a SACK makes its value SKIP, ALWAYS_SKIP makes it bad") {
  Bench b;
  b.post(4096 * 4);
  const auto p1 = b.send(0), p2 = b.send(0);
  CHECK(b.sack(0, 0, p1->ev, 0, 0, 10, SackMark::kSkipOnce) == Refusal::kCount);
  CHECK(b.state(p1->ev) == EvState::kSkip);
  CHECK(b.sack(1, 1, p2->ev, 0, 0, 10, SackMark::kAlwaysSkip) == Refusal::kCount);
  CHECK(b.state(p2->ev) == EvState::kAssumedBad);
}

TEST_CASE("silence: a tail probe after 40 us, and its answer decides") {
  Bench b;
  b.post(4096 * 3);
  const auto p0 = b.send(0);
  b.send(0), b.send(0);
  CHECK(b.sack(0, 0, p0->ev, 0, 0, 10) == Refusal::kCount);
  CHECK(b.requester.deadline() == at(50));
  b.requester.on_timer(at(50));
  const auto probe = b.requester.next_probe(at(50));
  REQUIRE(probe);
  CHECK(!b.requester.next_probe(at(50)));
  Seth answer;
  answer.probe_response = true;
  answer.psn_offset_or_probe_id = probe->id;
  answer.entropy = probe->ev;
  answer.cumulative = b.first_psn;
  answer.sack_offset = 1;
  answer.bitmap = 0b10;  // packet 2 is there, 1 is not
  CHECK(b.requester.on_sack(answer, at(60)) == Refusal::kCount);
  CHECK(b.losses == std::vector<std::string>{"probe"});
  CHECK(b.send(60)->psn == Psn{101});
}

TEST_CASE("a path that is assumed bad is probed and resurrected after three answers") {
  Bench b;
  b.post(4096 * 4);
  const auto lost = b.send(0);
  const auto ok = b.send(20);
  b.sack(-1, 1, ok->ev, 20, 0b10, 30);
  REQUIRE(b.state(lost->ev) == EvState::kAssumedBad);
  for (int i = 0; i < 3; ++i) {
    CHECK(b.state(lost->ev) == EvState::kAssumedBad);
    const FabricTime due = at(50 + 20 * i);
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
    CHECK(b.requester.on_sack(answer, due + at(5)) == Refusal::kCount);
  }
  CHECK(b.state(lost->ev) == EvState::kGood);
  CHECK(b.stats.evs_regained == 1);
}

TEST_CASE("with no answer at all: seven linear timeouts, three exponential ones, then an error") {
  Bench b;
  b.post(4096);
  b.send(0);
  std::vector<int64_t> timeouts;
  uint64_t seen = 0;
  while (!b.requester.failed()) {
    const FabricTime now = b.requester.deadline();
    REQUIRE(now < at(100'000));
    b.requester.on_timer(now);
    while (b.requester.next_probe(now)) continue;
    if (b.stats.timeouts > seen) timeouts.push_back(now.ns() / 1000);
    seen = b.stats.timeouts;
    b.requester.next_packet(kAll, now);
  }
  CHECK(timeouts == std::vector<int64_t>{80, 160, 240, 320, 400, 480, 560, 640, 800, 1120, 1760});
  CHECK(b.failure == "Retry Counter Exceeded");
  CHECK(b.requester.deadline() == FabricTime::never());
  CHECK(!b.post(1));
  CHECK(!b.send(2000));
  CHECK(b.window.in_flight().value == 0);
}

TEST_CASE("without any port the retries run out as well") {
  Bench b;
  b.post(4096);
  b.send(0);
  b.requester.set_usable_ports(0, at(1));
  for (int i = 0; i < 1000 && !b.requester.failed(); ++i) {
    const FabricTime now = b.requester.deadline();
    b.requester.on_timer(now);
    while (b.requester.next_probe(now)) continue;
    CHECK(!b.requester.next_packet(kAll, now));
  }
  CHECK(b.failure == "Retry Counter Exceeded");
}

TEST_CASE("progress sets the retry counter back") {
  Bench b;
  b.post(4096 * 2);
  b.send(0);
  for (int i = 1; i <= 8; ++i) {
    b.requester.on_timer(at(80 * i));
    while (b.requester.next_probe(at(80 * i))) continue;
    b.requester.next_packet(kAll, at(80 * i));
  }
  CHECK(!b.requester.failed());
  CHECK(b.ack(0, 641) == Refusal::kCount);
  const auto p = b.send(700);
  REQUIRE(p);
  // Fresh again: the first timeout of the new packet comes after 80 us.
  b.requester.on_timer(at(779));
  CHECK(b.stats.timeouts == 8);
  b.requester.on_timer(at(780));
  CHECK(b.stats.timeouts == 9);
}

TEST_CASE(
    "never more than MPR packets beyond the cumulative one, nor more immediates than agreed") {
  Bench b(Psn{5}, 8);
  b.post(4096 * 20);
  EntropyValue ev;
  for (int i = 0; i < 8; ++i) ev = b.send(0)->ev;
  CHECK(!b.requester.ready());
  b.sack(-1, 7, ev, 0, 0b1111'1110, 10);
  CHECK(!b.requester.ready());
  b.sack(0, 7, ev, 0, 0, 11);
  CHECK(b.requester.ready());

  Bench c;
  for (uint32_t i = 0; i < 3; ++i) c.post(1, i);
  CHECK(c.send(0));
  CHECK(c.send(0));
  CHECK(!c.send(0));
  c.ack(0, 5);
  CHECK(c.send(5)->immediate == 2u);
}

TEST_CASE("forged feedback is refused under its own name and changes nothing") {
  Bench b;
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
  CHECK(b.sack(-1, 0, p->ev, 0, 0, 1) == Refusal::kCount);
  CHECK(unchanged());
  // An old cumulative PSN half the number space away is the past, not the future.
  CHECK(b.sack(-0x70'0000, 0, p->ev, 0, 0, 1) == Refusal::kCount);
  CHECK(unchanged());
}

TEST_CASE("a NAK for an outstanding packet is a remote access error") {
  Bench b;
  b.post(100);
  b.send(0);
  CHECK(b.ack(0, 1, 0x62) == Refusal::kCount);
  CHECK(b.failure == "Remote Access Error");
}

TEST_CASE("a plane that is down gets no blame for what it lost, and is restored at once") {
  Bench b;
  b.post(4096 * 10);
  const auto on_zero = b.send(0, 0b01);
  b.requester.set_usable_ports(0b10, at(1));
  CHECK(b.stats.evs_lost == 2);
  CHECK(!b.send(1, 0b01));
  const auto p = b.send(30, 0b10);
  b.sack(-1, 1, p->ev, 30, 0b10, 40);
  CHECK(b.losses.size() == 1);
  CHECK(b.changes.empty());
  b.requester.set_usable_ports(0b11, at(50));
  CHECK(b.stats.evs_regained == 2);
  CHECK(b.state(on_zero->ev) == EvState::kGood);
  CHECK(b.send(50, 0b01));
}
