#pragma once
// Memory of programs as the device hands it to the transports: pieces behind one another; the device is called when a
// transport has written to them.

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "endpoint/base/region_access.h"
#include "endpoint/device/verbs_types.h"

namespace mrclab::endpoint {

class MemoryWatch {
 public:
  virtual ~MemoryWatch() = default;
  virtual void memory_written() = 0;
};

/// Pieces of memory as one, in their order.
class ScatterList : public RegionAccess {
 public:
  /// `watch` outlives it.
  ScatterList(std::vector<MemoryPiece> pieces, MemoryWatch& watch)
      : pieces_(std::move(pieces)), watch_(watch) {}
  static uint64_t size_of(std::span<const MemoryPiece> pieces) {
    uint64_t size = 0;
    for (const MemoryPiece& piece : pieces) size += piece.length;
    return size;
  }

  void write(uint64_t offset, std::span<const uint8_t> bytes, bool last) override {
    for_each(offset, bytes.size(),
             [&](const MemoryPiece& piece, uint64_t at, uint64_t from, uint64_t count) {
               piece.access->write(piece.offset + at, bytes.subspan(from, count),
                                   last && from + count == bytes.size());
             });
    watch_.memory_written();
  }
  void read(uint64_t offset, std::span<uint8_t> bytes) override {
    for_each(offset, bytes.size(),
             [&](const MemoryPiece& piece, uint64_t at, uint64_t from, uint64_t count) {
               piece.access->read(piece.offset + at, bytes.subspan(from, count));
             });
  }
  bool registered() const override {
    return std::ranges::all_of(pieces_, [](const MemoryPiece& piece) {
      return piece.access == nullptr || piece.access->registered();
    });
  }

 private:
  /// Calls each(piece, place in it, place in the bytes, count) for the pieces that so many bytes from `offset` on touch.
  template <class Each>
  void for_each(uint64_t offset, uint64_t size, Each&& each) const {
    uint64_t done = 0;
    for (const MemoryPiece& piece : pieces_) {
      if (done == size) return;
      if (offset >= piece.length) {
        offset -= piece.length;
        continue;
      }
      const uint64_t count = std::min(piece.length - offset, size - done);
      if (piece.access != nullptr) each(piece, offset, done, count);
      done += count;
      offset = 0;
    }
  }

  std::vector<MemoryPiece> pieces_;
  MemoryWatch& watch_;
};

/// A region by its accessor.
class WatchedRegion : public RegionAccess {
 public:
  WatchedRegion(RegionAccess& memory, MemoryWatch& watch) : memory_(memory), watch_(watch) {}
  void write(uint64_t offset, std::span<const uint8_t> bytes, bool last) override {
    memory_.write(offset, bytes, last);
    watch_.memory_written();
  }
  void read(uint64_t offset, std::span<uint8_t> bytes) override { memory_.read(offset, bytes); }

 private:
  RegionAccess& memory_;
  MemoryWatch& watch_;
};

}  // namespace mrclab::endpoint
