#pragma once
// The packets of one requester that are not cumulatively acknowledged yet: a ring indexed by
// sequence, with the ones in flight linked in the order of transmission. Grows with what is really
// under way, up to its capacity; nothing is allocated once warm. All operations are O(1); first_lost() is amortised.
//
//   in flight --sacked--> sacked --release--> gone      a refused packet may be sacked, too: an
//    |  |  ^                                           earlier transmission of it had arrived
//    | lost transmitted
//    |  v  |
//    | lost ------sacked--> sacked
//    |  ^
//    | due
//    v  |
//   refused

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "endpoint/queue_pair/sequence_ring.h"
#include "fabric/base/units.h"

namespace mrclab::endpoint {

/// What a sender must keep of a packet to attribute its loss to an entropy value. 24 bytes, because a host has
/// hundreds of them.
struct SentPacket {
  enum class State : uint8_t { kInFlight, kLost, kRefused, kSacked };
  FabricTime sent;       ///< start of the last transmission
  uint32_t offset = 0;   ///< place of its payload in the message
  uint16_t length = 0;   ///< length of its payload
  uint16_t ev = 0;       ///< index in the EV set for the last transmission
  uint16_t request = 0;  ///< the low bits of the number of the write that it belongs to
  State state = State::kLost;
  // Both count to kMany, which stands for all larger numbers, too.
  static constexpr uint8_t kMany = 15;
  uint8_t transmissions : 4 = 0;
  uint8_t declared_lost : 4 =
      0;  ///< transmissions that the sender itself declared lost (not a NACK)

 private:
  friend class OutstandingTable;
  // The neighbours in the order of transmission, as distances of sequences; 0: there is none.
  int16_t to_older = 0;
  int16_t to_newer = 0;
};
static_assert(sizeof(SentPacket) == 24);

/// A transmission that the sender declared lost.
struct DeclaredLoss {
  FabricTime sent;
  uint32_t ev = 0;  ///< index in the EV set
};

class OutstandingTable {
 public:
  /// The distance of two packets is kept in 16 bits.
  static constexpr size_t kMaxCapacity = 32767;
  /// Holds at most `capacity` packets, no more than kMaxCapacity.
  explicit OutstandingTable(size_t capacity) : capacity_(capacity) {
    assert(capacity <= kMaxCapacity);
  }

  Sequence begin() const { return begin_; }  ///< oldest not released
  Sequence end() const { return end_; }      ///< next to be added
  size_t size() const { return static_cast<size_t>(end_ - begin_); }
  bool full() const { return size() == capacity_; }
  bool contains(Sequence s) const { return s >= begin_ && s < end_; }
  const SentPacket& operator[](Sequence s) const { return packets_[s]; }
  size_t in_flight() const { return in_flight_; }
  size_t lost() const { return lost_; }

  /// A new packet at end(), in state lost until transmitted() is called for it.
  void append_packet(uint64_t request, uint32_t offset, uint32_t length);
  void transmitted(Sequence s, FabricTime now, uint32_t ev);
  void mark_sacked(Sequence s);
  void mark_lost(Sequence s);
  /// The receiver had no room for it: it waits until mark_due().
  void mark_refused(Sequence s);
  void mark_due(Sequence s);
  /// mark_lost() by the sender's own judgement, which may turn out to be wrong.
  void declare_lost(Sequence s);
  /// The newest transmission of the packet that was declared lost; its declared_lost is not 0.
  const DeclaredLoss& declared_loss(Sequence s) const {
    assert(packets_[s].declared_lost > 0);
    return losses_[s];
  }
  /// The sender has looked again at its judgement that the packet was lost.
  void forget_declared(Sequence s) { packets_[s].declared_lost = 0; }
  /// Drops the oldest packet, which must be sacked.
  void release_oldest();

  /// The packet in flight whose last transmission is the longest ago.
  std::optional<Sequence> oldest_in_flight() const;
  /// The lowest sequence that waits for retransmission.
  std::optional<Sequence> first_lost() const;

 private:
  static constexpr Sequence kNone = -1;
  void unlink(Sequence s, SentPacket& packet);
  void leave_flight(Sequence s);
  void wait_for_transmission(Sequence s);

  size_t capacity_;
  SequenceRing<SentPacket> packets_;
  // Apart, since few packets are declared lost; empty before the first one is.
  SequenceRing<DeclaredLoss> losses_;
  Sequence losses_end_ = 0;  // losses_ has places up to here
  Sequence begin_ = 0;
  Sequence end_ = 0;
  Sequence oldest_ = kNone;
  Sequence newest_ = kNone;
  mutable Sequence lost_hint_ = 0;  // no lost packet is below it
  size_t in_flight_ = 0;
  size_t lost_ = 0;
};

}  // namespace mrclab::endpoint
