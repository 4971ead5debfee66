#include "fabric/frame.h"

#include <cassert>

namespace mrclab {

Frame& Frame::operator=(Frame&& other) noexcept {
  if (this != &other) {
    release();
    buffer_ = other.buffer_;
    pool_ = other.pool_;
    other.buffer_ = nullptr;
  }
  return *this;
}

void Frame::resize(size_t size) {
  assert(size <= kFrameCapacity);
  buffer_->size = static_cast<uint32_t>(size);
  buffer_->modelled_size = buffer_->size;
}

void Frame::release() {
  if (buffer_ != nullptr) pool_->give_back(buffer_);
  buffer_ = nullptr;
}

Frame FramePool::make(size_t size) {
  if (size > kFrameCapacity) return {};
  if (free_.empty()) grow();
  if (free_.empty()) {
    ++exhausted_;
    return {};
  }
  FrameBuffer* buffer = free_.back();
  free_.pop_back();
  ++in_use_;
  buffer->size = buffer->modelled_size = static_cast<uint32_t>(size);
  return {buffer, this};
}

Frame FramePool::copy(std::span<const uint8_t> bytes) {
  Frame frame = make(bytes.size());
  if (frame && !bytes.empty()) std::memcpy(frame.bytes().data(), bytes.data(), bytes.size());
  return frame;
}

void FramePool::grow() {
  if (slabs_.size() * kSlab >= limit_) return;
  // Plain `new`, not make_unique: value-initialising a slab would touch every byte of it.
  slabs_.emplace_back(new std::array<FrameBuffer, kSlab>);
  for (FrameBuffer& buffer : *slabs_.back()) free_.push_back(&buffer);
}

}  // namespace mrclab
