#include "switchd/bit_flips.h"

#include "fabric/random.h"
#include "fabric/wire_model.h"
#include "switchd/outer_header.h"

namespace mrclab::switchd {
namespace {

/// Does the ICRC of a packet protect this bit? (fabric/headers.h: compute_icrc)
bool under_icrc(uint32_t bit) {
  const size_t byte = bit / 8;
  if (byte < kInnerOffset) return false;
  const size_t inner = byte - kInnerOffset;
  if (inner == 0) return bit % 8 < 4;         // the version; then the traffic class begins
  if (inner < 4 || inner == 7) return false;  // flow label; hop limit
  const size_t udp_checksum = kUdpOffset + 6;
  const size_t bth_reserved = kBthOffset + 4;
  return byte != udp_checksum && byte != udp_checksum + 1 && byte != bth_reserved;
}

}  // namespace

bool flip(Frame& frame, uint32_t bit) {
  const size_t byte = bit / 8;
  const bool elided = frame.modelled_size().value > frame.size();
  if (byte < frame.size()) frame.bytes()[byte] ^= static_cast<uint8_t>(0x80 >> bit % 8);
  if (elided && under_icrc(bit)) frame.add_damage(bit);
  return byte != kPayloadLengthOffset && byte != kPayloadLengthOffset + 1;
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
