// RC's sending half alone: what leaves, in which order, and what feedback does to it.

#include "endpoint/roce/flow_port.h"

#include <doctest/doctest.h>

#include "endpoint/roce/rc_requester.h"
#include "tests/endpoint/roce/rc_sender.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::Psns;
using mrclab::test::psns_between;
using mrclab::test::RcPair;
using mrclab::test::RcSender;
using mrclab::test::us;

namespace {

/// `window`: packets.
RcParameters selective_sender(uint32_t window) {
  RcParameters parameters = RcPair::parameters();
  parameters.recovery = RcRecovery::kSelective;
  parameters.window = window;
  return parameters;
}

}  // namespace

TEST_CASE("a message is cut into packets whose opcodes say where they stand in it") {
  using enum Opcode;
  struct Case {
    const char* about;
    WorkKind kind;
    uint64_t size;
    bool immediate;
    std::vector<Opcode> opcodes;
  };
  const Case cases[] = {
      {"one byte", WorkKind::kWrite, 1, false, {kRcWriteOnly}},
      {"one whole packet", WorkKind::kWrite, 1024, true, {kRcWriteOnlyImm}},
      {"a byte more", WorkKind::kWrite, 1025, false, {kRcWriteFirst, kRcWriteLast}},
      {"two whole packets", WorkKind::kWrite, 2048, true, {kRcWriteFirst, kRcWriteLastImm}},
      {"three", WorkKind::kWrite, 3000, false, {kRcWriteFirst, kRcWriteMiddle, kRcWriteLast}},
      {"a SEND", WorkKind::kSend, 1024, false, {kSendOnly}},
      {"a SEND with immediate", WorkKind::kSend, 5, true, {kSendOnlyImm}},
      {"a long SEND", WorkKind::kSend, 3072, false, {kSendFirst, kSendMiddle, kSendLast}},
      {"the same", WorkKind::kSend, 2049, true, {kSendFirst, kSendMiddle, kSendLastImm}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.about);
    RcSender bench;
    WriteRequest request;
    request.kind = c.kind;
    request.local = ConstMemory::elided(c.size);
    request.remote_va = 0x1234;
    request.rkey = 0x77;
    if (c.immediate) request.immediate = 0xBEEF;
    REQUIRE(bench.requester.post(request));
    uint64_t bytes = 0;
    for (size_t i = 0; i < c.opcodes.size(); ++i) {
      const auto packet = bench.requester.next_packet(us(1));
      REQUIRE(packet);
      CHECK(packet->opcode == c.opcodes[i]);
      CHECK(packet->psn == Psn{static_cast<uint32_t>(100 + i)});
      const bool last = i + 1 == c.opcodes.size();
      CHECK(packet->ack_request == last);
      const bool reth = i == 0 && c.kind == WorkKind::kWrite;
      CHECK(std::get<RcHeaders>(packet->extension).reth.has_value() == reth);
      if (reth)
        CHECK(*std::get<RcHeaders>(packet->extension).reth ==
              Reth{0x1234, 0x77, static_cast<uint32_t>(c.size)});
      CHECK(std::get<RcHeaders>(packet->extension).immediate.has_value() == (last && c.immediate));
      CHECK((last || packet->payload.size() == RcPair::kPmtu));
      bytes += packet->payload.size();
    }
    CHECK(bytes == c.size);
    CHECK_FALSE(bench.requester.next_packet(us(1)));
  }
}

TEST_CASE("one piece of work too many is refused") {
  RcSender bench;
  for (size_t i = 0; i < RcMessages::kLimit; ++i) REQUIRE(bench.post(i, 1));
  CHECK_FALSE(bench.post(9, 1));
}

TEST_CASE("no more PSNs are in flight than the window has, and every 16th packet asks for an ACK") {
  RcParameters parameters = RcPair::parameters();
  parameters.window = 40;
  RcSender bench(parameters, 0xFF'FFF0);  // PSNs wrap on the way
  bench.post(1, 100);
  Psns asking;
  uint32_t sent = 0;
  while (const auto packet = bench.requester.next_packet(us(1))) {
    CHECK(packet->psn == Psn{0xFF'FFF0 + sent});
    if (packet->ack_request) asking.push_back(sent);
    ++sent;
  }
  CHECK(sent == 40);
  CHECK(asking == Psns{15, 31, 39});              // the last one that the window allows asks, too
  CHECK(bench.ack(0xFF'FFFF) == Refusal::kNone);  // of the 16th
  CHECK(bench.send() == psns_between(24, 39));
  CHECK(bench.ack(83) == Refusal::kAckOfFuture);
  CHECK(bench.ack(39) == Refusal::kNone);
  CHECK(bench.send() == psns_between(40, 79));
  CHECK(bench.ack(79) == Refusal::kNone);
  CHECK(bench.send() == psns_between(80, 83));
  CHECK(bench.completed.empty());
  CHECK(bench.ack(83) == Refusal::kNone);
  CHECK(bench.completed == std::vector<uint64_t>{1});
  CHECK(bench.requester.deadline(bench.now) == FabricTime::never());
}

TEST_CASE("a sender that is slow asks for an ACK before its timer runs out") {
  RcSender bench;
  bench.post(1, 100);
  CHECK_FALSE(bench.requester.next_packet(us(1))->ack_request);
  CHECK(bench.requester.next_packet(us(26))->ack_request);  // a quarter of 100 us
  CHECK_FALSE(bench.requester.next_packet(us(27))->ack_request);
  CHECK(bench.requester.next_packet(us(51))->ack_request);
}

TEST_CASE("an ACK covers all packets up to its PSN, and work completes in order") {
  RcSender bench;
  for (uint64_t id = 1; id <= 4; ++id) bench.post(id, 2);
  CHECK(bench.send() == psns_between(100, 107));
  CHECK(bench.ack(102) == Refusal::kNone);
  CHECK(bench.completed == std::vector<uint64_t>{1});
  CHECK(bench.ack(105) == Refusal::kNone);
  CHECK(bench.completed == std::vector<uint64_t>{1, 2, 3});
  CHECK(bench.ack(104) == Refusal::kStaleFeedback);
  CHECK(bench.ack(107) == Refusal::kNone);
  CHECK(bench.completed == std::vector<uint64_t>{1, 2, 3, 4});
  CHECK(bench.stats.writes_completed == 4);
  CHECK(bench.stats.retransmissions == 0);
}

TEST_CASE("go-back-N: a NAK covers what is before its PSN and sends everything again from there") {
  RcSender bench;
  for (uint64_t id = 1; id <= 3; ++id) bench.post(id, 4);
  CHECK(bench.send() == psns_between(100, 111));
  CHECK(bench.nak(105) == Refusal::kNone);
  CHECK(bench.completed == std::vector<uint64_t>{1});
  CHECK(bench.send() == psns_between(105, 111));
  CHECK(bench.stats.retransmissions == 7);
  // The same NAK again, whenever it comes, starts nothing.
  CHECK(bench.nak(105) == Refusal::kStaleFeedback);
  CHECK(bench.send().empty());
  // With progress it is another one.
  CHECK(bench.ack(106) == Refusal::kNone);
  CHECK(bench.nak(107) == Refusal::kNone);
  CHECK(bench.nak(107) == Refusal::kStaleFeedback);
  CHECK(bench.requester.next_packet(bench.now)->psn == Psn{107});
  // While it goes back, the next gap moves it on.
  CHECK(bench.nak(110) == Refusal::kNone);
  CHECK(bench.send() == psns_between(110, 111));
  CHECK(bench.losses == std::vector<std::string>{"nak 105", "nak 107"});
  CHECK(bench.nak(112) == Refusal::kAckOfFuture);
  CHECK(bench.ack(111) == Refusal::kNone);
  CHECK(bench.completed.size() == 3);
}

TEST_CASE(
    "selective repeat: a NAK sends its packet alone, before anything new, and asks for an ACK") {
  RcSender bench(selective_sender(8));
  bench.post(1, 20);
  CHECK(bench.send() == psns_between(100, 107));
  CHECK(bench.nak(102) == Refusal::kNone);
  CHECK(bench.nak(102) == Refusal::kStaleFeedback);
  const auto again = bench.requester.next_packet(bench.now);
  REQUIRE(again);
  CHECK(again->psn == Psn{102});
  CHECK(again->ack_request);
  CHECK(bench.send() == psns_between(108, 109));
  CHECK(bench.nak(102) == Refusal::kStaleFeedback);
  CHECK(bench.send().empty());
  CHECK(bench.ack(107) == Refusal::kNone);
  CHECK(bench.send() == psns_between(110, 115));
  // What is covered meanwhile is not retransmitted.
  CHECK(bench.nak(109) == Refusal::kNone);
  CHECK(bench.ack(110) == Refusal::kNone);
  CHECK(bench.send() == psns_between(116, 118));
  // A timeout means that no answer came to any packet.
  bench.wait();
  CHECK(bench.send() == psns_between(111, 118));
}

TEST_CASE("selective repeat: a burst is repaired by twice as many packets each round trip") {
  RcSender bench(selective_sender(64));
  bench.post(1, 64);
  CHECK(bench.send() == psns_between(100, 163));
  bench.nak(110);  // 110 to 140 are lost
  CHECK(bench.send() == Psns{110});
  bench.nak(111);
  CHECK(bench.send() == psns_between(111, 112));
  // As 111 arrives the receiver asks for 112, which is under way again.
  CHECK(bench.nak(112) == Refusal::kNone);
  CHECK(bench.nak(112) == Refusal::kStaleFeedback);
  CHECK(bench.send().empty());
  bench.nak(113);
  CHECK(bench.send() == psns_between(113, 116));
  bench.nak(117);
  CHECK(bench.send() == psns_between(117, 124));
  bench.nak(125);
  CHECK(bench.send() == psns_between(125, 140));
  // What is not right behind it is another loss.
  bench.nak(150);
  CHECK(bench.send() == Psns{150});
  bench.nak(151);
  CHECK(bench.send() == psns_between(151, 152));
  bench.wait();
  bench.send();
  bench.nak(153);  // a timeout begins anew
  CHECK(bench.send() == Psns{153});
  // Never more than was sent at all.
  bench.nak(154);
  bench.nak(156);
  bench.nak(160);
  CHECK(bench.send() == psns_between(160, 163));
}

TEST_CASE(
    "selective repeat: while a packet is missing nothing goes that its receiver cannot keep") {
  RcSender bench(selective_sender(200));
  bench.post(1, 400);
  CHECK(bench.send() == psns_between(100, 299));
  CHECK(bench.nak(105) == Refusal::kNone);
  CHECK(bench.send() == Psns{105});
  CHECK(bench.nak(110) == Refusal::kNone);
  CHECK(bench.send() == Psns{110, 169, 170, 171, 172, 173});  // it keeps 64 from there on
  CHECK(bench.ack(173) == Refusal::kNone);
  CHECK(bench.send() == psns_between(174, 373));
}

TEST_CASE(
    "a NAK of an invalid request or access ends the queue pair, and its work has the reason") {
  const std::pair<int, const char*> cases[] = {{0x61, "Remote Invalid Request Error"},
                                               {0x62, "Remote Access Error"},
                                               {0x63, "Remote Operation Error"},
                                               {0x7F, "Remote Operation Error"}};
  for (const auto& [syndrome, reason] : cases) {
    RcSender bench;
    for (uint64_t id = 1; id <= 3; ++id) bench.post(id, 2);
    bench.send();
    CHECK(bench.answer(static_cast<uint8_t>(syndrome), 103) == Refusal::kNone);
    CHECK(bench.completed == std::vector<uint64_t>{1});
    CHECK(bench.failure == reason);
    using Failed = std::vector<std::pair<uint64_t, std::string>>;
    CHECK(bench.failed_work == Failed{{2, reason}, {3, std::string(kFlushed)}});
  }
}

TEST_CASE("feedback that fits nothing is refused and changes nothing") {
  RcSender bench;
  bench.post(1, 4);
  bench.post(2, 4);
  CHECK(bench.ack(100) == Refusal::kAckOfFuture);  // nothing was sent yet
  CHECK(bench.nak(100) == Refusal::kAckOfFuture);
  for (int i = 0; i < 6; ++i) bench.requester.next_packet(bench.now);
  CHECK(bench.ack(101) == Refusal::kNone);
  const FabricTime deadline = bench.requester.deadline(bench.now);
  bench.now = us(20);
  for (const uint8_t syndrome :
       std::initializer_list<uint8_t>{0x1F, 0x00, 0x21, 0x60, 0x61, 0x62}) {
    CAPTURE(syndrome);
    CHECK(bench.answer(syndrome, 106) == Refusal::kAckOfFuture);
    CHECK(bench.answer(syndrome, 100 + 0x7F'FFFF) == Refusal::kAckOfFuture);
    CHECK(bench.answer(syndrome, 101) == Refusal::kStaleFeedback);
    CHECK(bench.answer(syndrome, 99) == Refusal::kStaleFeedback);
    CHECK(bench.answer(syndrome, 102 + 0x80'0000) == Refusal::kStaleFeedback);
  }
  for (const uint8_t reserved : std::initializer_list<uint8_t>{0x40, 0x5F, 0x80, 0xA0, 0xFF}) {
    CAPTURE(reserved);
    CHECK(bench.answer(reserved, 103) == Refusal::kMalformed);
  }
  CHECK(bench.requester.deadline(bench.now) == deadline);
  CHECK(bench.requester.acknowledged() == 2);
  CHECK(bench.losses.empty());
  CHECK(bench.failure.empty());
  CHECK(bench.send() == psns_between(106, 107));
}

TEST_CASE("the UDP source port is Linux's, and the same in both directions") {
  struct Case {
    uint32_t a, b, label;
    uint16_t port;
  };
  // rdma_calc_flow_label, rdma_flow_label_to_udp_sport.
  const Case cases[] = {{0x123, 0x321, 0x38E83, 0xCE8D},
                        {0x1A5, 0x2B7, 0x476F3, 0xF6E2},
                        {0xABCDEF, 0x123456, 0xAC3E3, 0xC3C8}};
  for (const Case& c : cases) {
    CHECK(flow_label_between({c.a}, {c.b}) == c.label);
    CHECK(source_port_between({c.a}, {c.b}) == c.port);
    CHECK(source_port_between({c.b}, {c.a}) == c.port);
  }
}
