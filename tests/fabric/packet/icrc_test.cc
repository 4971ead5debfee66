// The ICRC against a value that was not computed by this code.

#include <doctest/doctest.h>

#include "fabric/packet/headers.h"
#include "tests/support/bytes.h"
#include "tests/support/mrc_frames.h"

using namespace mrclab;
using namespace mrclab::test;

namespace {

// Made with scapy 2.5. Its contrib.roce computes the ICRC over IPv4 only (be255f1d for the same BTH
// from 10.0.0.1 to 10.0.0.2), so its compute_icrc was repeated in Python with IPv6's masked fields
// (tc, fl, hlim in place of tos, ttl, chksum), checked to give scapy's value on IPv4, and applied
// to
//   IPv6(src='fd00:5::1', dst='fd00:9::2', tc=0x12, fl=3, hlim=64, nh=17, plen=56) /
//   UDP(sport=0xc001, dport=4791, len=56, chksum=0) /
//   BTH(opcode=0xca, padcount=3, dqpn=0x123, ackreq=1, resv7=0x10, psn=0x456) / METH..RETH, 'hello'
constexpr std::string_view kInnerPacket =
    "6120000300381140 fd000005000000000000000000000001 fd000009000000000000000000000002"
    "c00112b700380000 ca30ffff 00000123 90000456 00000007 12340001 1122334455667788 aabbccdd"
    "00001000 68656c6c6f 000000 ef949618";

std::vector<uint8_t> scapy_frame() {
  std::vector<uint8_t> frame = from_hex(
      "020000000001 020000000002 86dd"
      "6120000300602940 fd000005000000000000000000000001 5f000000230513072309e30200000000");
  const std::vector<uint8_t> inner = from_hex(kInnerPacket);
  frame.insert(frame.end(), inner.begin(), inner.end());
  return frame;
}

}  // namespace

TEST_CASE("the ICRC is the one that an independent implementation computes") {
  const std::vector<uint8_t> inner = from_hex(kInnerPacket);
  CHECK(compute_icrc(std::span(inner).first(inner.size() - kIcrcBytes)) == 0x189694ef);
  CHECK(icrc_ok(scapy_frame()));
}

TEST_CASE("over IPv4 the ICRC is scapy's, and what routers change there leaves it right") {
  // The packet that scapy gave be255f1d for (above): its IPv4 header has id 1 and DF.
  std::vector<uint8_t> frame = from_hex(
      "020000000001 020000000002 0800"
      "4500004c000140004011 269e 0a000001 0a000002"
      "c00112b700380000 ca30ffff 00000123 90000456 00000007 12340001 1122334455667788 aabbccdd"
      "00001000 68656c6c6f 000000 be255f1d");
  CHECK(ipv4_checksum(&frame[kEthernetBytes]) == 0);
  CHECK(icrc_ok(frame));
  frame[kEthernetBytes + 1] = 0x13;  // TOS
  frame[kEthernetBytes + 8] -= 1;    // time to live
  frame[kEthernetBytes + 10] ^= 7;   // checksum
  CHECK(icrc_ok(frame));
  frame[kEthernetBytes + 15] ^= 1;  // source
  CHECK_FALSE(icrc_ok(frame));
}

TEST_CASE("a frame made elsewhere is made here, byte for byte") {
  MrcFrameSpec spec;
  spec.destination_mac = {2, 0, 0, 0, 0, 1};
  spec.source_mac = {2, 0, 0, 0, 0, 2};
  spec.outer_source = spec.inner_source = {0xfd, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  spec.inner_destination = {0xfd, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
  spec.carrier = {0x5f, 0, 0, 0, 0x23, 5, 0x13, 7, 0x23, 9, 0xe3, 2};
  spec.ev = {0x0003C001};
  spec.bth.destination_qp = {0x123};
  spec.bth.ack_request = true;
  spec.bth.psn = Psn{0x456};
  WriteHeaders write;
  write.meth.msn = 7;
  write.tseth = Tseth{0x1234, false, 1};
  write.reth = Reth{0x1122334455667788, 0xAABBCCDD, 4096};
  spec.extension = write;
  spec.payload_length = 5;
  std::vector<uint8_t> frame(mrc_frame_size(spec), 0xEE);
  const std::string_view payload = "hello";
  std::copy(payload.begin(), payload.end(), write_mrc_headers(spec, frame).begin());
  finish_mrc_frame(frame);
  CHECK(to_hex(frame) == to_hex(scapy_frame()));
}

TEST_CASE("what switches change on the way leaves the ICRC right") {
  std::vector<uint8_t> frame = scapy_frame();
  frame[kOuterOffset + 1] |= 0x30;  // CE
  frame[kOuterOffset + 7] -= 3;     // hop limit
  frame[kInnerOffset + 1] |= 0x30;
  frame[kInnerOffset + 3] ^= 0xFF;  // flow label
  frame[kInnerOffset + 7] -= 1;
  frame[kBthOffset + 4] ^= 0xC0;  // FECN, BECN
  CHECK(icrc_ok(frame));
  frame[kUdpOffset + 1] ^= 1;  // UDP source port
  CHECK_FALSE(icrc_ok(frame));
}

TEST_CASE("a frame whose outer length says that it was trimmed has no ICRC to check") {
  std::vector<uint8_t> frame = scapy_frame();
  frame[kOuterOffset + 5] -= 4;
  CHECK_FALSE(icrc_ok(frame));
}
