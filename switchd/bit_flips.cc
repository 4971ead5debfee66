#include "switchd/bit_flips.h"

#include "fabric/base/random.h"
#include "fabric/node/wire_model.h"
#include "switchd/outer_header.h"

namespace mrclab::switchd {
namespace {

/// Does the ICRC of a packet protect this bit? (fabric/packet/headers.h: compute_icrc)
bool under_icrc(std::span<const uint8_t> frame, uint32_t bit) {
  const Encapsulation kind = encapsulation_of(frame).value_or(Encapsulation::kSrv6);
  const FrameLayout at = layout_of(kind);
  const size_t byte = bit / 8;
  if (byte < at.ip) return false;
  const size_t inner = byte - at.ip;
  if (kind == Encapsulation::kIpv4) {
    if (inner == 1 || inner == 8 || inner == 10 || inner == 11) return false;  // TOS, TTL, checksum
  } else {
    if (inner == 0) return bit % 8 < 4;         // the version; then the traffic class begins
    if (inner < 4 || inner == 7) return false;  // flow label; hop limit
  }
  const size_t udp_checksum = at.udp + 6;
  const size_t bth_reserved = at.bth + 4;
  return byte != udp_checksum && byte != udp_checksum + 1 && byte != bth_reserved;
}

}  // namespace

bool flip(Frame& frame, uint32_t bit) {
  const size_t byte = bit / 8;
  const bool elided = frame.modelled_size().value > frame.size();
  const bool ipv4 = encapsulation_of(frame.bytes()) == Encapsulation::kIpv4;
  const bool covered = elided && under_icrc(frame.bytes(), bit);
  if (byte < frame.size()) frame.writable_bytes()[byte] ^= static_cast<uint8_t>(0x80 >> bit % 8);
  if (covered) frame.add_damage(bit);
  const size_t length = ipv4 ? kTotalLengthOffset : kPayloadLengthOffset;
  return byte != length && byte != length + 1;
}

DropCause BitFlips::expose(Frame& frame) {
  const uint64_t number = frames_++;
  const uint64_t bits = frame.modelled_size().value * 8;
  const auto random = [&](DrawPurpose purpose) {
    return draw(seed_, self_, PortId{}, purpose, number);
  };
  if (bits == 0 || !hit_by_error(random(DrawPurpose::kSwitchErrors), rate_, bits)) {
    return DropCause::kNone;
  }
  const uint64_t bit = below(random(DrawPurpose::kSwitchErrorBit), bits);
  return flip(frame, static_cast<uint32_t>(bit)) ? DropCause::kNone : DropCause::kMalformed;
}

}  // namespace mrclab::switchd
