#pragma once
// Frames: the bytes of one Ethernet frame (no FCS, no time trailer) in a pooled buffer.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "fabric/base/cache_line.h"
#include "fabric/base/units.h"

namespace mrclab {

/// Room for PMTU 4096 + 132 bytes of headers + Ethernet 14, and the time trailer behind it.
inline constexpr size_t kFrameCapacity = 4352;
/// The trailer is written behind the frame in the same buffer, so that a send needs no gather.
inline constexpr size_t kTrailerReserve = 64;

/// What the buffers of a pool hold.
struct FrameRoom {
  size_t frame = kFrameCapacity;     ///< bytes of the longest frame, less than 32 KiB
  size_t trailer = kTrailerReserve;  ///< behind it
  bool lends = true;  ///< a frame may have a payload that it does not hold (LentPayload)
  /// Frames up to this long have smaller buffers; 0: all are alike, as they must be where a trailer or a lent payload is.
  size_t short_frame = 0;
};
/// For worlds that carry no payload: all headers of a write are 142 bytes, those of one with immediate 146, and a SACK
/// is 154. Nothing is written behind them.
inline constexpr FrameRoom kHeaderRoom{154, 0, false, 144};

/// The place of a payload that the frame does not copy: it lies between the headers that the
/// frame holds and the pad and ICRC that whoever looks at them makes (fabric/packet/whole_frame.h).
struct LentPayload {
  const uint8_t* data = nullptr;  ///< null: nothing is lent
  uint16_t size = 0;              ///< bytes
  bool icrc = false;              ///< an ICRC stands where it belongs, or zeros
};

class FramePool;

/// The head of a pooled buffer; the frame's bytes follow, so that the lengths are in one cache line
/// with the first headers. A write under way takes 160 bytes with it where rooms are kHeaderRoom, and large fabrics have
/// hundreds for each host. A lent payload is noted behind the room.
struct FrameBuffer {
  uint64_t content = 0;        ///< see Frame::content; 0: not set
  uint16_t modelled_size = 0;  ///< bytes that the modelled hardware would carry (>= size)
  uint16_t damage = 0;         ///< see Frame::damage
  uint16_t size : 15 = 0;      ///< bytes present
  uint16_t lends : 1 = 0;      ///< it has a lent payload
  uint16_t pool : 13 = 0;  ///< the number of the pool where it returns when its frame is destroyed
  uint16_t note : 2 = 0;   ///< see Frame::note
  uint16_t is_short : 1 = 0;  ///< it has room for FrameRoom::short_frame

  uint8_t* bytes() { return reinterpret_cast<uint8_t*>(this + 1); }
};
static_assert(sizeof(FrameBuffer) == 16);
/// What a switch looks at, up to the end of the outer IPv6 header, and what a host looks at, all headers of MRC.
inline constexpr size_t kSwitchedBytes = 128, kHeaderBytes = 192;

/// A move-only handle; the buffer goes back to its pool when the handle dies.
class Frame {
 public:
  Frame() = default;
  explicit Frame(FrameBuffer* buffer) : buffer_(buffer) {}
  Frame(Frame&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  Frame& operator=(Frame&& other) noexcept {
    if (this != &other) {
      if (buffer_ != nullptr) give_back();
      buffer_ = std::exchange(other.buffer_, nullptr);
    }
    return *this;
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  ~Frame() {
    if (buffer_ != nullptr) give_back();
  }

  /// Loads so many bytes of its buffer into the cache, if it is not empty.
  void fetch(size_t bytes) const {
    if (buffer_ != nullptr) fetch_lines(buffer_, bytes);
  }

  explicit operator bool() const { return buffer_ != nullptr; }
  std::span<const uint8_t> bytes() const { return {buffer_->bytes(), buffer_->size}; }
  /// For who may change any of them.
  std::span<uint8_t> writable_bytes() {
    buffer_->content = 0;
    buffer_->note = 0;
    return {buffer_->bytes(), buffer_->size};
  }
  /// The same for who changes only what every switch does: MAC addresses, carriers, hop limits, traffic classes.
  /// content() stays.
  std::span<uint8_t> hop_bytes() { return {buffer_->bytes(), buffer_->size}; }
  /// The whole buffer, for writing a payload or a trailer behind the headers. content() stays.
  inline std::span<uint8_t> storage();
  /// A hash of what no switch changes (fabric/history/history.h), as it was last set; 0: not set since.
  uint64_t content() const { return buffer_->content; }
  /// May be set at any time: a frame is the same with and without it.
  void set_content(uint64_t hash) const { buffer_->content = hash; }
  /// What an observer has found in bytes that no switch changes, so that it need not read them at each port: a number
  /// below 4, which stays as long as content() does. 0: nothing yet.
  uint8_t note() const { return buffer_->note; }
  void set_note(uint8_t note) const { buffer_->note = note & 3; }
  size_t size() const { return buffer_->size; }
  Bytes modelled_size() const { return {buffer_->modelled_size}; }
  /// Length on the wire including FCS, preamble and gap.
  Bytes wire_length() const { return mrclab::wire_length(modelled_size()); }
  /// Cuts or grows what is present; the modelled size follows. `size` <= the pool's room for frames. A lent
  /// payload stays.
  void resize(size_t size);
  /// At most 65,535 bytes, which no PMTU comes near.
  void set_modelled_size(Bytes size) {
    buffer_->modelled_size = static_cast<uint16_t>(std::min<uint64_t>(size.value, UINT16_MAX));
  }
  /// For a frame whose payload is elided: the XOR over its wrong bits of their numbers plus one;
  /// zero: none. By it the receiver finds what an ICRC over the whole frame would find. Two
  /// flips of one bit cancel.
  uint32_t damage() const { return buffer_->damage; }
  void add_damage(uint32_t bit) { buffer_->damage ^= static_cast<uint16_t>(bit + 1); }
  /// No frame has bits with numbers over 65,534.
  void set_damage(uint32_t damage) {
    buffer_->damage = static_cast<uint16_t>(std::min<uint32_t>(damage, UINT16_MAX));
  }
  void repair() { set_damage(0); }
  /// The memory lies still until the frame has been read for the last time that counts: its sender may reuse
  /// it when the packet is acknowledged; of later copies only the headers count, which show them as duplicates.
  /// Its pool's room must allow that.
  void lend(const LentPayload& payload);
  inline LentPayload lent() const;
  bool has_lent() const { return buffer_->lends; }
  void drop_payload() { buffer_->lends = false; }
  /// A copy with the same bytes, lengths, damage and lent payload from the same pool; empty if the pool
  /// is exhausted.
  Frame twin() const;

 private:
  friend class FramePool;
  /// Not inline: most handles that die are empty, and their destructor is to be a comparison.
  void give_back();
  FrameBuffer* buffer_ = nullptr;
};

/// Free lists of frame buffers for one thread. It must outlive its frames. Grows in slabs up to
/// `limit` frames of either room; after that `make` returns an empty Frame and counts (a bound on every queue).
class FramePool {
 public:
  static constexpr size_t kLimit = 1u << 18;
  /// A process has at most so many pools at a time, since a buffer keeps the number of its pool in 13 bits.
  static constexpr size_t kMostPools = 1u << 13;
  /// A frame has less than 32 KiB. Throws std::length_error when there are kMostPools.
  explicit FramePool(size_t limit = kLimit, FrameRoom room = {});
  ~FramePool();
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  /// A frame of `size` bytes with unspecified contents; empty when the limit is reached or the
  /// size is over the room for frames.
  Frame make(size_t size);
  Frame copy(std::span<const uint8_t> bytes);

  // A frame that goes to another thread is let go by its own pool there and adopted by the other
  // thread's pool before it may die there; both pools outlive the frames of both, and have the same room.
  void let_go() { --in_use_; }
  /// Does nothing to a frame of its own.
  void adopt(Frame& frame) {
    if (frame.buffer_->pool == number_) return;
    frame.buffer_->pool = number_ & (kMostPools - 1);
    ++in_use_;
  }
  /// Gives another pool of the same room half of what it has more free buffers of, where it has more than twice as many.
  void share(FramePool& with);
  size_t free_buffers() const { return shelves_[0].free_buffers + shelves_[1].free_buffers; }

  size_t in_use() const { return in_use_; }
  uint64_t exhausted() const { return exhausted_; }
  /// Memory of its buffers, also of those that are free now.
  Bytes memory() const;

 private:
  friend class Frame;
  /// A buffer that holds no frame, in whose place it lies.
  struct Free {
    Free* next;
  };
  static constexpr size_t kSlab = 64;  // buffers
  struct FreeSlab {
    void operator()(std::byte* slab) const {
      ::operator delete[](slab, std::align_val_t{kCacheLine});
    }
  };
  /// The buffers of one size.
  struct Shelf {
    std::vector<std::unique_ptr<std::byte[], FreeSlab>> slabs;
    Free* free = nullptr;        ///< those that held a frame, the last one first
    std::byte* fresh = nullptr;  ///< the first of those of the newest slab that never did
    size_t fresh_left = 0;
    size_t free_buffers = 0;  ///< of both kinds
    size_t stride = 0;        ///< bytes from one buffer to the next

    void put(void* buffer) {
      free = new (buffer) Free{free};
      ++free_buffers;
    }
    /// There must be one.
    void* take();
    void grow();
  };
  static FramePool& of(const FrameBuffer& buffer) {
    return *pools_[buffer.pool].load(std::memory_order_relaxed);
  }
  void give_back(FrameBuffer* buffer) {
    shelves_[buffer->is_short].put(buffer);
    --in_use_;
  }

  /// By number; null where there is none. An entry is written before its pool has frames, and whoever has got a frame of
  /// another thread has seen that.
  static std::array<std::atomic<FramePool*>, kMostPools> pools_;
  std::array<Shelf, 2> shelves_;  // [1]: short ones
  size_t limit_;
  FrameRoom room_;
  size_t lent_at_;  // bytes from the beginning of a buffer to its LentPayload
  size_t in_use_ = 0;
  uint64_t exhausted_ = 0;
  uint32_t number_;
};

inline LentPayload Frame::lent() const {
  LentPayload payload;
  if (!buffer_->lends) return payload;
  std::memcpy(&payload,
              reinterpret_cast<const std::byte*>(buffer_) + FramePool::of(*buffer_).lent_at_,
              sizeof payload);
  return payload;
}

inline std::span<uint8_t> Frame::storage() {
  const FrameRoom& room = FramePool::of(*buffer_).room_;
  return {buffer_->bytes(), buffer_->is_short ? room.short_frame : room.frame + room.trailer};
}

}  // namespace mrclab
