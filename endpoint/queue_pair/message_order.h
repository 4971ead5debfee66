#pragma once
// Do the packets of a stream make whole messages? Writes are placed in any order, since each packet
// carries its address; only when everything before a packet is in can it be seen whether FIRST,
// MIDDLE and LAST follow one another, whether all packets of a message name the same message and
// length, and whether its payload adds up. If not, the peer is broken or its packets were forged,
// and the bytes in memory are not those that were sent (InfiniBand vol. 1 §9.7.4.1.3, §9.7.4.1.6:
// invalid request).
//
// Not checked: that message numbers count up, since their start is not agreed on.

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "endpoint/queue_pair/sequence_ring.h"

namespace mrclab::endpoint {

class MessageOrder {
 public:
  struct Packet {
    bool first = false;
    bool last = false;
    uint16_t msn = 0;
    uint32_t message_bytes = 0;
    uint32_t payload_bytes = 0;
  };

  /// The packet is in, ahead of checked() by no more than the receiver allows.
  void arrived(Sequence s, const Packet& packet) {
    packets_.make_room(checked_ + 1, newest_ + 1, s + 1);
    assert(packet.payload_bytes <= kMostPayload);
    packets_[s] = {packet.message_bytes, packet.msn,
                   static_cast<uint16_t>(packet.payload_bytes | (packet.first ? kFirst : 0) |
                                         (packet.last ? kLast : 0))};
    newest_ = std::max(newest_, s);
  }
  Sequence checked() const { return checked_; }
  /// Checks the packet behind checked(), which has arrived. False if it breaks its message.
  bool check_next() {
    const Packet packet = unpacked(packets_[++checked_]);
    if (packet.first == open_) return false;
    if (packet.first) {
      first_ = packet;
      so_far_ = 0;
    }
    so_far_ += packet.payload_bytes;
    open_ = !packet.last;
    return packet.msn == first_.msn && packet.message_bytes == first_.message_bytes &&
           (packet.last ? so_far_ == first_.message_bytes : so_far_ < first_.message_bytes);
  }

 private:
  /// A packet in 8 bytes, because there are hundreds; a PMTU is at most 4,096 bytes.
  struct Packed {
    uint32_t message_bytes = 0;
    uint16_t msn = 0;
    uint16_t rest = 0;  ///< payload bytes, kFirst and kLast
  };
  static constexpr uint16_t kFirst = 1 << 15, kLast = 1 << 14, kMostPayload = kLast - 1;
  static Packet unpacked(const Packed& p) {
    return {(p.rest & kFirst) != 0, (p.rest & kLast) != 0, p.msn, p.message_bytes,
            uint32_t{p.rest} & kMostPayload};
  }

  SequenceRing<Packed> packets_;  // above checked_
  Sequence checked_ = -1;
  Sequence newest_ = -1;
  bool open_ = false;  // in a message
  Packet first_;       // first packet of the message
  uint64_t so_far_ = 0;
};

}  // namespace mrclab::endpoint
