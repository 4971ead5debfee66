#pragma once
// Decoding what a capture kept of a frame.

#include <algorithm>
#include <array>

#include "fabric/packet/headers.h"

namespace mrclab::analysis {

/// All headers of the longest packet, to which a shorter record is padded: of a frame that was lost
/// on a wire only the first 128 bytes exist, which ends inside RETH.
inline constexpr size_t kHeaderRoom = 160;

/// parse_mrc_frame for a record that may end early, even within its headers: what is missing there
/// reads as zero, and such a packet offers no payload.
inline ParseError parse_cut_frame(std::span<const uint8_t> bytes, MrcPacket& packet) {
  const ParseError error = parse_mrc_frame(bytes, packet, {.allow_cut = true});
  if (error != ParseError::kTruncatedHeaders || bytes.size() >= kHeaderRoom) return error;
  std::array<uint8_t, kHeaderRoom> padded{};
  std::copy(bytes.begin(), bytes.end(), padded.begin());
  const ParseError second = parse_mrc_frame(padded, packet, {.allow_cut = true});
  packet.payload = {};  // it pointed into `padded`
  return second;
}

}  // namespace mrclab::analysis
