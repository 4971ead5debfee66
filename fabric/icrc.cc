// The invariant CRC of RoCEv2 (InfiniBand Architecture, annex A17) over the inner packet. Fields
// that switches may change are taken as all ones, so neither ECN marks nor flow labels break it,
// and the outer header does not take part.

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "fabric/byte_order.h"
#include "fabric/headers.h"

namespace mrclab {
namespace {

constexpr size_t kDummyLrhBytes = 8;  // stands for the InfiniBand local route header
constexpr size_t kMaskedBytes = kIpv6Bytes + kUdpBytes + kBthBytes;

/// Where the ICRC of a whole, untrimmed frame stands; 0 if it is none.
size_t icrc_offset(std::span<const uint8_t> frame) {
  if (frame.size() < kAfterBthOffset + kIcrcBytes) return 0;
  const size_t end = kUdpOffset + load_be<uint16_t>(&frame[kInnerOffset + 4]);
  const size_t outer_end = kInnerOffset + load_be<uint16_t>(&frame[kOuterOffset + 4]);
  if (end != outer_end || end > frame.size() || end < kAfterBthOffset + kIcrcBytes) return 0;
  return end - kIcrcBytes;
}

/// The ICRC's least significant byte is the first on the wire.
void store_icrc(uint8_t* to, uint32_t icrc) {
  for (unsigned i = 0; i < kIcrcBytes; ++i) to[i] = static_cast<uint8_t>(icrc >> 8 * i);
}

}  // namespace

uint32_t compute_icrc(std::span<const uint8_t> from_inner_ipv6_to_icrc) {
  assert(from_inner_ipv6_to_icrc.size() >= kMaskedBytes);
  std::array<uint8_t, kDummyLrhBytes + kMaskedBytes> head;
  std::fill_n(head.begin(), kDummyLrhBytes, uint8_t{0xFF});
  std::copy_n(from_inner_ipv6_to_icrc.begin(), kMaskedBytes, head.begin() + kDummyLrhBytes);
  uint8_t* const ip = head.data() + kDummyLrhBytes;
  ip[0] |= 0x0F;  // traffic class and flow label
  ip[1] = ip[2] = ip[3] = 0xFF;
  ip[7] = 0xFF;  // hop limit
  uint8_t* const udp = ip + kIpv6Bytes;
  udp[6] = udp[7] = 0xFF;     // checksum
  udp[kUdpBytes + 4] = 0xFF;  // BTH variant reserved
  const auto rest = from_inner_ipv6_to_icrc.subspan(kMaskedBytes);
  const uint32_t crc = ::libdeflate_crc32(0, head.data(), head.size());
  return ::libdeflate_crc32(crc, rest.data(), rest.size());
}

bool icrc_ok(std::span<const uint8_t> frame) {
  const size_t offset = icrc_offset(frame);
  if (offset == 0) return false;
  std::array<uint8_t, kIcrcBytes> expected;
  store_icrc(expected.data(), compute_icrc(frame.subspan(kInnerOffset, offset - kInnerOffset)));
  return std::equal(expected.begin(), expected.end(), frame.begin() + offset);
}

void finish_mrc_frame(std::span<uint8_t> frame) {
  const size_t offset = icrc_offset(frame);
  assert(offset != 0);
  const size_t pad = frame[kBthOffset + 1] >> 4 & 3u;
  std::fill_n(frame.begin() + static_cast<std::ptrdiff_t>(offset - pad), pad, uint8_t{0});
  store_icrc(&frame[offset], compute_icrc(frame.subspan(kInnerOffset, offset - kInnerOffset)));
}

}  // namespace mrclab
