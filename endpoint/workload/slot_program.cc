#include "endpoint/workload/slot_program.h"

#include <algorithm>

namespace mrclab::endpoint {
namespace {

constexpr uint64_t kPeerMessage = 128 * 1024;  ///< NCCL_P2P_NET_CHUNKSIZE
constexpr uint32_t kSlicesOfChunk = 2;
constexpr uint64_t kShortestSlice =
    32;  ///< a slice's part that is not cut any more (NCCL's primitives)

constexpr uint64_t pieces_of(uint64_t length, uint64_t most) {
  return std::max<uint64_t>((length + most - 1) / most, 1);
}

}  // namespace

SlotProgram::SlotProgram(CollectiveKind kind, Bytes size, size_t hosts, const SlotSpec& slots)
    : kind_(kind), hosts_(hosts) {
  const size_t chunks = kind == CollectiveKind::kSendRecv ? 1 : hosts;
  const uint64_t elements = std::max<uint64_t>(size.value / kReduceElementBytes, chunks);
  size_ = {elements * kReduceElementBytes};
  channels_ = static_cast<uint32_t>(std::min<uint64_t>(slots.channels, elements / chunks));
  const uint64_t step_bytes = slots.buffer.value / slots.steps;
  const auto others = static_cast<uint32_t>(hosts - 1);
  if (is_ring()) {
    const uint32_t steps_of_slice = slots.steps / 4;
    slots_ = slots.steps / steps_of_slice;
    slot_bytes_ = step_bytes * steps_of_slice;
    reducing_ = kind == CollectiveKind::kAllGather ? 0 : others;
    steps_ = kind == CollectiveKind::kAllReduce ? 2 * others : others;
  } else {
    slots_ = slots.steps;
    slot_bytes_ = std::min(step_bytes, kPeerMessage);
  }
}

size_t SlotProgram::chunk_of(size_t rank, uint32_t step) const {
  const uint32_t ahead = kind_ == CollectiveKind::kReduceScatter ? 1 : 0;
  return (rank + 3 * hosts_ - ahead - step) % hosts_;
}

/// A channel's part: of a ring the vector's, else the peer's chunk's.
ReduceChunk SlotProgram::part(uint32_t channel, size_t chunk) const {
  ReduceChunk whole{0, size_.value};
  if (kind_ == CollectiveKind::kAllToAll) whole = reduce_chunk(size_, hosts_, chunk);
  ReduceChunk mine = reduce_chunk({whole.length}, channels_, channel);
  mine.offset += whole.offset;
  return mine;
}

uint64_t SlotProgram::loops(uint32_t channel, size_t chunk) const {
  const uint64_t most = is_ring() ? hosts_ * kSlicesOfChunk * slot_bytes_ : slot_bytes_;
  return pieces_of(part(channel, chunk).length, most);
}

ReduceChunk SlotProgram::loop(uint32_t channel, size_t chunk, uint64_t number) const {
  const ReduceChunk whole = part(channel, chunk);
  ReduceChunk one = reduce_chunk({whole.length}, loops(channel, chunk), number);
  one.offset += whole.offset;
  return one;
}

/// The same for all chunks of a loop, so that all hosts count alike.
uint32_t SlotProgram::slices(uint32_t channel, size_t chunk, uint64_t number) const {
  const uint64_t longest = loop(channel, chunk, number).length / hosts_;
  return longest > slot_bytes_ / kShortestSlice ? kSlicesOfChunk : 1;
}

void SlotProgram::advance(uint32_t channel, size_t chunk, Place& at) const {
  if (is_ring()) {
    if (++at.slice < slices(channel, chunk, at.loop)) return;
    at.slice = 0;
    if (++at.step <= steps_) return;
    at.step = 0;
  }
  ++at.loop;
}

uint64_t SlotProgram::messages(uint32_t channel, size_t chunk) const {
  const uint64_t all = loops(channel, chunk);
  if (!is_ring()) return all;
  uint64_t count = 0;
  for (uint64_t number = 0; number < all; ++number) {
    count += uint64_t{steps_} * slices(channel, chunk, number);
  }
  return count;
}

ReduceChunk SlotProgram::piece(uint32_t channel, size_t chunk, Place at) const {
  const ReduceChunk whole = loop(channel, chunk, at.loop);
  if (!is_ring()) return whole;
  const ReduceChunk of_loop = reduce_chunk({whole.length}, hosts_, chunk);
  const ReduceChunk slice =
      reduce_chunk({of_loop.length}, slices(channel, chunk, at.loop), at.slice);
  return {whole.offset + of_loop.offset + slice.offset, slice.length};
}

}  // namespace mrclab::endpoint
