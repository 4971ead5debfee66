#pragma once
// Frames from one process to another through memory that both have mapped: a ring of bytes with one writer and one
// reader.
//
// A record is padded to eight bytes: its length u32, its wire u32, the frame. No record goes round the end of the
// ring. The writer publishes a record when it is whole, so one that is killed leaves none half written; the reader
// trusts no length that it reads.
//
// Memory order: what the writer had put before it stored something else with release order, a reader that has loaded
// that with acquire order finds here.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "fabric/base/ids.h"
#include "fabric/packet/whole_frame.h"

namespace mrclab::netio {

/// A view of the memory, at the writer or at the reader.
class FrameChannel {
 public:
  /// The memory of a channel where `frames` frames of `frame_bytes` bytes may wait.
  static size_t bytes_for(size_t frames, size_t frame_bytes);
  /// `memory`: bytes_for() bytes, at a multiple of kAlignment, zero before its first use. It outlives this.
  explicit FrameChannel(std::span<std::byte> memory);

  static constexpr size_t kAlignment = 64;

  /// Copies a frame into the ring. False, and nothing is written, if there is no room for it now.
  bool put(WireId wire, const FramePieces& frame);
  /// Hands what is there to callback(WireId, std::span<const uint8_t> frame), in order; the bytes are valid during the
  /// call. False if the ring holds something that the writer cannot have put: that, and what follows it, is gone.
  template <class Callback>
  bool drain(Callback&& callback) {
    const uint64_t end = positions_->written.load(std::memory_order_acquire);
    uint64_t at = positions_->read.load(std::memory_order_relaxed);
    if (end - at > ring_.size()) return skip_to(end);
    while (at != end) {
      const size_t offset = at % ring_.size();
      const uint64_t left = std::min<uint64_t>(end - at, ring_.size() - offset);
      Record record;
      if (left < sizeof record) return skip_to(end);
      std::memcpy(&record, &ring_[offset], sizeof record);
      if (record.length == kSkipped) {
        at += left;
      } else if (left < size_of(record.length)) {
        return skip_to(end);
      } else {
        const std::byte* bytes = &ring_[offset + sizeof record];
        callback(WireId{record.wire},
                 std::span(reinterpret_cast<const uint8_t*>(bytes), record.length));
        at += size_of(record.length);
      }
      positions_->read.store(at, std::memory_order_release);
    }
    return true;
  }

 private:
  struct Record {
    /// Bytes of the frame that follows; kSkipped where the writer has gone on at the beginning of the ring.
    uint32_t length = 0;
    uint32_t wire = 0;
  };
  /// In bytes since the beginning, which never go round.
  struct Positions {
    alignas(kAlignment) std::atomic<uint64_t> written;
    alignas(kAlignment) std::atomic<uint64_t> read;
  };
  static constexpr uint32_t kSkipped = 0xFFFF'FFFF;
  static constexpr size_t kRecordAlignment = 8;

  static constexpr size_t size_of(size_t length) {
    return (sizeof(Record) + length + kRecordAlignment - 1) / kRecordAlignment * kRecordAlignment;
  }

  bool skip_to(uint64_t end) {
    positions_->read.store(end, std::memory_order_release);
    return false;
  }

  Positions* positions_;
  std::span<std::byte> ring_;
};

}  // namespace mrclab::netio
