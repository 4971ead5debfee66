#pragma once
// Where things are in a host's memory during a ring all-reduce.
//
// The vector is cut into one chunk per host (reduce_chunk), each chunk into lanes. Lanes are
// independent rings, so that the next step of one lane runs while the others are still on the wire.
//
//   region of a host:  vector of even iterations | vector of odd iterations | scratch slots
//
// Scratch slot s receives reduce-scatter step s; it is as long as the longest chunk.

#include <algorithm>
#include <cstdint>

#include "endpoint/workload_spec.h"
#include "fabric/units.h"

namespace mrclab::endpoint {

class CollectiveLayout {
 public:
  CollectiveLayout(Bytes size, size_t hosts) : size_(size), hosts_(hosts) {
    uint64_t shortest = ~uint64_t{0};
    for (size_t i = 0; i < hosts; ++i) {
      const uint64_t length = reduce_chunk(size, hosts, i).length;
      shortest = std::min(shortest, length);
      longest_chunk_ = std::max(longest_chunk_, length);
    }
    lanes_ = static_cast<uint32_t>(std::clamp<uint64_t>(shortest / kLaneBytes, 1, kMaxLanes));
  }

  uint32_t lanes() const { return lanes_; }
  size_t hosts() const { return hosts_; }
  Bytes size() const { return size_; }
  Bytes region_size() const { return {2 * size_.value + (hosts_ - 1) * longest_chunk_}; }

  /// The part of chunk `chunk` that belongs to `lane`, as offset in the vector.
  ReduceChunk slice(size_t chunk, uint32_t lane) const {
    const ReduceChunk whole = reduce_chunk(size_, hosts_, chunk);
    const ReduceChunk part = reduce_chunk({whole.length}, lanes_, lane);
    return {whole.offset + part.offset, part.length};
  }
  uint64_t vector_offset(uint32_t iteration) const { return (iteration & 1) * size_.value; }
  /// Where the slice of `chunk` goes in scratch slot `step`, as offset in the region.
  uint64_t scratch_offset(size_t step, size_t chunk, uint32_t lane) const {
    const ReduceChunk whole = reduce_chunk(size_, hosts_, chunk);
    return 2 * size_.value + step * longest_chunk_ +
           reduce_chunk({whole.length}, lanes_, lane).offset;
  }

 private:
  static constexpr uint64_t kLaneBytes = 64 * 1024;  ///< no lane is shorter, if the chunk allows
  static constexpr uint64_t kMaxLanes = 8;

  Bytes size_;
  size_t hosts_;
  uint64_t longest_chunk_ = 0;
  uint32_t lanes_ = 1;
};

}  // namespace mrclab::endpoint
