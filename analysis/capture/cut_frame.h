#pragma once
// Decoding what a capture kept of a frame.

#include <algorithm>
#include <array>

#include "fabric/packet/frame_view.h"
#include "fabric/packet/headers.h"

namespace mrclab::analysis {

/// All headers of the longest packet, to which a shorter record is padded: of a frame that was lost
/// on a wire only the first 128 bytes exist, which ends inside RETH.
inline constexpr size_t kHeaderRoom = 160;

/// A record's frame looked at where it lies. The record may end early, even within its headers: what is missing
/// there reads as zero, and such a packet offers no payload.
class CutFrame {
 public:
  CutFrame() = default;
  CutFrame(const CutFrame&) = delete;  // the view may point into this
  CutFrame& operator=(const CutFrame&) = delete;

  /// Any bytes at all, which must outlive what is read of them.
  ParseError open(std::span<const uint8_t> bytes) {
    const ParseError error = view_.open(bytes, {.allow_cut = true});
    is_padded_ = error == ParseError::kTruncatedHeaders && bytes.size() < kHeaderRoom;
    if (!is_padded_) return error;
    std::fill(std::copy(bytes.begin(), bytes.end(), padded_.begin()), padded_.end(), uint8_t{0});
    return view_.open(padded_, {.allow_cut = true});
  }
  const FrameView& view() const { return view_; }
  std::span<const uint8_t> payload() const {
    return is_padded_ ? std::span<const uint8_t>{} : view_.payload();
  }
  void decode(MrcPacket& packet) const {
    view_.decode(packet);
    packet.payload = payload();
  }

 private:
  FrameView view_;
  std::array<uint8_t, kHeaderRoom> padded_;  // counts only if is_padded_
  bool is_padded_ = false;
};

/// parse_mrc_frame() for a record that may end early.
inline ParseError parse_cut_frame(std::span<const uint8_t> bytes, MrcPacket& packet) {
  CutFrame frame;
  const ParseError error = frame.open(bytes);
  frame.decode(packet);
  return error;
}

}  // namespace mrclab::analysis
