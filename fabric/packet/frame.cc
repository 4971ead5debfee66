#include "fabric/packet/frame.h"

#include <cassert>

namespace mrclab {
namespace {

constexpr size_t kMostBytes = (1u << 15) - 1;  // FrameBuffer::size
/// What a switch looks at then begins and ends within two cache lines, wherever the buffer begins.
constexpr size_t kBufferAlignment = 16;

size_t up_to(size_t size, size_t multiple) { return (size + multiple - 1) / multiple * multiple; }

}  // namespace

void Frame::give_back() { buffer_->pool->give_back(buffer_); }

void Frame::resize(size_t size) {
  assert(size <= storage().size());
  buffer_->size = static_cast<uint16_t>(size & kMostBytes);
  buffer_->modelled_size = buffer_->size;
  buffer_->content = 0;
}

void Frame::lend(const LentPayload& payload) {
  buffer_->lends = payload.data != nullptr;
  if (payload.data == nullptr) return;
  assert(buffer_->pool->room_.lends);
  std::memcpy(reinterpret_cast<std::byte*>(buffer_) + buffer_->pool->lent_at_, &payload,
              sizeof payload);
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
      stride_(up_to(kFrameHeadBytes + room.frame + room.trailer, alignof(LentPayload))),
      lent_at_(stride_) {
  assert(room.frame + room.trailer <= kMostBytes);
  if (room.lends) stride_ += sizeof(LentPayload);
  stride_ = up_to(stride_, kBufferAlignment);
}

Frame FramePool::make(size_t size) {
  if (size > room_.frame) return {};
  if (free_buffers_ == 0) grow();
  if (free_buffers_ == 0) {
    ++exhausted_;
    return {};
  }
  auto* const buffer = new (take_free()) FrameBuffer;
  ++in_use_;
  buffer->pool = this;
  buffer->size = static_cast<uint16_t>(size & kMostBytes);
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
  assert(with.stride_ == stride_ && count <= free_buffers_);
  for (size_t i = 0; i < count; ++i) with.put_free(take_free());
}

void* FramePool::take_free() {
  --free_buffers_;
  void* taken = free_;
  if (taken != nullptr) {
    free_ = free_->next;
  } else {
    taken = fresh_;
    fresh_ += stride_;
    --fresh_left_;
  }
  // The next frame is made soon.
  if (free_ != nullptr) {
    fetch_lines(free_, kHeaderBytes);
  } else if (fresh_left_ > 0) {
    fetch_lines(fresh_, kHeaderBytes);
  }
  return taken;
}

void FramePool::grow() {
  if (slabs_.size() * kSlab >= limit_) return;
  // Not touched before a frame needs it: 64 buffers for frames of full size lie in as many pages, which the kernel clears
  // when they are touched, and a daemon of one switch may never need most of them.
  fresh_ = static_cast<std::byte*>(::operator new[](kSlab* stride_, std::align_val_t{kCacheLine}));
  slabs_.emplace_back(fresh_);
  fresh_left_ = kSlab;
  free_buffers_ += kSlab;
}

}  // namespace mrclab
