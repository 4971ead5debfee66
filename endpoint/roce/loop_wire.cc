#include "endpoint/roce/loop_wire.h"

#include <algorithm>
#include <utility>

#include "fabric/packet/header_sizes.h"

namespace mrclab::endpoint {

void LoopWire::start_packets(RcQueuePairTable& queue_pairs, FabricTime now) {
  while (free_at_ <= now) {
    const uint32_t places = queue_pairs.places();
    bool sent = false;
    for (uint32_t i = 0; i < places && !sent; ++i) {
      const uint32_t place = (turn_ + i) % places;
      if (!queue_pairs.contains(place)) continue;
      RcQueuePair& qp = queue_pairs[place];
      if (!qp.id.looped || !qp.ready(now)) continue;
      std::optional<RcReply> reply;
      const std::optional<RcPacket> packet = qp.next_packet(now, reply);
      queue_pairs.touch(qp);
      if (packet) send(qp, *packet, now);
      if (reply) answer(qp, *reply, now);
      turn_ = place + 1;
      sent = true;
    }
    if (!sent) return;
  }
}

void LoopWire::send(const RcQueuePair& from, const RcPacket& packet, FabricTime now) {
  const size_t size = layout_of(Encapsulation::kIpv6).after_bth +
                      extension_size(packet.opcode, packet.extension) +
                      (packet.payload.size() + 3) / 4 * 4 + kIcrcBytes;
  free_at_ = now + serialization_time(wire_length({size}), rate_);
  UnderWay& sent = under_way_.emplace_back();
  sent.at = free_at_ + latency_;
  sent.to = from.id.remote;
  sent.packet.bth.opcode = packet.opcode;
  sent.packet.bth.psn = packet.psn;
  sent.packet.bth.ack_request = packet.ack_request;
  sent.packet.bth.solicited = packet.solicited;
  sent.packet.extension = packet.extension;
  sent.packet.payload_length = packet.payload.size();
  sent.packet.cut = packet.payload.elided() && !packet.payload.empty();
  if (sent.packet.cut) return;
  const std::span<const uint8_t> bytes = packet.payload.bytes();
  sent.payload.assign(bytes.begin(), bytes.end());
}

/// Acknowledgements take no time of the wire, as little as they are.
void LoopWire::answer(const RcQueuePair& from, const RcReply& reply, FabricTime now) {
  UnderWay sent;
  sent.at = std::max(now, free_at_) + latency_;
  sent.to = from.id.remote;
  sent.packet.bth.opcode = Opcode::kRcAcknowledge;
  sent.packet.bth.psn = reply.psn;
  sent.packet.extension = reply.aeth;
  under_way_.push_back(std::move(sent));
}

FabricTime LoopWire::next_event(FabricTime now) const {
  FabricTime at = under_way_.empty() ? FabricTime::never() : under_way_.front().at;
  if (free_at_ > now) at = std::min(at, free_at_);
  return at;
}

void LoopWire::deliver_due(RcQueuePairTable& queue_pairs, FabricTime now) {
  while (!under_way_.empty() && under_way_.front().at <= now) {
    UnderWay arrived = std::move(under_way_.front());
    under_way_.pop_front();
    arrived.packet.payload = arrived.payload;
    deliver(queue_pairs, arrived, now);
  }
}

void LoopWire::deliver(RcQueuePairTable& queue_pairs, const UnderWay& arrived, FabricTime now) {
  RcQueuePair* const qp = queue_pairs.find(arrived.to);
  if (qp == nullptr || !qp->id.looped || qp->requester.failed()) return;
  queue_pairs.touch(*qp);
  const MrcPacket& packet = arrived.packet;
  if (packet.bth.opcode == Opcode::kRcAcknowledge) {
    qp->requester.on_acknowledge(std::get<Aeth>(packet.extension), packet.bth.psn, now);
  } else if (is_rc_response(packet.bth.opcode)) {
    qp->requester.on_response(packet, now);
  } else {
    qp->note_request();
    std::optional<RcReply> reply;
    uint64_t placed = 0;
    qp->responder.on_request(packet, reply, placed);
    if (reply) answer(*qp, *reply, now);
  }
}

}  // namespace mrclab::endpoint
