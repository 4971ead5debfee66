#pragma once
// The bytes of a frame whose payload may be lent (Frame::lent). A driver needs them when it hands the frame to the
// kernel, a simulator when it sends the frame to another process, a recorder when it captures the frame. Pad and
// ICRC are computed then, and not when the host makes the frame.

#include <cstddef>
#include <cstdint>
#include <span>

#include "fabric/packet/frame.h"

namespace mrclab {

/// One frame in the order of its bytes; the last two are empty unless a payload is lent.
struct FramePieces {
  std::span<const uint8_t> head;     ///< all that is present, and what was written behind it
  std::span<const uint8_t> payload;  ///< the lent one
  std::span<const uint8_t> tail;     ///< pad, ICRC, and what was written behind them
};

/// Where in Frame::storage() something may be written that is to follow the frame: behind its bytes, or with a
/// lent payload behind the room for pad and ICRC.
size_t end_in_storage(const Frame& frame);
/// Makes pad and ICRC of a frame with a lent payload. `behind`: bytes that follow from end_in_storage() on. Valid as
/// long as the frame, and what is lent, stay as they are.
FramePieces pieces_of(Frame& frame, size_t behind = 0);

/// Bytes of the frame with what is lent to it.
size_t whole_size(const Frame& frame);
/// Writes the first of them: `out` has whole_size() bytes, or fewer.
void copy_first(const Frame& frame, std::span<uint8_t> out);
/// Nothing is lent any more; of what was, the frame holds as much as is among its first `size` bytes. (The headers of
/// a packet without a carrier are shorter than a trimmed frame, whose end is payload.)
void hold_first(Frame& frame, size_t size);
/// Copies a lent payload into the frame, whose buffer has room for it, and makes pad and ICRC: nothing is lent
/// any more.
void hold_payload(Frame& frame);

}  // namespace mrclab
