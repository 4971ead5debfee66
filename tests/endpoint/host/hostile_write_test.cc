// Hostile packets to a responder that is idle: each is counted under its own reason, answered as
// MRC specifies or not at all, and nothing else of the run changes.

#include "tests/support/attack_table.h"
#include "tests/support/forgery.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using namespace mrclab::test;

namespace {

using A = PacketAttack;
using F = PacketAttack::Frames;

WriteHeaders& write_of(MrcFrameSpec& spec) { return std::get<WriteHeaders>(spec.extension); }

/// The next write with something changed.
template <class Change>
std::function<F(A&)> next_with(Change change, size_t length = 64) {
  return [=](A& a) {
    MrcFrameSpec spec = a.next_write(length);
    change(spec);
    return build_frame(spec);
  };
}

/// The newest whole frame to h1 with bytes changed and no new ICRC.
template <class Change>
std::function<F(A&)> newest_with(Change change) {
  return [=](A& a) {
    F frame = a.newest(1, Opcode::kWriteLast);
    change(frame);
    return frame;
  };
}

bool is_access_error(const MrcPacket& packet, const A&) {
  return std::get<Aeth>(packet.extension).syndrome == 0x62;
}

bool is_invalid_request(const MrcPacket& packet, const A&) {
  return std::get<Aeth>(packet.extension).syndrome == 0x61;
}

}  // namespace

TEST_CASE("a packet that is not for this queue pair or not whole is counted and not answered") {
  check_attacks(false,
                {
                    {"nothing at all", 1, Refusal::kMalformed, kNobody, [](A&) { return F{}; }},
                    {"a flipped payload bit", 1, Refusal::kBadIcrc, kNobody,
                     newest_with([](F& f) { f[f.size() - 20] ^= 1; })},
                    {"a wrong ICRC", 1, Refusal::kBadIcrc, kNobody,
                     newest_with([](F& f) { f.back() ^= 0x80; })},
                    {"ARP", 1, Refusal::kOtherTraffic, kNobody,
                     newest_with([](F& f) { f[12] = 8, f[13] = 6; })},
                    {"another UDP port", 1, Refusal::kNotMrc, kNobody,
                     newest_with([](F& f) { f[kUdpOffset + 2] ^= 1; })},
                    {"an opcode that MRC does not have (Send)", 1, Refusal::kMalformed, kNobody,
                     newest_with([](F& f) { f[kBthOffset] = 0xC4; })},
                    {"more pad than payload", 1, Refusal::kMalformed, kNobody,
                     [](A& a) {
                       F frame = build_frame(a.next_write(0));
                       frame[kBthOffset + 1] |= 0x30;
                       finish_mrc_frame(frame);
                       return frame;
                     }},
                    {"an unknown queue pair", 1, Refusal::kUnknownQp, kNobody,
                     next_with([](MrcFrameSpec& s) { s.bth.destination_qp.value ^= 0x5555; })},
                    {"an address that is no peer's", 1, Refusal::kWrongPeer, kNobody,
                     next_with([](MrcFrameSpec& s) { s.inner_source[15] ^= 0x40; })},
                    {"our own address as the sender's", 1, Refusal::kWrongPeer, kNobody,
                     next_with([](MrcFrameSpec& s) { s.inner_source = s.inner_destination; })},
                    {"another host's address", 1, Refusal::kWrongAddress, kNobody,
                     next_with([](MrcFrameSpec& s) { s.inner_destination = s.inner_source; })},
                    {"another port's carrier", 1, Refusal::kWrongCarrier, kNobody,
                     next_with([](MrcFrameSpec& s) { s.carrier[5] ^= 1; })},
                    {"no uSID of the block", 1, Refusal::kWrongCarrier, kNobody,
                     next_with([](MrcFrameSpec& s) { s.carrier[0] = 0x20; })},
                    {"a write to the endpoint's number", 1, Refusal::kUnexpectedOpcode, kNobody,
                     next_with([](MrcFrameSpec& s) { s.bth.destination_qp = kEndpointQpn; })},
                    {"a whole packet that says trimmed", 1, Refusal::kBadTrim, kNobody,
                     next_with([](MrcFrameSpec& s) { s.dscp = kDscpTrimmed; })},
                    {"a trimmed packet of an unknown queue pair", 1, Refusal::kUnknownQp, kNobody,
                     [](A& a) {
                       MrcFrameSpec s = a.next_write();
                       s.bth.destination_qp.value ^= 0x5555;
                       return trimmed_by_switch(build_frame(s), kDscpControl);
                     }},
                });
}

TEST_CASE("a carrier that names hops behind the NIC is refused: nothing forwards there") {
  for (const size_t byte : {6, 7, 8, 15}) {
    CAPTURE(byte);
    check_attack(false, {"a carrier that goes on", 1, Refusal::kCarrierNotEmpty, kNobody,
                         next_with([byte](MrcFrameSpec& s) { s.carrier[byte] = 0x20; })});
  }
}

TEST_CASE("a write that does not fit its message, its PMTU or the peer's memory changes nothing") {
  const uint32_t pmtu = A::topology().pmtu;
  check_attacks(
      false, {
                 {"no payload",
                  1,
                  Refusal::kBadLength,
                  {Opcode::kAcknowledge},
                  next_with([](MrcFrameSpec& s) { write_of(s).reth->dma_length = 64; }, 0),
                  is_invalid_request},
                 {"more than the PMTU",
                  1,
                  Refusal::kBadLength,
                  {Opcode::kAcknowledge},
                  next_with([](MrcFrameSpec& s) { write_of(s).reth->dma_length = 8192; }, pmtu + 4),
                  is_invalid_request},
                 {"more than the message",
                  1,
                  Refusal::kBadLength,
                  {Opcode::kAcknowledge},
                  next_with([](MrcFrameSpec& s) { write_of(s).reth->dma_length = 60; }),
                  is_invalid_request},
                 {"an only packet of a longer message",
                  1,
                  Refusal::kBadLength,
                  {Opcode::kAcknowledge},
                  next_with([](MrcFrameSpec& s) { write_of(s).reth->dma_length = 65; }),
                  is_invalid_request},
                 {"a first packet that is not full",
                  1,
                  Refusal::kBadLength,
                  {Opcode::kAcknowledge},
                  next_with([](MrcFrameSpec& s) {
                    s.bth.opcode = Opcode::kWriteFirst;
                    write_of(s).reth->dma_length = 8192;
                  }),
                  is_invalid_request},
                 {"a wrong pad count",
                  1,
                  Refusal::kBadLength,
                  {Opcode::kAcknowledge},
                  [](A& a) {
                    F frame = build_frame(a.next_write());
                    frame[kBthOffset + 1] |= 0x10;  // declares one byte of the payload as pad
                    finish_mrc_frame(frame);
                    return frame;
                  },
                  is_invalid_request},
                 {"a wrong rkey",
                  1,
                  Refusal::kBadRkey,
                  {Opcode::kAcknowledge},
                  next_with([](MrcFrameSpec& s) { write_of(s).reth->rkey ^= 0x1000; }),
                  is_access_error},
                 {"an rkey of no region",
                  1,
                  Refusal::kBadRkey,
                  {Opcode::kAcknowledge},
                  next_with([](MrcFrameSpec& s) { write_of(s).reth->rkey ^= 0xFFF; }),
                  is_access_error},
                 {"one byte below the region",
                  1,
                  Refusal::kOutOfBounds,
                  {Opcode::kAcknowledge},
                  next_with([](MrcFrameSpec& s) { --write_of(s).reth->va; }),
                  is_access_error},
                 {"one byte above the region",
                  1,
                  Refusal::kOutOfBounds,
                  {Opcode::kAcknowledge},
                  [](A& a) {
                    MrcFrameSpec s = a.next_write();
                    write_of(s).reth->va += a.plan().region.size.value - 63;
                    return build_frame(s);
                  },
                  is_access_error},
                 {"an address whose end overflows",
                  1,
                  Refusal::kOutOfBounds,
                  {Opcode::kAcknowledge},
                  next_with([](MrcFrameSpec& s) { write_of(s).reth->va = ~uint64_t{0} - 10; }),
                  is_access_error},
                 {"address zero",
                  1,
                  Refusal::kOutOfBounds,
                  {Opcode::kAcknowledge},
                  next_with([](MrcFrameSpec& s) { write_of(s).reth->va = 0; }),
                  is_access_error},
             });
}

TEST_CASE("a PSN that is not new never touches memory, whatever the packet says") {
  check_attacks(
      false,
      {
          {"a replayed packet",
           1,
           Refusal::kDuplicate,
           {Opcode::kSack, Opcode::kAcknowledge},
           newest_with([](F&) {})},
          {"a replayed PSN with another payload and address",
           1,
           Refusal::kDuplicate,
           {Opcode::kSack, Opcode::kAcknowledge},
           next_with([](MrcFrameSpec& s) { s.bth.psn = s.bth.psn + (-3); })},
          {"a replayed PSN with a wrong rkey",
           1,
           Refusal::kDuplicate,
           {Opcode::kSack, Opcode::kAcknowledge},
           next_with([](MrcFrameSpec& s) {
             s.bth.psn = s.bth.psn + (-1);
             write_of(s).reth->rkey = 0;
           })},
          {"beyond the window",
           1,
           Refusal::kPsnOutOfWindow,
           {Opcode::kNack},
           next_with([](MrcFrameSpec& s) { s.bth.psn = s.bth.psn + 1024; }),
           [](const MrcPacket& p, const A&) {
             return std::get<Neth>(p.extension).reason ==
                    static_cast<uint8_t>(NackReason::kPsnOutOfWindow);
           }},
          {"half the PSN space ahead",
           1,
           Refusal::kPsnOutOfWindow,
           {Opcode::kNack},
           next_with([](MrcFrameSpec& s) { s.bth.psn = s.bth.psn + 0x7F'FFF0; })},
          {"before the first packet", 1, Refusal::kPsnFarPast, kNobody,
           next_with([](MrcFrameSpec& s) { s.bth.psn = s.bth.psn + (-0x7F'FFF0); })},
          {"a trimmed packet that has arrived whole",
           1,
           Refusal::kDuplicate,
           {Opcode::kSack},
           newest_with([](F& f) { f = trimmed_by_switch(f, kDscpTrimmed); })},
          {"a trimmed packet of the next PSN",
           1,
           Refusal::kNone,
           {Opcode::kNack},
           [](A& a) { return trimmed_by_switch(build_frame(a.next_write()), kDscpTrimmedLastHop); },
           [](const MrcPacket& p, const A&) {
             return std::get<Neth>(p.extension).reason ==
                    static_cast<uint8_t>(NackReason::kTrimmedLastHop);
           }},
          {"a trimmed packet beyond the window", 1, Refusal::kPsnOutOfWindow, kNobody,
           [](A& a) {
             MrcFrameSpec s = a.next_write();
             s.bth.psn = s.bth.psn + 4000;
             return trimmed_by_switch(build_frame(s), kDscpTrimmed);
           }},
      });
}

TEST_CASE("a packet cut off at any length is malformed or nobody's, and nothing else happens") {
  PacketAttack attacked, baseline;
  attacked.run_until_idle();
  const F whole = attacked.newest(1, Opcode::kWriteLast);
  const uint64_t before = attacked.stats(1).refused_for(Refusal::kMalformed);
  for (size_t length = 0; length < whole.size(); ++length) {
    attacked.inject(1, F(whole.begin(), whole.begin() + static_cast<long>(length)), 0);
  }
  attacked.run_until(PacketAttack::end());
  baseline.run_until(PacketAttack::end());
  CHECK(attacked.stats(1).refused_for(Refusal::kMalformed) - before == whole.size());
  CHECK(attacked.sent() == baseline.sent());
}

TEST_CASE("any single flipped bit of a replayed packet is refused or answered as a replay") {
  PacketAttack attacked, baseline;
  attacked.run_until_idle();
  const F whole = build_frame([&] {
    MrcFrameSpec s = attacked.next_write();
    s.bth.psn = s.bth.psn + (-1);
    return s;
  }());
  size_t sent = attacked.sent().size();
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    F frame = whole;
    frame[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    CAPTURE(bit);
    attacked.inject(1, frame, port_of(whole));
  }
  attacked.run_until(PacketAttack::end());
  baseline.run_until(PacketAttack::end());
  const HostStats a = attacked.stats(1), b = baseline.stats(1);
  CHECK(a.bytes_verified == b.bytes_verified);
  CHECK(a.goodput_bytes() == b.goodput_bytes());
  CHECK(a.qps_in_error == 0);
  uint64_t refused = 0;
  for (size_t i = 0; i < kRefusals; ++i) refused += a.refused[i] - b.refused[i];
  CHECK(refused == whole.size() * 8);
  // The ICRC does not protect Ethernet, hop limits, flow labels, DSCP and ECN; it protects the
  // rest.
  CHECK(a.refused_for(Refusal::kBadIcrc) > whole.size() * 8 / 2);
  CHECK(attacked.sent().size() - sent > 0);
}
