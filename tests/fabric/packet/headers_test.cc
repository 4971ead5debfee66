// Packet formats: golden vectors byte for byte both ways, and what each malformed frame is called.
// The vectors were made by hand from the public tables of the MRC specification and read back with
// the public Python emulator's parser.

#include "fabric/packet/headers.h"

#include <doctest/doctest.h>

#include "fabric/packet/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/mrc_frames.h"
#include "tests/support/sample_frames.h"

using namespace mrclab;
using namespace mrclab::test;

namespace {

struct Golden {
  std::string_view what;
  std::string_view hex;  // from BTH on, without payload and ICRC
  MrcFrameSpec spec;
};

MrcFrameSpec spec_of(Opcode opcode, uint32_t qp, uint32_t psn, Extension extension) {
  MrcFrameSpec spec;
  spec.inner_source = {0xfd, 0x00};
  spec.inner_destination = {0xfd, 0x01};
  spec.bth.opcode = opcode;
  spec.bth.destination_qp = {qp};
  spec.bth.psn = Psn{psn};
  spec.extension = std::move(extension);
  return spec;
}

Golden write_only() {
  WriteHeaders w;
  w.meth.msn = 7;
  w.tseth = Tseth{0x1234, false, 1};
  w.reth = Reth{0x1122334455667788, 0xAABBCCDD, 4096};
  MrcFrameSpec spec = spec_of(Opcode::kWriteOnly, 0x123, 0x456, w);
  spec.bth.ack_request = true;
  spec.bth.has_tseth = true;
  spec.payload_length = 4096;
  return {"write only",
          "ca00ffff 00000123 90000456 | 00000007 | 12340001 | 11223344 55667788 aabbccdd 00001000",
          spec};
}

Golden sack() {
  Seth s;
  s.psn_offset_or_probe_id = 7;
  s.mark = SackMark::kSkipOnce;
  s.entropy = {0x00030007};
  s.cumulative = Psn{4};
  s.sack_offset = 1;
  // The bitmap starts at PSN 5, and 5 and 8 are missing: 6, 7, 9, 10, 11 are bits 1, 2, 4, 5, 6.
  s.bitmap = 0x76;
  s.tx_timestamp = 0x1234;
  s.out_of_order = 5;
  s.received_units = 0xA0;
  return {"sack",
          "dc00ffff 00000321 00000004 | 00200007 00030007 00000000 00000004 00000001 00000000 "
          "00000076 | 12340005 000000a0",
          spec_of(Opcode::kSack, 0x321, 4, s)};
}

Golden nack() {
  Neth n;
  n.reason = static_cast<uint8_t>(NackReason::kTrimmed);
  n.entropy = {0x00030007};
  n.psn = Psn{8};
  n.tx_timestamp = 0x1234;
  return {"nack", "dd00ffff 00000321 00000008 | 00000100 00030007 00000000 00000008 20001234",
          spec_of(Opcode::kNack, 0x321, 8, n)};
}

Golden port_status() {
  Erth e;
  e.port_status_mask = 0xF7;
  e.tx_timestamp = 0x1234;
  return {"port status", "d800ffff 00000002 00000042 | 00000000 000000f7 00000000 12340001",
          spec_of(Opcode::kEndpointRequest, kEndpointQpn.value, 0x42, e)};
}

std::vector<Golden> goldens() { return {write_only(), sack(), nack(), port_status()}; }

ParseError parsed(std::span<const uint8_t> frame, ParseOptions options = {}) {
  MrcPacket packet;
  return parse_mrc_frame(frame, packet, options);
}

std::vector<uint8_t> sample_frame(Opcode opcode = Opcode::kWriteOnly, size_t payload = 64) {
  return build_frame(random_spec(opcode, 5, payload));
}

ParseError parse_changed(std::vector<uint8_t> frame, size_t at, uint8_t value) {
  frame.at(at) = value;
  return parsed(frame);
}

}  // namespace

TEST_CASE("golden vectors are written byte for byte") {
  for (const Golden& golden : goldens()) {
    CAPTURE(golden.what);
    const std::vector<uint8_t> expected = from_hex(golden.hex);
    const std::vector<uint8_t> frame = build_frame(golden.spec);
    CHECK(frame.size() == kBthOffset + expected.size() + golden.spec.payload_length + kIcrcBytes);
    CHECK(to_hex(std::span(frame).subspan(kBthOffset, expected.size())) == to_hex(expected));
  }
}

TEST_CASE("golden vectors are read field for field") {
  for (const Golden& golden : goldens()) {
    CAPTURE(golden.what);
    const std::vector<uint8_t> bytes = from_hex(golden.hex);
    std::vector<uint8_t> frame = build_frame(golden.spec);
    std::fill(frame.begin() + kBthOffset, frame.end() - kIcrcBytes, uint8_t{0});
    std::copy(bytes.begin(), bytes.end(), frame.begin() + kBthOffset);
    MrcPacket packet;
    REQUIRE(parse_mrc_frame(frame, packet) == ParseError::kNone);
    CHECK(packet.bth == golden.spec.bth);
    CHECK(packet.extension == golden.spec.extension);
    CHECK(packet.payload.size() == golden.spec.payload_length);
  }
}

TEST_CASE("a full-size write has 128 bytes of headers and ICRC behind Ethernet") {
  MrcFrameSpec spec = write_only().spec;
  CHECK(mrc_frame_size(spec) == 14 + 128 + 4096);
  std::get<WriteHeaders>(spec.extension).immediate = 9;
  spec.bth.opcode = Opcode::kWriteOnlyImm;
  CHECK(mrc_frame_size(spec) == 14 + 132 + 4096);
  CHECK(mrc_frame_size(spec) <= kFrameCapacity);
}

TEST_CASE("an entropy value rides in UDP source port and both flow labels") {
  MrcFrameSpec spec = write_only().spec;
  spec.ev = {0x0003C001};
  MrcPacket packet;
  const std::vector<uint8_t> frame = build_frame(spec);
  REQUIRE(parse_mrc_frame(frame, packet) == ParseError::kNone);
  CHECK(packet.udp.source_port == 0xC001);
  CHECK(packet.outer.flow_label == 3);
  CHECK(packet.inner.flow_label == 3);
  CHECK(packet.entropy() == spec.ev);
  CHECK(entropy_from(0x1234, 0xFABCD) == EntropyValue{0xABCD'1234});  // 16 of the label's 20 bits
}

TEST_CASE("both IPv6 headers carry the DSCP and ECN of the packet") {
  MrcFrameSpec spec = write_only().spec;
  spec.dscp = kDscpTrimmableRetx;
  spec.ecn = kEcnCe;
  const std::vector<uint8_t> frame = build_frame(spec);
  const auto outer = parse_ipv6(std::span(frame).subspan(kOuterOffset));
  const auto inner = parse_ipv6(std::span(frame).subspan(kInnerOffset));
  REQUIRE(outer);
  REQUIRE(inner);
  CHECK(outer->dscp() == kDscpTrimmableRetx);
  CHECK(inner->dscp() == kDscpTrimmableRetx);
  CHECK(outer->ecn() == kEcnCe);
  CHECK(outer->next_header == kNextHeaderIpv6);
  CHECK(inner->next_header == kNextHeaderUdp);
}

TEST_CASE("each way of being malformed has its own name") {
  const std::vector<uint8_t> frame = sample_frame();
  CHECK(parsed(frame) == ParseError::kNone);
  CHECK(parsed({}) == ParseError::kTooShort);
  CHECK(parsed(std::span(frame).first(kAfterBthOffset - 1)) == ParseError::kTooShort);
  CHECK(parsed(std::span(frame).first(frame.size() - 1)) == ParseError::kTooShort);
  CHECK(parse_changed(frame, 12, 0x08) == ParseError::kNotIpv6);
  CHECK(parse_changed(frame, kOuterOffset, 0x45) == ParseError::kBadVersion);
  CHECK(parse_changed(frame, kInnerOffset, 0x45) == ParseError::kBadVersion);
  CHECK(parse_changed(frame, kOuterOffset + 6, 58) == ParseError::kNotIpInIp);
  CHECK(parse_changed(frame, kInnerOffset + 6, 6) == ParseError::kNotUdp);
  CHECK(parse_changed(frame, kUdpOffset + 3, 53) == ParseError::kNotMrcPort);
  CHECK(parse_changed(frame, kUdpOffset + 5, 1) == ParseError::kLengthMismatch);
  CHECK(parse_changed(frame, kOuterOffset + 4, 1) == ParseError::kLengthMismatch);
  CHECK(parse_changed(frame, kBthOffset, 0x24) == ParseError::kUnknownOpcode);
  CHECK(parse_changed(sample_frame(Opcode::kWriteOnly, 0), kBthOffset + 1, 0x10) ==
        ParseError::kBadPad);
  CHECK(parse_changed(sample_frame(Opcode::kSack), kBthOffset + 1, 0x10) == ParseError::kBadPad);
  CHECK(parse_changed(sample_frame(Opcode::kSack), kBthOffset, 0xDD) ==
        ParseError::kLengthMismatch);
  CHECK(parse_changed(sample_frame(Opcode::kEndpointRequest), kAfterBthOffset + 1, 2) ==
        ParseError::kUnknownOpcode);
}

TEST_CASE("a write too short for its own headers is truncated, not misread") {
  MrcFrameSpec spec = random_spec(Opcode::kWriteOnly, 1, 0);
  std::get<WriteHeaders>(spec.extension).tseth.reset();
  std::vector<uint8_t> frame = build_frame(spec);
  frame[kBthOffset + 8] |= 0x10;  // TSETH announced, but the lengths leave no room for it
  CHECK(parsed(frame) == ParseError::kLengthMismatch);
  frame[kBthOffset] = static_cast<uint8_t>(Opcode::kWriteOnlyImm);
  CHECK(parsed(frame) == ParseError::kTruncatedHeaders);
}

TEST_CASE("the port that the specification prints is accepted as well") {
  std::vector<uint8_t> frame = sample_frame();
  frame[kUdpOffset + 2] = kMrcUdpPortAlternate >> 8;
  frame[kUdpOffset + 3] = kMrcUdpPortAlternate & 0xFF;
  CHECK(parsed(frame) == ParseError::kNone);
}

TEST_CASE("a trimmed write keeps BTH, METH and TSETH and never offers RETH or payload") {
  MrcFrameSpec spec = write_only().spec;
  const std::vector<uint8_t> whole = build_frame(spec);
  for (const size_t size : {size_t{122}, kTrimmedFrameBytes, size_t{500}}) {
    CAPTURE(size);
    const std::vector<uint8_t> frame = trim(whole, size);
    MrcPacket packet;
    REQUIRE(parse_mrc_frame(frame, packet) == ParseError::kNone);
    CHECK(packet.trimmed);
    CHECK_FALSE(packet.cut);
    CHECK(packet.bth == spec.bth);
    const auto& write = std::get<WriteHeaders>(packet.extension);
    CHECK(write.meth.msn == 7);
    CHECK(write.tseth == std::get<WriteHeaders>(spec.extension).tseth);
    CHECK_FALSE(write.reth);
    CHECK(packet.payload.empty());
    CHECK(packet.payload_length == 4096);
    CHECK_FALSE(icrc_ok(frame));
  }
  CHECK(parsed(trim(whole, 121)) == ParseError::kTruncatedHeaders);
}

TEST_CASE("nothing but a write can be trimmed") {
  CHECK(parsed(trim(sample_frame(Opcode::kSack))) == ParseError::kLengthMismatch);
}

TEST_CASE("a cut capture record is read as far as its headers go, if asked for") {
  const std::vector<uint8_t> whole = build_frame(write_only().spec);
  const std::span<const uint8_t> cut = std::span(whole).first(160);
  MrcPacket packet;
  CHECK(parse_mrc_frame(cut, packet) == ParseError::kTooShort);
  REQUIRE(parse_mrc_frame(cut, packet, {.allow_cut = true}) == ParseError::kNone);
  CHECK(packet.cut);
  CHECK_FALSE(packet.trimmed);
  CHECK(packet.payload_length == 4096);
  CHECK(packet.payload.size() == 160 - (kBthOffset + 36));
  CHECK(parsed(std::span(whole).first(130), {.allow_cut = true}) == ParseError::kTruncatedHeaders);
}

TEST_CASE("bytes behind the IP packet do not take part") {
  std::vector<uint8_t> frame = sample_frame();
  const size_t size = frame.size();
  frame.resize(size + 64, 0x5A);
  MrcPacket packet;
  REQUIRE(parse_mrc_frame(frame, packet) == ParseError::kNone);
  CHECK_FALSE(packet.cut);
  CHECK(packet.payload.data() + packet.payload.size() <= frame.data() + size - kIcrcBytes);
  CHECK(icrc_ok(frame));
}

TEST_CASE("opcodes know what they are") {
  CHECK(name_of(Opcode::kSack) == "sack");
  CHECK(name_of(static_cast<Opcode>(0x24)) == "unknown");
  CHECK(is_write(Opcode::kWriteLastImm));
  CHECK_FALSE(is_write(Opcode::kAcknowledge));
  CHECK(is_last(Opcode::kWriteLast));
  CHECK(is_last(Opcode::kWriteOnlyImm));
  CHECK_FALSE(is_last(Opcode::kWriteMiddle));
  CHECK_FALSE(has_immediate(Opcode::kWriteLast));
}
