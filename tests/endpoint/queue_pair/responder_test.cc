#include "endpoint/queue_pair/responder.h"

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "endpoint/options/profile_maker.h"
#include "fabric/topology/path.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::endpoint;

namespace {

/// A responder with one region of 64 KiB; packets are made as the parser would deliver them.
class ResponderBench : private ResponderEvents {
 public:
  explicit ResponderBench(Psn first = Psn{0xFFFFFE},
                          TransportProfile changed = make_profile("lab", test::octet()))
      : first_psn(first),
        profile(std::move(changed)),
        region({0x5000'0000, 0xAAAA'A001, {65536}}),
        bytes(memory.register_region(region)),
        payload(4096),
        received(profile),
        responder(profile, limits_of(profile).receiving, first, memory, received, *this, stats) {
    std::iota(payload.begin(), payload.end(), uint8_t{1});
  }

  MrcPacket packet(int index, Opcode opcode, uint64_t offset, size_t length, uint32_t total) {
    MrcPacket p;
    p.bth.opcode = opcode;
    p.bth.psn = first_psn + index;
    p.udp.source_port = source_port_of(ev);
    p.inner.flow_label = flow_label_of(ev);
    p.outer.traffic_class = kDscpTrimmable << 2 | kEcnEct0;
    WriteHeaders w;
    w.tseth = Tseth{0x55, false, 1};
    w.reth = Reth{region.va + offset, region.rkey, total};
    if (has_immediate(opcode)) w.immediate = 0x100 + static_cast<uint32_t>(index);
    p.extension = w;
    p.payload = std::span<const uint8_t>(payload).first(length);
    p.payload_length = length;
    return p;
  }
  Refusal deliver(const MrcPacket& p) {
    replies = {};
    placed = 0;
    return responder.on_write(p, replies, placed);
  }
  bool untouched() const {
    return std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b == 0; });
  }

  Psn first_psn;
  TransportProfile profile;
  EntropyValue ev = ev_of({3, 1});
  MemoryRegistry memory;
  RegionPlan region;
  std::span<uint8_t> bytes;
  std::vector<uint8_t> payload;
  HostStats stats;
  ReceiveResources received;
  Responder responder;
  Replies replies;
  uint64_t placed = 0;
  std::vector<uint32_t> immediates;
  std::vector<ReceiveCompletion> receives;

 private:
  void immediate_received(const ReceiveCompletion& c) override {
    immediates.push_back(c.immediate);
    receives.push_back(c);
  }
};

}  // namespace

TEST_CASE("packets of a message land at their addresses in any order, across the PSN wrap") {
  ResponderBench b;
  CHECK(b.deliver(b.packet(2, Opcode::kWriteLastImm, 8192, 100, 8292)) == Refusal::kNone);
  CHECK(b.immediates.empty());
  CHECK(b.bytes[8192] == 1);
  CHECK(b.bytes[8192 + 99] == 100);
  CHECK(b.deliver(b.packet(0, Opcode::kWriteFirst, 0, 4096, 8292)) == Refusal::kNone);
  CHECK(!b.replies.ack);
  CHECK(b.deliver(b.packet(1, Opcode::kWriteMiddle, 4096, 4096, 8292)) == Refusal::kNone);
  CHECK(b.immediates == std::vector<uint32_t>{0x102});
  REQUIRE(b.replies.ack);
  CHECK(b.replies.ack_psn == Psn{0});
  CHECK(b.replies.ack->msn == 1);
  CHECK(b.bytes[4096 + 4095] == b.payload[4095]);
  CHECK(b.bytes[8292] == 0);
}

TEST_CASE("immediates are told in the order of posting whatever the order of arrival") {
  ResponderBench b;
  for (const int i : {3, 1, 2, 0}) {
    b.deliver(b.packet(i, Opcode::kWriteOnlyImm, 0, 8, 8));
  }
  CHECK(b.immediates == std::vector<uint32_t>{0x100, 0x101, 0x102, 0x103});
}

TEST_CASE("a duplicate is answered and writes nothing") {
  ResponderBench b;
  b.deliver(b.packet(1, Opcode::kWriteOnly, 0, 8, 8));
  b.deliver(b.packet(0, Opcode::kWriteOnly, 8, 8, 8));
  b.payload[0] = 0xEE;
  CHECK(b.deliver(b.packet(1, Opcode::kWriteOnly, 0, 8, 8)) == Refusal::kDuplicate);
  CHECK(b.replies.sack);
  CHECK(b.replies.ack);
  CHECK(b.bytes[0] == 1);
  CHECK(b.placed == 0);
  b.deliver(b.packet(5, Opcode::kWriteOnly, 0, 8, 8));
  CHECK(b.deliver(b.packet(5, Opcode::kWriteOnly, 0, 8, 8)) == Refusal::kDuplicate);
  CHECK(b.replies.sack);
  CHECK(!b.replies.ack);
}

TEST_CASE("outside the window: ahead gets a NACK, the far past nothing") {
  ResponderBench b;
  CHECK(b.deliver(b.packet(1024, Opcode::kWriteOnly, 0, 8, 8)) == Refusal::kPsnOutOfWindow);
  REQUIRE(b.replies.nack);
  CHECK(b.replies.nack->reason == static_cast<uint8_t>(NackReason::kPsnOutOfWindow));
  CHECK(b.deliver(b.packet(-5000, Opcode::kWriteOnly, 0, 8, 8)) == Refusal::kPsnFarPast);
  CHECK(!b.replies.nack);
  CHECK(!b.replies.sack);
  CHECK(b.untouched());
}

TEST_CASE(
    "bad packets that were under way together get one NAK, an earlier or repeated one its own") {
  ResponderBench b;
  const auto bad = [&b](int index, bool again) {
    MrcPacket p = b.packet(index, Opcode::kWriteOnly, 0, 8, 8);
    std::get<WriteHeaders>(p.extension).reth->rkey ^= 0x1000;
    p.bth.retransmission = again;
    CHECK(b.deliver(p) == Refusal::kBadRkey);
    return b.replies.nak.has_value();
  };
  CHECK(bad(5, false));
  for (int i = 6; i < 20; ++i) CHECK(!bad(i, false));
  CHECK(bad(3, false));
  CHECK(b.replies.nak_psn == b.first_psn + 3);
  CHECK(bad(7, true));
}

TEST_CASE("a bad rkey, address or length never reaches memory or the bitmap") {
  ResponderBench b;
  auto bad_rkey = b.packet(0, Opcode::kWriteOnly, 0, 8, 8);
  std::get<WriteHeaders>(bad_rkey.extension).reth->rkey ^= 0x1000;
  CHECK(b.deliver(bad_rkey) == Refusal::kBadRkey);
  REQUIRE(b.replies.nak);
  CHECK(b.replies.nak->syndrome == 0x62);
  CHECK(b.replies.nak_psn == b.first_psn);
  CHECK(b.deliver(b.packet(0, Opcode::kWriteOnly, 65536 - 7, 8, 8)) == Refusal::kOutOfBounds);
  auto below = b.packet(0, Opcode::kWriteOnly, 0, 8, 8);
  std::get<WriteHeaders>(below.extension).reth->va = b.region.va - 1;
  CHECK(b.deliver(below) == Refusal::kOutOfBounds);
  CHECK(b.stats.memory_faults == 3);
  for (const auto& [opcode, length, total] : {std::tuple{Opcode::kWriteOnly, size_t{0}, 1u},
                                              {Opcode::kWriteLast, size_t{0}, 4096u},
                                              {Opcode::kWriteLast, size_t{0}, 0u},
                                              {Opcode::kWriteFirst, size_t{0}, 0u},
                                              {Opcode::kWriteOnly, size_t{8}, 9u},
                                              {Opcode::kWriteFirst, size_t{4095}, 8192u},
                                              {Opcode::kWriteLast, size_t{8}, 7u}}) {
    CHECK(b.deliver(b.packet(0, opcode, 0, length, total)) == Refusal::kBadLength);
  }
  auto lying = b.packet(0, Opcode::kWriteOnly, 0, 8, 8);
  lying.payload_length = 9;
  CHECK(b.deliver(lying) == Refusal::kBadLength);
  auto no_reth = b.packet(0, Opcode::kWriteOnly, 0, 8, 8);
  std::get<WriteHeaders>(no_reth.extension).reth.reset();
  CHECK(b.deliver(no_reth) == Refusal::kBadLength);
  CHECK(b.untouched());
  CHECK(b.responder.window().highest() == -1);
  CHECK(b.deliver(b.packet(0, Opcode::kWriteOnly, 0, 8, 8)) == Refusal::kNone);
}

TEST_CASE(
    "a trimmed packet is answered by a NACK that names its value and time, and leaves no bit") {
  ResponderBench b;
  auto p = b.packet(4, Opcode::kWriteMiddle, 0, 0, 65536);
  p.trimmed = true;
  p.payload_length = 4096;
  p.outer.traffic_class = kDscpTrimmed << 2;
  CHECK(b.deliver(p) == Refusal::kNone);
  REQUIRE(b.replies.nack);
  CHECK(b.replies.nack->reason == static_cast<uint8_t>(NackReason::kTrimmed));
  CHECK(b.replies.nack->psn == b.first_psn + 4);
  CHECK(b.replies.nack->entropy == b.ev);
  CHECK(b.replies.nack->tx_timestamp == 0x55);
  CHECK(b.responder.window().highest() == -1);
  p.outer.traffic_class = kDscpTrimmedLastHop << 2;
  b.deliver(p);
  CHECK(b.replies.nack->reason == static_cast<uint8_t>(NackReason::kTrimmedLastHop));
  CHECK(b.stats.trims_seen == 2);
  CHECK(b.untouched());
}

TEST_CASE(
    "SACKs come at the threshold, on request, on CE, on retransmission, each with its value") {
  ResponderBench b;
  int index = 0;
  const auto deliver = [&](auto change) {
    auto p = b.packet(index++, Opcode::kWriteMiddle, 0, 4096, 65536);
    change(p);
    b.deliver(p);
    return b.replies.sack;
  };
  const auto plain = [](MrcPacket&) {};
  for (int i = 0; i < 4; ++i) CHECK(!deliver(plain));
  CHECK(deliver(plain));
  CHECK(!deliver(plain));
  const auto asked = deliver([](MrcPacket& p) { p.bth.ack_request = true; });
  REQUIRE(asked);
  CHECK(asked->mark == SackMark::kNone);
  CHECK(asked->entropy == b.ev);
  CHECK(asked->tx_timestamp == 0x55);
  const auto marked = deliver([](MrcPacket& p) { p.outer.traffic_class |= kEcnCe; });
  REQUIRE(marked);
  CHECK(marked->mark == SackMark::kSkipOnce);
  CHECK(deliver([](MrcPacket& p) { p.bth.retransmission = true; }));
  CHECK(!deliver(plain));
}

TEST_CASE(
    "a reliability probe is answered by a SACK with its id, and by the ACK that may be lost") {
  ResponderBench b;
  MrcPacket probe;
  probe.bth.opcode = Opcode::kProbeRequest;
  probe.extension = Peth{0, 0x4242, 0, 0, 0x99, false, 1};
  Replies replies;
  b.responder.on_probe(probe, replies);
  REQUIRE(replies.sack);
  CHECK(replies.sack->probe_response);
  CHECK(replies.sack->psn_offset_or_probe_id == 0x4242);
  CHECK(!replies.ack);
  b.deliver(b.packet(0, Opcode::kWriteOnly, 0, 8, 8));
  b.responder.on_probe(probe, replies);
  REQUIRE(replies.ack);
  CHECK(replies.ack_psn == b.first_psn);
}

TEST_CASE("each Write-with-Immediate uses up the oldest receive, told with its id and length") {
  ResponderBench b;
  CHECK(b.responder.receives().post({71, {}}));
  CHECK(b.responder.receives().post({72, {}}));
  b.deliver(b.packet(2, Opcode::kWriteOnlyImm, 0, 9, 9));
  b.deliver(b.packet(1, Opcode::kWriteLastImm, 4096, 100, 4196));
  CHECK(b.receives.empty());
  b.deliver(b.packet(0, Opcode::kWriteFirst, 0, 4096, 4196));
  REQUIRE(b.receives.size() == 2);
  CHECK(b.receives[0].id == 71);
  CHECK(b.receives[0].bytes == 4196);
  CHECK(b.receives[0].immediate == 0x101);
  CHECK(b.receives[1].id == 72);
  CHECK(b.receives[1].bytes == 9);
  CHECK(!b.responder.receives().has_posted());
}

TEST_CASE("an application that never posts a receive has them replenished, up to the limit else") {
  ReceiveQueue receives;
  CHECK(receives.take_receive()->id == 0u);
  for (uint64_t id = 1; id <= ReceiveQueue::kLimit; ++id) REQUIRE(receives.post({id, {}}));
  CHECK(!receives.post({0, {}}));
  CHECK(receives.next_receive()->id == 1u);
  CHECK(receives.take_receive()->id == 1u);
}

TEST_CASE("a Write-with-Immediate without a receive: a NAK for it, an ACK for what was before") {
  ResponderBench b;
  b.responder.receives().post({1, {}});
  b.deliver(b.packet(1, Opcode::kWriteOnlyImm, 0, 8, 8));
  b.deliver(b.packet(2, Opcode::kWriteOnlyImm, 0, 8, 8));
  CHECK(b.replies.failure.empty());
  CHECK(b.deliver(b.packet(0, Opcode::kWriteOnly, 0, 8, 8)) == Refusal::kNone);
  CHECK(b.receives.size() == 1);
  REQUIRE(b.replies.ack);
  CHECK(b.replies.ack_psn == b.first_psn + 1);
  CHECK(b.replies.ack->msn == 2);
  REQUIRE(b.replies.nak);
  CHECK(b.replies.nak_psn == b.first_psn + 2);
  CHECK(b.replies.nak->syndrome == 0x63);
  CHECK(b.replies.failure == "Write With Immediate Without Receive");
}

TEST_CASE("more immediates in flight than agreed end the queue pair, and touch no memory") {
  ResponderBench b;  // agreed: 32
  const auto immediate = [&](int index, uint16_t rqmsn) {
    auto p = b.packet(index, Opcode::kWriteOnlyImm, 0, 8, 8);
    std::get<WriteHeaders>(p.extension).meth.rqmsn = rqmsn;
    return b.deliver(p);
  };
  CHECK(immediate(40, 33) == Refusal::kTooManyImmediates);
  REQUIRE(b.replies.nak);
  CHECK(b.replies.nak->syndrome == 0x65);
  CHECK(b.replies.nak_psn == b.first_psn + 40);
  CHECK(b.replies.failure == "Inflight WriteImm Limit Exceeded");
  CHECK(b.untouched());
  CHECK(immediate(41, 32) == Refusal::kNone);
  CHECK(immediate(0, 1) == Refusal::kNone);
  CHECK(immediate(42, 33) == Refusal::kNone);  // one has completed
  CHECK(immediate(43, 34) == Refusal::kTooManyImmediates);
}

TEST_CASE("a length that cannot be is answered as an invalid request") {
  ResponderBench b;
  CHECK(b.deliver(b.packet(3, Opcode::kWriteOnly, 0, 8, 9)) == Refusal::kBadLength);
  REQUIRE(b.replies.nak);
  CHECK(b.replies.nak->syndrome == 0x61);
  CHECK(b.replies.nak_psn == b.first_psn + 3);
  CHECK(b.replies.failure.empty());
}

TEST_CASE("out of the window silence is the other reading, without trim NACKs trims get none") {
  TransportProfile profile = make_profile("lab", test::octet());
  profile.nack_out_of_window = false;
  profile.trim_nack = false;
  ResponderBench b(Psn{5}, profile);
  CHECK(b.deliver(b.packet(1024, Opcode::kWriteOnly, 0, 8, 8)) == Refusal::kPsnOutOfWindow);
  CHECK(!b.replies.nack);
  auto p = b.packet(4, Opcode::kWriteMiddle, 0, 0, 65536);
  p.trimmed = true;
  p.outer.traffic_class = kDscpTrimmed << 2;
  CHECK(b.deliver(p) == Refusal::kNone);
  CHECK(!b.replies.nack);
  CHECK(b.stats.trims_seen == 1);
}

TEST_CASE("SACKs say the range only if both ends have dynamic MPR, never less than one unit") {
  TransportProfile profile = make_profile("lab", test::octet());
  ResponderBench off(Psn{5}, profile);
  profile.dynamic_mpr = true;
  ResponderBench on(Psn{5}, profile);
  int index = 0;
  const auto range = [&](ResponderBench& b) {
    auto p = b.packet(index++, Opcode::kWriteMiddle, 0, 4096, 65536);
    p.bth.ack_request = true;
    b.deliver(p);
    return int{b.replies.sack->mpr};
  };
  CHECK(range(on) == 8);
  on.responder.ask_for_range(3);
  CHECK(range(on) == 3);
  on.responder.ask_for_range(0);
  CHECK(range(on) == 1);
  on.responder.ask_for_range(100);
  CHECK(range(on) == 8);
  off.responder.ask_for_range(3);
  CHECK(range(off) == 0);
}
