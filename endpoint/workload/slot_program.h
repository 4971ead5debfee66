#pragma once
// What each host of a collective with slots receives and sends, in which order, as NCCL's protocol "Simple" has it;
// slotted_collective.h executes it. A lane is a channel of a link and has a first-in first-out queue of slots at its
// receiver (NCCL_BUFFSIZE, 4 MiB, cut into NCCL_STEPS, 8).
//
//   rings (all_reduce, reduce_scatter, all_gather): the vector is gone through in loops of hosts x half a buffer. In
//     each, operation s receives a piece of chunk (i - a - s), adds this host's own or passes it on, and sends it; the first
//     one only sends, the last one only receives (a = 1 for reduce_scatter, else 0). A chunk goes in two slices of two
//     steps (NCCL: chunks of NCCL_STEPS / 2, slices of NCCL_STEPS / 4), in one if it is below a 32nd of a slice.
//   sendrecv, all_to_all: what goes to a peer is cut into messages of 128 KiB (NCCL_P2P_NET_CHUNKSIZE), a step each; the
//     lane's sends and receives do not wait for each other.
//
// Loops are of equal length (our choice; in NCCL the last one is shorter), and there are no more channels than elements.

#include <optional>

#include "endpoint/workload/collective_layout.h"
#include "endpoint/workload/workload_spec.h"

namespace mrclab::endpoint {

class SlotProgram {
 public:
  SlotProgram(CollectiveKind kind, Bytes size, size_t hosts, const SlotSpec& slots);

  /// An operation of a lane.
  struct Place {
    uint64_t loop = 0;  ///< of a ring; else the number of a message to the peer
    uint32_t step = 0;
    uint32_t slice = 0;
  };

  CollectiveKind kind() const { return kind_; }
  size_t hosts() const { return hosts_; }
  uint32_t channels() const { return channels_; }
  uint32_t slots() const { return slots_; }  ///< of a lane, for one message each
  uint64_t slot_bytes() const { return slot_bytes_; }
  /// Of a link: all slots of all its channels.
  Bytes inbox_size() const { return {channels_ * slots_ * slot_bytes_}; }
  uint64_t slot_at(uint32_t channel, uint64_t message) const {
    return (channel * slots_ + message % slots_) * slot_bytes_;
  }

  bool is_ring() const {
    return kind_ != CollectiveKind::kAllToAll && kind_ != CollectiveKind::kSendRecv;
  }
  size_t links() const { return kind_ == CollectiveKind::kAllToAll ? hosts_ - 1 : 1; }
  size_t to_rank(size_t rank, size_t link) const { return (rank + 1 + link) % hosts_; }
  size_t from_rank(size_t rank, size_t link) const { return (rank + hosts_ - 1 - link) % hosts_; }
  /// The link that leads from one host to another.
  size_t link_between(size_t from, size_t to) const {
    return is_ring() || kind_ == CollectiveKind::kSendRecv ? 0 : (to + hosts_ - from - 1) % hosts_;
  }

  /// Rings: which chunk operation `step` is about, and what it does.
  size_t chunk_of(size_t rank, uint32_t step) const;
  bool receives(Place at) const { return at.step > 0; }
  bool sends(Place at) const { return at.step < steps_; }
  bool adds(Place at) const { return at.step <= reducing_; }
  /// What it leaves is a result, and not yet only a part of the sum.
  bool is_result(Place at) const { return at.step >= std::max(reducing_, 1u); }
  bool reduces() const { return reducing_ > 0; }

  /// `chunk`: of a peer's messages, whose they are. Places of a ring end for all chunks alike.
  bool ended(uint32_t channel, size_t chunk, Place at) const {
    return at.loop >= loops(channel, chunk);
  }
  void advance(uint32_t channel, size_t chunk, Place& at) const;
  /// Messages of one iteration over a lane.
  uint64_t messages(uint32_t channel, size_t chunk) const;
  /// What goes at this place, as offset in the vector.
  ReduceChunk piece(uint32_t channel, size_t chunk, Place at) const;

 private:
  ReduceChunk part(uint32_t channel, size_t chunk) const;
  uint64_t loops(uint32_t channel, size_t chunk) const;
  ReduceChunk loop(uint32_t channel, size_t chunk, uint64_t number) const;
  uint32_t slices(uint32_t channel, size_t chunk, uint64_t number) const;

  CollectiveKind kind_;
  size_t hosts_;
  Bytes size_;  ///< of the padded vector
  uint32_t channels_ = 1;
  uint32_t slots_ = 1;
  uint64_t slot_bytes_ = 0;
  uint32_t reducing_ = 0;
  uint32_t steps_ = 0;  ///< rings: sends of a chunk
};

}  // namespace mrclab::endpoint
