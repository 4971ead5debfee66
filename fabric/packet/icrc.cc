// The invariant CRC of RoCEv2 (InfiniBand Architecture, annex A17) over the packet between the hosts'
// addresses. Fields that switches may change are taken as all ones, so neither ECN marks nor flow
// labels break it, and the outer header of SRv6 does not take part.

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "fabric/base/byte_order.h"
#include "fabric/packet/headers.h"

namespace mrclab {
namespace {

constexpr size_t kDummyLrhBytes = 8;  // stands for the InfiniBand local route header
constexpr size_t kMaskedBytesMax = kIpv6Bytes + kUdpBytes + kBthBytes;

/// The range of bytes that the ICRC of a frame covers, and where it stands.
struct IcrcPlace {
  size_t ip = 0, bth = 0, icrc = 0;
};

/// For a whole, untrimmed frame; empty for anything else.
std::optional<IcrcPlace> icrc_place(std::span<const uint8_t> frame) {
  const std::optional<Encapsulation> kind = encapsulation_of(frame);
  if (!kind) return std::nullopt;
  const FrameLayout at = layout_of(*kind);
  if (frame.size() < at.after_bth + kIcrcBytes) return std::nullopt;
  const size_t end = at.udp + load_be<uint16_t>(&frame[at.udp + 4]);
  const size_t ip_end = *kind == Encapsulation::kIpv4
                            ? at.ip + load_be<uint16_t>(&frame[at.ip + 2])
                            : at.udp + load_be<uint16_t>(&frame[at.ip + 4]);
  const size_t outer_end = *kind == Encapsulation::kSrv6
                               ? kInnerOffset + load_be<uint16_t>(&frame[kOuterOffset + 4])
                               : ip_end;
  if (end != ip_end || end != outer_end || end > frame.size() || end < at.after_bth + kIcrcBytes) {
    return std::nullopt;
  }
  return IcrcPlace{at.ip, at.bth, end - kIcrcBytes};
}

/// The ICRC's least significant byte is the first on the wire.
void store_icrc(uint8_t* to, uint32_t icrc) {
  for (unsigned i = 0; i < kIcrcBytes; ++i) to[i] = static_cast<uint8_t>(icrc >> 8 * i);
}

/// The ICRC over the first part of a packet: from its IP header on, at least up to the end of BTH. The caller goes on
/// over the rest with libdeflate_crc32.
uint32_t icrc_of_head(std::span<const uint8_t> from_ip_to_icrc) {
  const bool ipv4 = from_ip_to_icrc[0] >> 4 == 4;
  const size_t ip_bytes = ipv4 ? kIpv4Bytes : kIpv6Bytes;
  const size_t masked = ip_bytes + kUdpBytes + kBthBytes;
  assert(from_ip_to_icrc.size() >= masked);
  std::array<uint8_t, kDummyLrhBytes + kMaskedBytesMax> head;
  std::fill_n(head.begin(), kDummyLrhBytes, uint8_t{0xFF});
  std::copy_n(from_ip_to_icrc.begin(), masked, head.begin() + kDummyLrhBytes);
  uint8_t* const ip = head.data() + kDummyLrhBytes;
  if (ipv4) {
    ip[1] = ip[8] = ip[10] = ip[11] = 0xFF;  // TOS; time to live; checksum
  } else {
    ip[0] |= 0x0F;  // traffic class and flow label
    ip[1] = ip[2] = ip[3] = 0xFF;
    ip[7] = 0xFF;  // hop limit
  }
  uint8_t* const udp = ip + ip_bytes;
  udp[6] = udp[7] = 0xFF;     // checksum
  udp[kUdpBytes + 4] = 0xFF;  // BTH variant reserved
  const auto rest = from_ip_to_icrc.subspan(masked);
  const uint32_t crc = ::libdeflate_crc32(0, head.data(), kDummyLrhBytes + masked);
  return ::libdeflate_crc32(crc, rest.data(), rest.size());
}

}  // namespace

uint32_t compute_icrc(std::span<const uint8_t> from_ip_to_icrc) {
  return icrc_of_head(from_ip_to_icrc);
}

bool icrc_ok(std::span<const uint8_t> frame) {
  const std::optional<IcrcPlace> place = icrc_place(frame);
  if (!place) return false;
  std::array<uint8_t, kIcrcBytes> expected;
  store_icrc(expected.data(), compute_icrc(frame.subspan(place->ip, place->icrc - place->ip)));
  return std::equal(expected.begin(), expected.end(),
                    frame.begin() + static_cast<std::ptrdiff_t>(place->icrc));
}

void finish_mrc_frame(std::span<uint8_t> frame) {
  const std::optional<IcrcPlace> place = icrc_place(frame);
  assert(place);
  const size_t pad = frame[place->bth + 1] >> 4 & 3u;
  std::fill_n(frame.begin() + static_cast<std::ptrdiff_t>(place->icrc - pad), pad, uint8_t{0});
  store_icrc(&frame[place->icrc], compute_icrc(frame.subspan(place->ip, place->icrc - place->ip)));
}

void write_icrc(std::span<const uint8_t> headers, std::span<const uint8_t> payload,
                std::span<uint8_t> tail) {
  const std::optional<Encapsulation> kind = encapsulation_of(headers);
  assert(kind && tail.size() >= kIcrcBytes);
  const size_t pad = tail.size() - kIcrcBytes;
  uint32_t crc = icrc_of_head(headers.subspan(layout_of(*kind).ip));
  crc = ::libdeflate_crc32(crc, payload.data(), payload.size());
  store_icrc(&tail[pad], static_cast<uint32_t>(::libdeflate_crc32(crc, tail.data(), pad)));
}

}  // namespace mrclab
