#include "fabric/packet/frame.h"

#include <cassert>
#include <stdexcept>

namespace mrclab {
namespace {

constexpr size_t kMostBytes = (1u << 15) - 1;  // FrameBuffer::size
/// What a switch looks at then begins and ends within two cache lines, wherever the buffer begins.
constexpr size_t kBufferAlignment = 16;

size_t up_to(size_t size, size_t multiple) { return (size + multiple - 1) / multiple * multiple; }

}  // namespace

std::array<std::atomic<FramePool*>, FramePool::kMostPools> FramePool::pools_{};

void Frame::give_back() { FramePool::of(*buffer_).give_back(buffer_); }

void Frame::resize(size_t size) {
  assert(size <= storage().size());
  buffer_->size = static_cast<uint16_t>(size & kMostBytes);
  buffer_->modelled_size = buffer_->size;
  buffer_->content = 0;
  buffer_->note = 0;
}

void Frame::lend(const LentPayload& payload) {
  buffer_->lends = payload.data != nullptr;
  if (payload.data == nullptr) return;
  assert(FramePool::of(*buffer_).room_.lends);
  std::memcpy(reinterpret_cast<std::byte*>(buffer_) + FramePool::of(*buffer_).lent_at_, &payload,
              sizeof payload);
}

Frame Frame::twin() const {
  Frame twin = FramePool::of(*buffer_).copy(bytes());
  if (!twin) return twin;
  twin.set_modelled_size(modelled_size());
  twin.buffer_->damage = buffer_->damage;
  twin.buffer_->content = buffer_->content;
  twin.buffer_->note = buffer_->note;
  twin.lend(lent());
  return twin;
}

FramePool::FramePool(size_t limit, FrameRoom room)
    : limit_(limit),
      room_(room),
      lent_at_(up_to(sizeof(FrameBuffer) + room.frame + room.trailer, alignof(LentPayload))) {
  assert(room.frame + room.trailer <= kMostBytes && room.short_frame <= room.frame);
  assert(room.short_frame == 0 || (!room.lends && room.trailer == 0));
  shelves_[0].stride = up_to(lent_at_ + (room.lends ? sizeof(LentPayload) : 0), kBufferAlignment);
  shelves_[1].stride = up_to(sizeof(FrameBuffer) + room.short_frame, kBufferAlignment);
  for (number_ = 0; number_ < kMostPools; ++number_) {
    FramePool* free = nullptr;
    if (pools_[number_].compare_exchange_strong(free, this)) return;
  }
  throw std::length_error("more frame pools than a process may have");
}

FramePool::~FramePool() { pools_[number_] = nullptr; }

Frame FramePool::make(size_t size) {
  if (size > room_.frame) return {};
  const bool is_short = size <= room_.short_frame;
  Shelf& shelf = shelves_[is_short];
  if (shelf.free_buffers == 0 && shelf.slabs.size() * kSlab < limit_) shelf.grow();
  if (shelf.free_buffers == 0) {
    ++exhausted_;
    return {};
  }
  auto* const buffer = new (shelf.take()) FrameBuffer;
  ++in_use_;
  buffer->pool = number_ & (kMostPools - 1);
  buffer->is_short = is_short;
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

void FramePool::share(FramePool& with) {
  for (size_t i = 0; i < shelves_.size(); ++i) {
    Shelf &from = shelves_[i], &to = with.shelves_[i];
    assert(from.stride == to.stride);
    if (from.free_buffers <= 2 * to.free_buffers) continue;
    for (size_t more = (from.free_buffers - to.free_buffers) / 2; more > 0; --more) {
      to.put(from.take());
    }
  }
}

Bytes FramePool::memory() const {
  size_t bytes = 0;
  for (const Shelf& shelf : shelves_) bytes += shelf.slabs.size() * kSlab * shelf.stride;
  return {bytes};
}

void* FramePool::Shelf::take() {
  --free_buffers;
  void* taken = free;
  if (taken != nullptr) {
    free = free->next;
  } else {
    taken = fresh;
    fresh += stride;
    --fresh_left;
  }
  // The next frame is made soon.
  if (free != nullptr) {
    fetch_lines(free, kHeaderBytes);
  } else if (fresh_left > 0) {
    fetch_lines(fresh, kHeaderBytes);
  }
  return taken;
}

void FramePool::Shelf::grow() {
  // Not touched before a frame needs it: 64 buffers for frames of full size lie in as many pages, which the kernel clears
  // when they are touched, and a daemon of one switch may never need most of them.
  fresh = static_cast<std::byte*>(::operator new[](kSlab* stride, std::align_val_t{kCacheLine}));
  slabs.emplace_back(fresh);
  fresh_left = kSlab;
  free_buffers += kSlab;
}

}  // namespace mrclab
