#pragma once
// How a collective cuts its vector: one chunk per host, each chunk into lanes. Lanes are
// independent of each other, so that the next step of one lane runs while the others are still on
// the wire; lane l uses queue pair l modulo qps, which is how data is striped over several queue
// pairs.
//
// Every chunk has at least one element: a vector with fewer elements than hosts is padded, so that
// there is no step without a write (NCCL, too, moves at least one line of flags per step).

#include <algorithm>
#include <cstdint>

#include "endpoint/workload/workload_spec.h"
#include "fabric/base/units.h"

namespace mrclab::endpoint {

/// A piece of a vector, in bytes.
struct ReduceChunk {
  uint64_t offset = 0;
  uint64_t length = 0;
};

/// Which part of a vector of `size` bytes is piece `index` of `count`: whole elements, lengths
/// differ by at most one.
constexpr ReduceChunk reduce_chunk(Bytes size, size_t count, size_t index) {
  const uint64_t elements = size.value / kReduceElementBytes;
  const uint64_t begin = elements * index / count;
  const uint64_t end = elements * (index + 1) / count;
  return {begin * kReduceElementBytes, (end - begin) * kReduceElementBytes};
}

class CollectiveLayout {
 public:
  /// `chunks` is the number of hosts, or 1 where the whole vector goes to one neighbour.
  CollectiveLayout(Bytes size, size_t chunks, uint32_t qps)
      : size_{std::max(size.value / kReduceElementBytes, uint64_t{chunks}) * kReduceElementBytes},
        chunks_(chunks) {
    uint64_t shortest = ~uint64_t{0};
    for (size_t i = 0; i < chunks; ++i) {
      const uint64_t length = chunk(i).length;
      shortest = std::min(shortest, length);
      longest_chunk_ = std::max(longest_chunk_, length);
    }
    const uint64_t wanted = std::clamp<uint64_t>(shortest / kLaneBytes, 1, kMaxLanes);
    // As many lanes as queue pairs, if there is an element for each.
    lanes_ = static_cast<uint32_t>(
        std::min(std::max<uint64_t>(wanted, qps), shortest / kReduceElementBytes));
  }

  uint32_t lanes() const { return lanes_; }
  size_t chunks() const { return chunks_; }
  Bytes size() const { return size_; }  ///< size of the padded vector
  uint64_t longest_chunk() const { return longest_chunk_; }

  ReduceChunk chunk(size_t index) const { return reduce_chunk(size_, chunks_, index); }
  /// The part of chunk `index` that belongs to `lane`, as offset in the vector.
  ReduceChunk slice(size_t index, uint32_t lane) const {
    ReduceChunk part = lane_of_chunk(index, lane);
    part.offset += chunk(index).offset;
    return part;
  }
  /// The same, as offset in the chunk.
  ReduceChunk lane_of_chunk(size_t index, uint32_t lane) const {
    return reduce_chunk({chunk(index).length}, lanes_, lane);
  }

 private:
  static constexpr uint64_t kLaneBytes = 64 * 1024;  ///< no lane is shorter, if the chunk allows
  static constexpr uint64_t kMaxLanes = 8;

  Bytes size_;
  size_t chunks_;
  uint64_t longest_chunk_ = 0;
  uint32_t lanes_ = 1;
};

}  // namespace mrclab::endpoint
