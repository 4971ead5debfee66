#include "fabric/packet/frame.h"

#include <cassert>
#include <limits>

namespace mrclab {

void Frame::give_back() { buffer_->pool->give_back(buffer_); }

void Frame::resize(size_t size) {
  assert(size <= storage().size());
  buffer_->size = static_cast<uint16_t>(size);
  buffer_->modelled_size = buffer_->size;
  buffer_->content = 0;
}

Frame Frame::twin() const {
  Frame twin = buffer_->pool->copy(bytes());
  if (!twin) return twin;
  twin.set_modelled_size(modelled_size());
  twin.buffer_->damage = buffer_->damage;
  twin.buffer_->content = buffer_->content;
  twin.lend(lent());
  return twin;
}

FramePool::FramePool(size_t limit, FrameRoom room)
    : limit_(limit),
      room_(room),
      stride_((kFrameHeadBytes + room.frame + room.trailer + kCacheLine - 1) / kCacheLine *
              kCacheLine) {
  assert(room.frame + room.trailer <= std::numeric_limits<uint16_t>::max());
}

Frame FramePool::make(size_t size) {
  if (size > room_.frame) return {};
  if (free_.empty()) grow();
  if (free_.empty()) {
    ++exhausted_;
    return {};
  }
  void* const storage = free_.back();
  free_.pop_back();
  ++in_use_;
  if (!free_.empty()) fetch_lines(free_.back(), kHeaderBytes);
  auto* const buffer = new (storage) FrameBuffer;
  buffer->pool = this;
  buffer->size = static_cast<uint16_t>(size);
  buffer->modelled_size = buffer->size;
  return Frame(buffer);
}

Frame FramePool::copy(std::span<const uint8_t> bytes) {
  Frame frame = make(bytes.size());
  if (frame && !bytes.empty()) {
    std::memcpy(frame.writable_bytes().data(), bytes.data(), bytes.size());
  }
  return frame;
}

void FramePool::share(FramePool& with, size_t count) {
  assert(with.stride_ == stride_ && count <= free_.size());
  for (size_t i = 0; i < count; ++i) {
    with.free_.push_back(free_.back());
    free_.pop_back();
  }
}

void FramePool::grow() {
  if (slabs_.size() * kSlab >= limit_) return;
  // Not touched before a frame needs it: 64 buffers for frames of full size lie in as many pages, which the kernel clears
  // when they are touched, and a daemon of one switch may never need most of them.
  auto* const slab =
      static_cast<std::byte*>(::operator new[](kSlab* stride_, std::align_val_t{kCacheLine}));
  slabs_.emplace_back(slab);
  for (size_t i = kSlab; i-- > 0;) free_.push_back(slab + i * stride_);
}

}  // namespace mrclab
