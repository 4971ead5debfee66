// RC's receiving half alone: what is executed, what is answered, and what reaches memory.

#include "endpoint/roce/rc_responder.h"

#include <doctest/doctest.h>

#include <numeric>

#include "tests/support/rc_pair.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::RcPair;

namespace {

using enum Opcode;
constexpr uint64_t kVa = 0x7000'0000'0000;
constexpr uint32_t kRkey = 0xAAAA'A001;

RcParameters selective(uint32_t reorder = 0) {
  RcParameters p = RcPair::parameters();
  p.recovery = RcRecovery::kSelective;
  p.reorder = reorder;
  return p;
}

RcParameters placing(uint32_t window = 128) {
  RcParameters p = selective(512);
  p.recovery = RcRecovery::kPlacing;
  p.window = window;
  return p;
}

struct RcReceiver : RcResponderEvents {
  explicit RcReceiver(RcParameters parameters = RcPair::parameters(), uint32_t first_psn = 100)
      : bytes(memory.register_region({kVa, kRkey, {1 << 20}})),
        responder(parameters, Psn{first_psn}, memory, *this, stats) {
    std::iota(payload.begin(), payload.end(), uint8_t{1});
  }
  void message_received(const ReceiveCompletion& completion) override {
    received.push_back(completion);
  }
  void receive_failed(uint64_t, std::string_view) override { ++receives_failed; }
  void request_refused(std::string_view reason) override { failure = reason; }
  uint32_t receives_failed = 0;

  MrcPacket packet(Opcode opcode, uint32_t psn, size_t length = RcPair::kPmtu, uint32_t whole = 0,
                   bool ask = false) {
    MrcPacket p;
    p.bth.opcode = opcode;
    p.bth.psn = Psn{psn};
    p.bth.ack_request = ask;
    RcHeaders headers;
    if (is_first(opcode) && !is_send(opcode)) {
      headers.reth = Reth{kVa, kRkey, whole == 0 ? static_cast<uint32_t>(length) : whole};
    }
    if (has_immediate(opcode)) headers.immediate = 0xBEEF;
    p.extension = headers;
    p.payload = std::span(payload).first(length);
    p.payload_length = length;
    return p;
  }
  /// What is answered: "ack 7", "nak 7", ... or nothing.
  std::string take(const MrcPacket& p) {
    std::optional<RcReply> reply;
    placed = 0;
    refusal = responder.on_request(p, reply, placed);
    if (!reply) return "";
    msn = reply->aeth.msn;
    const uint8_t kind = reply->aeth.syndrome;
    const std::string psn = " " + std::to_string(reply->psn.value());
    switch (kind) {
      case 0x1F: return "ack" + psn;
      case 0x21: return "rnr" + psn;
      case 0x60: return "nak" + psn;
      case 0x61: return "invalid" + psn;
      case 0x62: return "access" + psn;
      default: return "?";
    }
  }

  std::vector<uint8_t> payload = std::vector<uint8_t>(2 * RcPair::kPmtu);
  MemoryRegistry memory;
  std::span<uint8_t> bytes;
  HostStats stats;
  RcResponder responder;
  std::vector<ReceiveCompletion> received;
  std::string failure;
  Refusal refusal = Refusal::kNone;
  uint64_t placed = 0;
  uint32_t msn = 0;
};

}  // namespace

TEST_CASE("the expected packet is executed, and answered if it asks for it") {
  RcReceiver bench;
  CHECK(bench.take(bench.packet(kRcWriteFirst, 100, RcPair::kPmtu, 3 * RcPair::kPmtu)).empty());
  CHECK(bench.placed == RcPair::kPmtu);
  CHECK(bench.take(bench.packet(kRcWriteMiddle, 101, RcPair::kPmtu, 0, true)) == "ack 101");
  CHECK(bench.msn == 0);  // no message is complete
  CHECK(bench.take(bench.packet(kRcWriteLast, 102)).empty());
  CHECK(bench.take(bench.packet(kRcWriteOnly, 103, 8, 0, true)) == "ack 103");
  CHECK(bench.msn == 2);
  CHECK(bench.bytes[3 * RcPair::kPmtu - 1] == 0);  // the last byte of the payload: 1,024 modulo 256
  CHECK(bench.bytes[2 * RcPair::kPmtu] == 1);
  CHECK(bench.responder.expected() == 4);
}

TEST_CASE("one NAK per gap, whatever comes behind it, and the next gap has its own") {
  RcReceiver bench(RcPair::parameters(), 0xFF'FFFE);  // PSNs wrap between them
  CHECK(bench.take(bench.packet(kRcWriteOnly, 0xFF'FFFE, 8, 0, true)) == "ack 16777214");
  CHECK(bench.take(bench.packet(kRcWriteOnly, 0, 8, 0, true)) == "nak 16777215");
  CHECK(bench.refusal == Refusal::kOutOfOrder);
  for (uint32_t psn = 1; psn < 60; ++psn)
    CHECK(bench.take(bench.packet(kRcWriteOnly, psn, 8)) == "");
  CHECK(bench.take(bench.packet(kRcWriteOnly, 0xFF'FFFF, 8)).empty());
  CHECK(bench.take(bench.packet(kRcWriteOnly, 0, 8, 0, true)) == "ack 0");
  CHECK(bench.take(bench.packet(kRcWriteOnly, 2, 8)) == "nak 1");
  CHECK(bench.msn == 3);
  CHECK(bench.responder.expected() == 3);
}

TEST_CASE("a duplicate writes nothing, and the ACK of all that has arrived goes again") {
  RcReceiver bench;
  bench.take(bench.packet(kRcWriteOnly, 100, 8));
  bench.take(bench.packet(kRcWriteOnly, 101, 8));
  std::fill(bench.bytes.begin(), bench.bytes.end(), uint8_t{0});
  for (int i = 0; i < 3; ++i) {
    CHECK(bench.take(bench.packet(kRcWriteOnly, 100, 8)) == "ack 101");
    CHECK(bench.refusal == Refusal::kDuplicate);
  }
  CHECK(bench.bytes[0] == 0);
  CHECK(bench.placed == 0);
  CHECK(bench.msn == 2);
  CHECK(bench.take(bench.packet(kRcWriteOnly, 99, 8)).empty());  // from before the beginning
  CHECK(bench.refusal == Refusal::kPsnFarPast);
}

TEST_CASE("what breaks a message or does not fit is an invalid request, and changes nothing") {
  struct Case {
    const char* about;
    std::vector<MrcPacket> packets;  ///< the last one is wrong
  };
  RcReceiver made;
  const auto p = [&](Opcode opcode, uint32_t psn, size_t length = RcPair::kPmtu,
                     uint32_t whole = 0) { return made.packet(opcode, psn, length, whole); };
  MrcPacket short_of_words = p(kRcWriteOnly, 100, 8);
  short_of_words.payload_length = 12;
  const Case cases[] = {
      {"a middle without a first", {p(kRcWriteMiddle, 100)}},
      {"a last without a first", {p(kRcWriteLast, 100, 8)}},
      {"a first in a message", {p(kRcWriteFirst, 100, RcPair::kPmtu, 4096), p(kRcWriteFirst, 101)}},
      {"an only in a message",
       {p(kRcWriteFirst, 100, RcPair::kPmtu, 4096), p(kRcWriteOnly, 101, 8)}},
      {"a SEND in a WRITE", {p(kRcWriteFirst, 100, RcPair::kPmtu, 2048), p(kSendMiddle, 101)}},
      {"a first that is not full", {p(kRcWriteFirst, 100, 1000, 4096)}},
      {"a first that is all", {p(kRcWriteFirst, 100, RcPair::kPmtu, RcPair::kPmtu)}},
      {"a middle that is the last",
       {p(kRcWriteFirst, 100, RcPair::kPmtu, 2048), p(kRcWriteMiddle, 101)}},
      {"a last that comes too early",
       {p(kRcWriteFirst, 100, RcPair::kPmtu, 4096), p(kRcWriteLast, 101)}},
      {"a last that is too short",
       {p(kRcWriteFirst, 100, RcPair::kPmtu, 2048), p(kRcWriteLast, 101, 8)}},
      {"an only that is too long", {p(kRcWriteOnly, 100, 100, 99)}},
      {"an only that is too short", {p(kRcWriteOnly, 100, 98, 99)}},
      {"more than the PMTU", {p(kRcWriteOnly, 100, RcPair::kPmtu + 1)}},
      {"nothing of something", {p(kRcWriteOnly, 100, 0, 8)}},
      {"a last of nothing", {p(kRcWriteFirst, 100, RcPair::kPmtu, 2048), p(kRcWriteLast, 101, 0)}},
      {"less than its length says", {short_of_words}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.about);
    RcReceiver bench;
    for (size_t i = 0; i + 1 < c.packets.size(); ++i) bench.take(c.packets[i]);
    std::fill(bench.bytes.begin(), bench.bytes.end(), uint8_t{0});
    const Sequence expected = bench.responder.expected();
    CHECK(bench.take(c.packets.back()) == "invalid " + std::to_string(100 + expected));
    CHECK(bench.failure == "Local Invalid Request");
    CHECK(bench.responder.expected() == expected);
    CHECK(bench.placed == 0);
    CHECK(std::all_of(bench.bytes.begin(), bench.bytes.end(), [](uint8_t b) { return b == 0; }));
  }
}

TEST_CASE("a write is checked against the region as a whole, before its first byte") {
  const Reth wrong[] = {{kVa, kRkey ^ 0x100, 2 * RcPair::kPmtu},
                        {kVa - 1, kRkey, 2 * RcPair::kPmtu},
                        {kVa + (1 << 20) - 2 * RcPair::kPmtu + 1, kRkey, 2 * RcPair::kPmtu},
                        {~uint64_t{0} - 10, kRkey, 2 * RcPair::kPmtu},
                        {kVa, kRkey, 0xFFFF'FFFF}};
  for (const Reth& reth : wrong) {
    RcReceiver bench;
    MrcPacket packet = bench.packet(kRcWriteFirst, 100);
    std::get<RcHeaders>(packet.extension).reth = reth;
    CHECK(bench.take(packet) == "access 100");
    CHECK(bench.failure == "Local Access Violation");
    CHECK(bench.stats.memory_faults == 1);
    CHECK(bench.bytes[0] == 0);
  }
}

TEST_CASE("a SEND fills the buffer of the oldest receive, and its completion says its length") {
  RcReceiver bench;
  std::vector<uint8_t> buffer(3 * RcPair::kPmtu), other(100);
  bench.responder.receives().post({7, buffer});
  bench.responder.receives().post({8, other});
  CHECK(bench.take(bench.packet(kSendFirst, 100)).empty());
  CHECK(bench.take(bench.packet(kSendMiddle, 101)).empty());
  CHECK(bench.received.empty());
  CHECK(bench.take(bench.packet(kSendLast, 102, 10, 0, true)) == "ack 102");
  REQUIRE(bench.received.size() == 1);
  CHECK(bench.received[0].id == 7);
  CHECK(bench.received[0].bytes == 2 * RcPair::kPmtu + 10);
  CHECK(buffer[2 * RcPair::kPmtu + 9] == 10);
  CHECK(buffer[2 * RcPair::kPmtu + 10] == 0);
  CHECK(bench.take(bench.packet(kSendOnlyImm, 103, 100)).empty());
  REQUIRE(bench.received.size() == 2);
  CHECK(bench.received[1].id == 8);
  CHECK(bench.received[1].immediate == 0xBEEF);
}

TEST_CASE("a SEND longer than its buffer is an invalid request, and never writes beyond it") {
  struct Case {
    size_t room;
    std::vector<std::pair<Opcode, size_t>> packets;
  };
  const Case cases[] = {
      {100, {{kSendOnly, 101}}},
      {100, {{kSendFirst, RcPair::kPmtu}}},
      {RcPair::kPmtu, {{kSendFirst, RcPair::kPmtu}, {kSendLast, 1}}},
      {RcPair::kPmtu + 100, {{kSendFirst, RcPair::kPmtu}, {kSendMiddle, RcPair::kPmtu}}},
      {RcPair::kPmtu + 100, {{kSendFirst, RcPair::kPmtu}, {kSendLast, 101}}},
      {0, {{kSendOnly, 1}}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.room);
    RcReceiver bench;
    std::vector<uint8_t> memory(c.room + 4 * RcPair::kPmtu);
    bench.responder.receives().post({7, std::span(memory).first(c.room)});
    std::string last;
    uint32_t psn = 100;
    for (const auto& [opcode, length] : c.packets) {
      last = bench.take(bench.packet(opcode, psn++, length));
    }
    CHECK(last == "invalid " + std::to_string(psn - 1));
    CHECK(std::all_of(memory.begin() + static_cast<int64_t>(c.room), memory.end(),
                      [](uint8_t b) { return b == 0; }));
    CHECK(bench.received.empty());
    CHECK(bench.receives_failed == 1);
    CHECK_FALSE(bench.responder.receives().has_posted());
  }
}

TEST_CASE(
    "without a receive the answer is receiver not ready, once, and the packet has not arrived") {
  RcReceiver bench;
  bench.responder.receives().stop_replenishing();
  SUBCASE("a SEND at its first packet") {
    CHECK(bench.take(bench.packet(kSendFirst, 100)) == "rnr 100");
  }
  SUBCASE("a write with immediate at its last") {
    CHECK(bench.take(bench.packet(kRcWriteOnlyImm, 100, 8)) == "rnr 100");
    CHECK(bench.bytes[0] == 0);
  }
  CHECK(bench.refusal == Refusal::kNotReady);
  CHECK(bench.failure.empty());
  CHECK(bench.placed == 0);
  for (uint32_t psn = 101; psn < 110; ++psn) {
    CHECK(bench.take(bench.packet(kRcWriteOnly, psn, 8)).empty());
  }
  CHECK(bench.responder.expected() == 0);
  bench.responder.receives().post({5, {}});
  CHECK(bench.take(bench.packet(kRcWriteOnlyImm, 100, 8, 0, true)) == "ack 100");
  REQUIRE(bench.received.size() == 1);
  CHECK(bench.received[0].id == 5);
  CHECK(bench.received[0].bytes == 8);
}

TEST_CASE("a selective receiver keeps what it knows the place of, and NAKs each hole once") {
  RcReceiver bench(selective());
  CHECK(bench.take(bench.packet(kRcWriteFirst, 100, RcPair::kPmtu, 6 * RcPair::kPmtu)).empty());
  CHECK(bench.take(bench.packet(kRcWriteMiddle, 102)) == "nak 101");
  CHECK(bench.placed == RcPair::kPmtu);
  CHECK(bench.take(bench.packet(kRcWriteMiddle, 102)).empty());
  CHECK(bench.refusal == Refusal::kDuplicate);
  CHECK(bench.take(bench.packet(kRcWriteMiddle, 104)).empty());
  CHECK(bench.take(bench.packet(kRcWriteOnlyImm, 106, 8)).empty());  // the next message, whole
  CHECK(bench.received.empty());
  CHECK(bench.take(bench.packet(kRcWriteMiddle, 101)) ==
        "nak 103");  // as it goes on, and where it stops
  CHECK(bench.take(bench.packet(kRcWriteMiddle, 103)) == "nak 105");
  CHECK(bench.responder.expected() == 5);
  CHECK(bench.take(bench.packet(kRcWriteLast, 105)) == "ack 106");
  CHECK(bench.received.size() == 1);
  CHECK(bench.msn == 2);
}

TEST_CASE("with reorder a selective receiver asks only when a packet is so far ahead") {
  RcReceiver bench(selective(4));
  bench.take(bench.packet(kRcWriteFirst, 100, RcPair::kPmtu, 60 * RcPair::kPmtu));
  for (uint32_t psn = 102; psn < 105; ++psn) {
    CHECK(bench.take(bench.packet(kRcWriteMiddle, psn)).empty());
  }
  SUBCASE("it comes by itself") {
    CHECK(bench.take(bench.packet(kRcWriteMiddle, 101)) == "ack 104");
  }
  SUBCASE("it does not") { CHECK(bench.take(bench.packet(kRcWriteMiddle, 105)) == "nak 101"); }
}

TEST_CASE("what a patient receiver has turned away it asks for when its turn comes") {
  RcReceiver bench(selective(32));
  CHECK(bench.take(bench.packet(kRcWriteMiddle, 101)).empty());  // its message has not begun yet
  CHECK(bench.refusal == Refusal::kOutOfOrder);
  CHECK(bench.take(bench.packet(kRcWriteFirst, 100, RcPair::kPmtu, 4 * RcPair::kPmtu)) ==
        "nak 101");
  CHECK(bench.take(bench.packet(kRcWriteLast, 103)).empty());  // 102 may only be late
  CHECK(bench.take(bench.packet(kRcWriteMiddle, 101)).empty());
  CHECK(bench.take(bench.packet(kRcWriteMiddle, 102)) == "ack 103");
}

TEST_CASE("a selective receiver keeps no SEND, no packet without its first, and none 64 ahead") {
  RcReceiver bench(selective());
  std::vector<uint8_t> buffer(100);
  bench.responder.receives().post({7, buffer});
  const MrcPacket packets[] = {bench.packet(kSendOnly, 102, 8), bench.packet(kRcWriteMiddle, 103),
                               bench.packet(kRcWriteOnly, 164, 8)};
  for (const MrcPacket& packet : packets) {
    bench.take(packet);
    CHECK(bench.refusal == Refusal::kOutOfOrder);
    CHECK(bench.placed == 0);
  }
  CHECK(bench.take(bench.packet(kRcWriteOnly, 163, 8)).empty());
  CHECK(bench.refusal == Refusal::kNone);
}

TEST_CASE(
    "a packet beyond any sender's window does not make a receiver ask for what is under way") {
  RcReceiver bench(selective());
  CHECK(bench.take(bench.packet(kRcWriteOnly, 100 + 0x7F'FFFF, 8)) == "nak 100");
  for (uint32_t psn = 100; psn < 110; ++psn) {
    CHECK(bench.take(bench.packet(kRcWriteOnly, psn, 8)).empty());
  }
}

TEST_CASE("what waits ahead for a receive is in memory once, and is told when there is one") {
  RcReceiver bench(selective());
  bench.responder.receives().stop_replenishing();
  CHECK(bench.take(bench.packet(kRcWriteOnlyImm, 101, 8)) == "nak 100");
  CHECK(bench.placed == 8);
  CHECK(bench.take(bench.packet(kRcWriteOnly, 100, 8)) == "rnr 101");
  CHECK(bench.take(bench.packet(kRcWriteOnlyImm, 101, 8)) == "rnr 101");
  CHECK(bench.refusal == Refusal::kNotReady);
  bench.responder.receives().post({5, {}});
  CHECK(bench.take(bench.packet(kRcWriteOnlyImm, 101, 8)) == "ack 101");
  CHECK(bench.placed == 0);
  CHECK(bench.received.size() == 1);
}

TEST_CASE("messages that overlap ahead are found out when their turn comes") {
  RcReceiver bench(selective());
  CHECK(bench.take(bench.packet(kRcWriteFirst, 101, RcPair::kPmtu, 4 * RcPair::kPmtu)) ==
        "nak 100");
  CHECK(bench.take(bench.packet(kRcWriteFirst, 102, RcPair::kPmtu, 2 * RcPair::kPmtu)).empty());
  CHECK(bench.take(bench.packet(kRcWriteOnly, 100, 8)) == "invalid 102");
  CHECK(bench.failure == "Local Invalid Request");
}

TEST_CASE(
    "a placing receiver holds what overtakes the first packet of its message, and then places it") {
  RcReceiver bench(placing());
  CHECK(bench.take(bench.packet(kRcWriteMiddle, 101)).empty());
  CHECK(bench.take(bench.packet(kRcWriteLast, 102, 8)).empty());
  CHECK(bench.take(bench.packet(kRcWriteMiddle, 101)).empty());
  CHECK(bench.refusal == Refusal::kDuplicate);
  CHECK(bench.placed == 0);
  const uint32_t whole = 2 * RcPair::kPmtu + 8;
  SUBCASE("the first packet is the expected one") {
    CHECK(bench.take(bench.packet(kRcWriteFirst, 100, RcPair::kPmtu, whole)) == "ack 102");
    CHECK(bench.placed == whole);
    const auto middle = bench.bytes.subspan(RcPair::kPmtu, RcPair::kPmtu);
    CHECK(std::equal(middle.begin(), middle.end(), bench.payload.begin()));
    CHECK(bench.msn == 1);
  }
  SUBCASE("what does not fit into its message counts as not arrived") {
    CHECK(bench.take(bench.packet(kRcWriteFirst, 100, RcPair::kPmtu, whole + 8)) == "ack 101");
    CHECK(bench.placed == 2 * RcPair::kPmtu);
    CHECK(bench.responder.expected() == 2);
    CHECK(bench.take(bench.packet(kRcWriteLast, 102, 8)) == "invalid 102");
  }
  SUBCASE("no message begins there") {
    CHECK(bench.take(bench.packet(kRcWriteOnly, 100, 8)) == "invalid 101");
  }
}

TEST_CASE(
    "a placing receiver takes a window of packets, and holds no more than 128 without a place") {
  RcReceiver bench(placing(256));
  bench.take(bench.packet(kRcWriteOnly, 355, 8));  // the last of the window
  CHECK(bench.refusal == Refusal::kNone);
  bench.take(bench.packet(kRcWriteOnly, 356, 8));
  CHECK(bench.refusal == Refusal::kOutOfOrder);
  for (uint32_t psn = 101; psn < 101 + 128; ++psn) {
    bench.take(bench.packet(kRcWriteMiddle, psn));
    CHECK(bench.refusal == Refusal::kNone);
  }
  bench.take(bench.packet(kRcWriteMiddle, 240));
  CHECK(bench.refusal == Refusal::kOutOfOrder);
}
