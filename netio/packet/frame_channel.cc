#include "netio/packet/frame_channel.h"

#include <algorithm>
#include <stdexcept>

namespace mrclab::netio {

static_assert(std::atomic<uint64_t>::is_always_lock_free);

size_t FrameChannel::bytes_for(size_t frames, size_t frame_bytes) {
  // One more, because the end of the ring may have no room for the next.
  const size_t ring = (frames + 1) * size_of(frame_bytes);
  return sizeof(Positions) + (ring + kAlignment - 1) / kAlignment * kAlignment;
}

FrameChannel::FrameChannel(std::span<std::byte> memory)
    : positions_(reinterpret_cast<Positions*>(memory.data())) {
  if (memory.size() <= sizeof(Positions)) throw std::invalid_argument("a channel without room");
  ring_ = memory.subspan(sizeof(Positions));
  ring_ = ring_.first(ring_.size() / kRecordAlignment * kRecordAlignment);
}

bool FrameChannel::put(WireId wire, const FramePieces& frame) {
  const size_t length = frame.head.size() + frame.payload.size() + frame.tail.size();
  const size_t size = size_of(length);
  uint64_t at = positions_->written.load(std::memory_order_relaxed);
  const uint64_t waiting = at - positions_->read.load(std::memory_order_acquire);
  // No writer and no reader of ours leaves such positions.
  if (at % kRecordAlignment != 0 || waiting > ring_.size()) return false;
  const uint64_t free = ring_.size() - waiting;
  const size_t to_end = ring_.size() - at % ring_.size();
  const size_t skipped = to_end < size ? to_end : 0;
  if (free < skipped + size) return false;
  if (skipped > 0) {
    const Record rest{kSkipped, 0};
    std::memcpy(&ring_[at % ring_.size()], &rest, sizeof rest);
    at += skipped;
  }
  std::byte* out = &ring_[at % ring_.size()];
  const Record record{static_cast<uint32_t>(length), wire.value};
  std::memcpy(out, &record, sizeof record);
  out += sizeof record;
  for (const std::span<const uint8_t> piece : {frame.head, frame.payload, frame.tail}) {
    if (!piece.empty()) std::memcpy(out, piece.data(), piece.size());
    out += piece.size();
  }
  positions_->written.store(at + size, std::memory_order_release);
  return true;
}

}  // namespace mrclab::netio
