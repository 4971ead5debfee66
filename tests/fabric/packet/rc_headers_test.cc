// RoCEv2's packet formats: golden vectors byte for byte, both ways. Those over IPv6 were made by another
// encoder and read by Wireshark 4.0; the CNP over IPv4 was captured from a ConnectX-4 Lx (scapy's
// contrib/roce tests).

#include <doctest/doctest.h>

#include "fabric/packet/headers.h"
#include "fabric/packet/pause_frame.h"
#include "tests/support/bytes.h"
#include "tests/support/mrc_frames.h"
#include "tests/support/sample_frames.h"

using namespace mrclab;
using namespace mrclab::test;

namespace {

struct RcGolden {
  std::string_view what;
  std::string_view hex;  ///< from the IP header on, with ICRC
  Bth bth;
  Extension extension;
  std::vector<uint8_t> payload;
};

Bth rc_bth(Opcode opcode, uint32_t qp, uint32_t psn, bool ask) {
  Bth bth;
  bth.opcode = opcode;
  bth.migration = true;
  bth.destination_qp = {qp};
  bth.psn = Psn{psn};
  bth.ack_request = ask;
  return bth;
}

std::vector<RcGolden> rc_goldens() {
  RcHeaders write;
  write.reth = Reth{0x1122334455667788, 0xAABBCCDD, 8};
  return {
      {"write only",
       "66a38e8300301140 fd000001000000000000000000000001 fd000002000000000000000000000002"
       "ce8d12b700300000 0a40ffff0000032180000456 1122334455667788aabbccdd00000008"
       "0001020304050607 2e524996",
       rc_bth(Opcode::kRcWriteOnly, 0x321, 0x456, true),
       write,
       {0, 1, 2, 3, 4, 5, 6, 7}},
      {"acknowledge",
       "66a38e83001c1140 fd000001000000000000000000000001 fd000002000000000000000000000002"
       "ce8d12b7001c0000 1140ffff0000012300000456 1f000007 2e201121",
       rc_bth(Opcode::kRcAcknowledge, 0x123, 0x456, false),
       Aeth{0x1F, 7},
       {}},
      {"NAK of a sequence",
       "66a38e83001c1140 fd000001000000000000000000000001 fd000002000000000000000000000002"
       "ce8d12b7001c0000 1140ffff0000012300000457 60000007 54b92d2f",
       rc_bth(Opcode::kRcAcknowledge, 0x123, 0x457, false),
       Aeth{0x60, 7},
       {}},
      {"receiver not ready",
       "66a38e83001c1140 fd000001000000000000000000000001 fd000002000000000000000000000002"
       "ce8d12b7001c0000 1140ffff0000012300000458 2c000007 00c9bf7c",
       rc_bth(Opcode::kRcAcknowledge, 0x123, 0x458, false),
       Aeth{0x2C, 7},
       {}},
  };
}

std::vector<uint8_t> ethernet_frame(std::string_view ethertype, std::string_view rest) {
  return from_hex("020000000002 020000000001" + std::string(ethertype) + std::string(rest));
}

constexpr std::string_view kCnp =
    "45c2003c718c4000401191610a0011010a001201 000012b700280000 8100ffff4000011800000000"
    "00000000000000000000000000000000 82fd002a";

}  // namespace

TEST_CASE("RoCEv2's golden vectors are read field for field, and their ICRC is right") {
  for (const RcGolden& golden : rc_goldens()) {
    CAPTURE(golden.what);
    std::vector<uint8_t> frame = ethernet_frame("86dd", golden.hex);
    MrcPacket packet;
    REQUIRE(parse_mrc_frame(frame, packet) == ParseError::kNone);
    CHECK(packet.encapsulation == Encapsulation::kIpv6);
    CHECK(packet.bth == golden.bth);
    CHECK(packet.extension == golden.extension);
    CHECK(std::equal(packet.payload.begin(), packet.payload.end(), golden.payload.begin(),
                     golden.payload.end()));
    CHECK(packet.inner.dscp() == 26);
    CHECK(packet.inner.ecn() == kEcnEct0);
    CHECK(packet.inner.flow_label == 0x38E83);
    CHECK(packet.udp.source_port == 0xCE8D);
    CHECK(icrc_ok(frame));
    frame.back() ^= 1;
    CHECK_FALSE(icrc_ok(frame));
  }
}

TEST_CASE("RoCEv2's golden vectors are written byte for byte") {
  for (const RcGolden& golden : rc_goldens()) {
    CAPTURE(golden.what);
    MrcFrameSpec spec;
    spec.encapsulation = Encapsulation::kIpv6;
    spec.source_mac = {2, 0, 0, 0, 0, 1};
    spec.destination_mac = {2, 0, 0, 0, 0, 2};
    spec.inner_source = {0xFD, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    spec.inner_destination = {0xFD, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
    spec.dscp = 26;
    spec.ev = {0x8E83'CE8D};
    spec.bth = golden.bth;
    spec.extension = golden.extension;
    spec.payload_length = golden.payload.size();
    std::vector<uint8_t> frame(mrc_frame_size(spec));
    const std::span<uint8_t> room = write_mrc_headers(spec, frame);
    std::copy(golden.payload.begin(), golden.payload.end(), room.begin());
    finish_mrc_frame(frame);
    // Our labels have 16 bits, as many as an entropy value leaves for them; the ICRC masks the field.
    frame[kEthernetBytes + 1] |= 3;
    CHECK(to_hex(frame) == to_hex(ethernet_frame("86dd", golden.hex)));
  }
}

TEST_CASE("a captured CNP is read, its ICRC is right, and ours has the same bytes") {
  const std::vector<uint8_t> captured = ethernet_frame("0800", kCnp);
  MrcPacket packet;
  REQUIRE(parse_mrc_frame(captured, packet) == ParseError::kNone);
  CHECK(packet.encapsulation == Encapsulation::kIpv4);
  CHECK(packet.bth.opcode == Opcode::kCongestionNotification);
  CHECK(packet.bth.variant_reserved == kBecn);
  CHECK(packet.bth.destination_qp == Qpn{0x118});
  CHECK(packet.bth.psn == Psn{0});
  CHECK(packet.inner.dscp() == 48);
  CHECK(packet.inner.ecn() == kEcnEct0);
  CHECK(packet.payload.empty());
  CHECK(icrc_ok(captured));

  MrcFrameSpec spec = spec_of(packet);
  spec.ev = {0};  // its source port is 0
  std::vector<uint8_t> ours(mrc_frame_size(spec));
  write_mrc_headers(spec, ours);
  // We leave the identification at 0. It is covered by the ICRC.
  uint8_t* const ip = &ours[kEthernetBytes];
  ip[4] = 0x71, ip[5] = 0x8C, ip[10] = ip[11] = 0;
  const uint16_t checksum = ipv4_checksum(ip);
  ip[10] = static_cast<uint8_t>(checksum >> 8), ip[11] = static_cast<uint8_t>(checksum);
  finish_mrc_frame(ours);
  CHECK(to_hex(ours) == to_hex(captured));
}

TEST_CASE("what an RC packet may not be is refused by name") {
  struct Case {
    const char* about;
    Opcode opcode;
    size_t payload;
    std::function<void(std::vector<uint8_t>&)> change;
    ParseError error;
  };
  const size_t bth = layout_of(Encapsulation::kIpv6).bth;
  const auto to = [bth](Opcode opcode) {
    return [=](std::vector<uint8_t>& f) { f[bth] = static_cast<uint8_t>(opcode); };
  };
  const auto nothing = [](std::vector<uint8_t>&) {};
  const Case cases[] = {
      {"a SEND of nothing", Opcode::kSendOnly, 0, nothing, ParseError::kNone},
      {"no room for RETH", Opcode::kSendOnly, 8, to(Opcode::kRcWriteOnly),
       ParseError::kLengthMismatch},
      {"no room for the immediate", Opcode::kSendOnly, 0, to(Opcode::kSendOnlyImm),
       ParseError::kLengthMismatch},
      {"more pad than payload", Opcode::kSendOnly, 0,
       [bth](std::vector<uint8_t>& f) { f[bth + 1] |= 0x10; }, ParseError::kBadPad},
      {"an acknowledgement with more behind it", Opcode::kSendOnly, 8, to(Opcode::kRcAcknowledge),
       ParseError::kLengthMismatch},
      {"an acknowledgement with pad", Opcode::kRcAcknowledge, 0,
       [bth](std::vector<uint8_t>& f) { f[bth + 1] |= 0x10; }, ParseError::kBadPad},
      {"a CNP without its 16 bytes", Opcode::kRcAcknowledge, 0, to(Opcode::kCongestionNotification),
       ParseError::kLengthMismatch},
      {"a READ with more behind its RETH", Opcode::kSendOnly, 20, to(Opcode::kRcReadRequest),
       ParseError::kLengthMismatch},
      {"a READ's answer without room for AETH", Opcode::kSendOnly, 0, to(Opcode::kRcReadOnly),
       ParseError::kLengthMismatch},
      {"a SEND that invalidates, which is not here", Opcode::kSendOnly, 16,
       [bth](std::vector<uint8_t>& f) { f[bth] = 0x16; }, ParseError::kUnknownOpcode},
  };
  for (const Case& c : cases) {
    CAPTURE(c.about);
    MrcFrameSpec spec = random_spec(c.opcode, 3, c.payload);
    spec.encapsulation = Encapsulation::kIpv6;
    std::vector<uint8_t> frame = build_frame(spec);
    c.change(frame);
    MrcPacket packet;
    CHECK(parse_mrc_frame(frame, packet) == c.error);
  }
}

TEST_CASE("bits of BTH that RC reserves are not looked at") {
  for (const Opcode opcode : kRcOpcodes) {
    std::vector<uint8_t> frame = build_frame(random_spec(opcode, 4, 8));
    frame[kBthOffset + 8] |= 0x7F;
    MrcPacket packet;
    REQUIRE(parse_mrc_frame(frame, packet) == ParseError::kNone);
    CHECK_FALSE(packet.bth.retransmission);
    CHECK_FALSE(packet.bth.has_tseth);
  }
}

TEST_CASE("a pause frame has the bytes of 802.1Qbb, and reads back") {
  const std::vector<uint8_t> golden = from_hex(
      "0180c2000001 020000000001 8808 0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000"
      "0000000000000000000000000000000000000000000000000000");
  REQUIRE(golden.size() == kPauseFrameBytes);
  FramePool pool;
  const Frame frame = make_pause(pool, {2, 0, 0, 0, 0, 1}, 0xFFFF);
  CHECK(to_hex(frame.bytes()) == to_hex(golden));
  CHECK(frame.wire_length() == Bytes{64 + 20});
  CHECK(lossless_quanta(golden) == 0xFFFF);
  const auto parsed = parse_pause(golden);
  REQUIRE(parsed);
  CHECK(parsed->classes == 1u << 3);
  CHECK(parsed->quanta == std::array<uint16_t, 8>{0, 0, 0, 0xFFFF, 0, 0, 0, 0});
  CHECK(pause_time(0xFFFF, {100'000'000'000}) ==
        FabricTime::from_ns(335'539) + FabricTime::from_ps(200));
}

TEST_CASE("what is no pause frame, or is about other classes, says nothing about RoCE's data") {
  std::vector<uint8_t> frame(kPauseFrameBytes);
  PauseFrame pause;
  pause.classes = 0xF7;
  pause.quanta.fill(7);
  write_pause(pause, {}, std::span<uint8_t, kPauseFrameBytes>(frame));
  CHECK(parse_pause(frame) == pause);
  CHECK_FALSE(lossless_quanta(frame));
  for (size_t size = 0; size < 34; ++size) CHECK_FALSE(parse_pause(std::span(frame).first(size)));
  frame[15] = 0x02;  // another opcode of MAC control
  CHECK(is_mac_control(frame));
  CHECK_FALSE(parse_pause(frame));
  frame[15] = 0x01;
  frame[12] = 0x86;
  CHECK_FALSE(is_mac_control(frame));
}
