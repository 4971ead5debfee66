#pragma once
// Frames: the bytes of one Ethernet frame (no FCS, no time trailer) in a pooled buffer.

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "fabric/units.h"

namespace mrclab {

/// Room for PMTU 4096 + 132 bytes of headers + Ethernet 14, and the time trailer behind it.
inline constexpr size_t kFrameCapacity = 4352;
/// The trailer is written behind the frame in the same buffer, so that a send needs no gather.
inline constexpr size_t kTrailerReserve = 64;

struct FrameBuffer {
  std::array<uint8_t, kFrameCapacity + kTrailerReserve> bytes;
  uint32_t size = 0;           ///< bytes present
  uint32_t modelled_size = 0;  ///< bytes that the modelled hardware would carry (>= size)
};

class FramePool;

/// A move-only handle; the buffer goes back to its pool when the handle dies.
class Frame {
 public:
  Frame() = default;
  Frame(FrameBuffer* buffer, FramePool* pool) : buffer_(buffer), pool_(pool) {}
  Frame(Frame&& other) noexcept : buffer_(other.buffer_), pool_(other.pool_) {
    other.buffer_ = nullptr;
  }
  Frame& operator=(Frame&& other) noexcept;
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  ~Frame() { release(); }

  explicit operator bool() const { return buffer_ != nullptr; }
  std::span<uint8_t> bytes() { return {buffer_->bytes.data(), buffer_->size}; }
  std::span<const uint8_t> bytes() const { return {buffer_->bytes.data(), buffer_->size}; }
  /// The whole buffer, for writing a trailer behind the frame.
  std::span<uint8_t> storage() { return buffer_->bytes; }
  size_t size() const { return buffer_->size; }
  Bytes modelled_size() const { return {buffer_->modelled_size}; }
  /// Length on the wire including FCS, preamble and gap.
  Bytes wire_length() const { return mrclab::wire_length(modelled_size()); }
  /// Cuts or grows the frame; the modelled size follows. `size` <= kFrameCapacity.
  void resize(size_t size);
  void set_modelled_size(Bytes size) { buffer_->modelled_size = static_cast<uint32_t>(size.value); }

 private:
  void release();
  FrameBuffer* buffer_ = nullptr;
  FramePool* pool_ = nullptr;
};

/// A free list of frame buffers for one thread. It must outlive its frames. Grows in slabs up to
/// `limit` frames; after that `make` returns an empty Frame and counts (a bound on every queue).
class FramePool {
 public:
  explicit FramePool(size_t limit = 1u << 18) : limit_(limit) {}
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  /// A frame of `size` bytes with unspecified contents; empty when the limit is reached or the
  /// size is over kFrameCapacity.
  Frame make(size_t size);
  Frame copy(std::span<const uint8_t> bytes);
  size_t in_use() const { return in_use_; }
  uint64_t exhausted() const { return exhausted_; }

 private:
  friend class Frame;
  void give_back(FrameBuffer* buffer) {
    free_.push_back(buffer);
    --in_use_;
  }
  void grow();

  static constexpr size_t kSlab = 64;
  std::vector<std::unique_ptr<std::array<FrameBuffer, kSlab>>> slabs_;
  std::vector<FrameBuffer*> free_;
  size_t limit_;
  size_t in_use_ = 0;
  uint64_t exhausted_ = 0;
};

}  // namespace mrclab
