#pragma once
// The writes of a requester, in the order in which they were posted: cut into packets one after the other,
// complete in order once a transport ACK covers their last packet.
//
//   completed() <= started() <= posted(), all counts of writes; a write between the first two has packets
//   under way, and only the newest started one may have packets that were not cut off yet

#include <algorithm>
#include <cstdint>
#include <optional>

#include "endpoint/base/application.h"
#include "endpoint/queue_pair/outstanding_table.h"
#include "endpoint/queue_pair/sequence_ring.h"
#include "fabric/packet/headers.h"

namespace mrclab::endpoint {

class SendQueue {
 public:
  static constexpr uint64_t kLimit = 2048;  ///< writes that are not complete

  /// `first_msn`: so many messages, all with immediate, count as done before the first one.
  SendQueue(uint32_t pmtu, uint32_t first_msn)
      : pmtu_(pmtu), first_msn_(first_msn), rqmsn_(static_cast<uint16_t>(first_msn)) {}

  /// False if it is longer than 2^32 - 1 bytes, or the queue is full. A write of no bytes is one packet.
  bool post(const WriteRequest& request);

  uint64_t posted() const { return posted_; }
  uint64_t started() const { return started_; }
  uint64_t completed() const { return completed_; }
  /// Writes whose last packet was cut off.
  uint64_t sent_whole() const { return started_ - (left_ > 0 ? 1 : 0); }
  /// Work that has no packet yet.
  bool has_uncut() const { return left_ > 0 || started_ < posted_; }
  /// May the next packet be cut off while so many WriteImm may be in flight?
  bool has_packet(uint32_t max_immediates) const {
    return left_ > 0 || (started_ < posted_ && may_start(max_immediates));
  }
  /// Payload bytes of the next packet; there is one.
  uint32_t next_length() const {
    return std::min(pmtu_, left_ > 0 ? left_ : message(started_).length);
  }

  /// Cuts the next packet off and puts it into the table, which gives it the sequence end().
  void cut_packet_into(OutstandingTable& table);

  /// What a packet of a write looks like: opcode, lengths and places in memory.
  struct PacketView {
    Opcode opcode = Opcode::kWriteOnly;
    ConstMemory payload;
    Meth meth;
    Reth reth;
    std::optional<uint32_t> immediate;
    bool last = false;  ///< of its write
  };
  void describe(const SentPacket& packet, PacketView& view) const;
  /// The number of the write that a packet belongs to. Writes with packets under way are not complete, and there
  /// are at most kLimit of those, so the low bits suffice.
  uint64_t number_of_write(const SentPacket& packet) const {
    return completed_ + static_cast<uint16_t>(packet.request - completed_);
  }

  /// The number of the next write in order whose last packet is `acknowledged` or before it; it is complete
  /// then. Call it until it is empty.
  std::optional<uint64_t> complete_next(Sequence acknowledged);
  /// The write that `s` belongs to, if no transport ACK has covered that write yet: a packet that was
  /// SACKed, even cumulatively, may still be NAKed (MRC specification §7.5).
  std::optional<uint64_t> unfinished_write(Sequence s) const;
  /// The writer's own number of a write, while no newer write has taken its place in the queue.
  uint64_t id_of(uint64_t number) const { return message(number).request.id; }

  /// The number of the next write that is not complete, which is given up. Call it until it is empty.
  std::optional<uint64_t> give_up_next();

 private:
  struct Message {
    WriteRequest request;
    uint32_t length = 0;
    Meth meth;
    Sequence first = -1;  ///< of its first packet, once that is sent
    Sequence last = -1;   ///< of its last packet, once that is sent
  };
  bool may_start(uint32_t max_immediates) const;
  Message& message(uint64_t number) { return messages_[static_cast<Sequence>(number)]; }
  const Message& message(uint64_t number) const { return messages_[static_cast<Sequence>(number)]; }

  uint32_t pmtu_;  ///< bytes
  uint32_t first_msn_;
  SequenceRing<Message> messages_;  ///< by number, from completed_ on
  uint64_t posted_ = 0;             ///< also the number of the next write to be posted
  uint64_t started_ = 0;            ///< writes whose first packet was cut off
  uint64_t completed_ = 0;
  uint32_t left_ = 0;  ///< bytes of write started_ - 1 that have no packet yet
  uint32_t immediates_in_flight_ = 0;
  uint16_t rqmsn_;
};

}  // namespace mrclab::endpoint
