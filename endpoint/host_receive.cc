// What arrives: wire, NIC checks, queue pair. A packet that is refused anywhere is counted under
// its own reason and changes nothing.

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "endpoint/host_impl.h"
#include "fabric/path.h"
#include "fabric/path_list.h"

namespace mrclab::endpoint {
namespace {

/// What a refusal by the NIC is called in the packet history; protocol-level ones are none of it.
DropCause drop_cause(Refusal refusal) {
  switch (refusal) {
    case Refusal::kMalformed:
    case Refusal::kBadTrim: return DropCause::kMalformed;
    case Refusal::kBadIcrc: return DropCause::kBadIcrc;
    case Refusal::kNotMrc:
    case Refusal::kWrongCarrier:
    case Refusal::kWrongAddress:
    case Refusal::kUnknownQp:
    case Refusal::kWrongPeer: return DropCause::kNoReceiver;
    default: return DropCause::kNone;
  }
}

Refusal refusal_of(ParseError error) {
  switch (error) {
    case ParseError::kNotIpv6:
    case ParseError::kNotIpInIp:
    case ParseError::kNotUdp:
    case ParseError::kNotMrcPort: return Refusal::kOtherTraffic;
    default: return Refusal::kMalformed;
  }
}

/// A data packet without its payload: the headers end where the frame does, and their lengths are
/// those of the modelled frame. (A frame that was cut short anywhere else is malformed.)
bool is_elided(const Frame& frame, const MrcPacket& packet) {
  return is_write(packet.bth.opcode) && packet.payload.empty() &&
         frame.modelled_size().value ==
             layout_of(packet.encapsulation).udp + packet.inner.payload_length;
}

/// A SACK or NACK with the whole EV that it reflects half of, if ours are of IPv4.
template <class Header>
Header whole(Header header, const QueuePair& qp) {
  const bool half = qp.id.chosen == Chosen::kByHashIpv4 && header.entropy.value <= 0xFFFF;
  if (half) header.entropy = hashed_ev_ipv4(static_cast<uint16_t>(header.entropy.value));
  return header;
}

}  // namespace

void HostNode::Impl::refuse(Refusal refusal) { ++stats_.refused[static_cast<size_t>(refusal)]; }

void HostNode::Impl::on_arrival(uint32_t port, Arrival arrival) {
  const auto record = [&](FabricTime t, PacketEvent event, DropCause cause) {
    environment_.observer.packet(
        {t, PortId{port}, Direction::kIngress, event, cause, QueueClass::kNone, arrival.frame});
  };
  // A late arrival is taken as if it had come in just in time.
  const FabricTime arrived = std::max(arrival.arrival, now_ - latency_);
  DropCause lost = arrival.lost;
  // A frame check needs a frame: of a dark wire there is none.
  if ((lost == DropCause::kNone || lost == DropCause::kFrameCheck) &&
      ports_[port].nic.in.cut(arrival.start, arrival.arrival)) {
    lost = DropCause::kWireDown;
  }
  if (lost != DropCause::kNone) {
    record(arrived, PacketEvent::kDropped, lost);
    return;
  }
  record(arrived, PacketEvent::kPassed, DropCause::kNone);
  if (work_ == HostWork::kDown || arrived < power_lost_) {
    record(now_, PacketEvent::kDropped, DropCause::kHostDown);
    return;
  }
  if (!arrival.frame) return refuse(Refusal::kMalformed);
  ++stats_.planes[port].rx_packets;
  const Refusal refusal = deliver(port, arrival.frame);
  if (refusal == Refusal::kCount) return;
  refuse(refusal);
  const DropCause cause = drop_cause(refusal);
  if (cause != DropCause::kNone) record(now_, PacketEvent::kDropped, cause);
}

/// Everything that the NIC looks at before the ICRC. kCount: nothing wrong.
Refusal HostNode::Impl::check_packet(uint32_t port, std::span<const uint8_t> frame,
                                     MrcPacket& packet) const {
  const ParseError error = parse_mrc_frame(frame, packet, {.allow_cut = payload_elided_});
  const bool carried = packet.encapsulation == Encapsulation::kSrv6;
  const bool accepted = !carried || paths_.accepts(port, packet.outer.destination);
  const bool ours =
      packet.inner.destination ==
      (packet.encapsulation == Encapsulation::kIpv4 ? host_address_ipv4(self_) : address_);
  if (error == ParseError::kNotMrcPort && (carried ? accepted : ours)) return Refusal::kNotMrc;
  if (error != ParseError::kNone) return refusal_of(error);
  if (!accepted) return Refusal::kWrongCarrier;
  if (!ours) return Refusal::kWrongAddress;
  // Trimmed bytes and trimmed DSCP go together; a trimmed packet has no ICRC to check.
  const uint8_t dscp = packet.outer.dscp();
  const bool says_trimmed = dscp == kDscpTrimmed || dscp == kDscpTrimmedLastHop;
  return packet.trimmed == says_trimmed ? Refusal::kCount : Refusal::kBadTrim;
}

/// A switch flipped bits of a frame without payload (Frame::damage): with its payload, every check
/// before the ICRC would say what it says of these headers, and the ICRC that something is wrong.
Refusal HostNode::Impl::deliver_damaged(uint32_t port, const Frame& frame) {
  std::array<uint8_t, kFrameCapacity> whole{};
  std::copy(frame.bytes().begin(), frame.bytes().end(), whole.begin());
  const size_t size = std::min<size_t>(frame.modelled_size().value, whole.size());
  MrcPacket packet;
  const Refusal refusal = check_packet(port, std::span(whole).first(size), packet);
  return refusal == Refusal::kCount ? Refusal::kBadIcrc : refusal;
}

Refusal HostNode::Impl::deliver(uint32_t port, const Frame& frame) {
  if (frame.damage() != 0) return deliver_damaged(port, frame);
  MrcPacket packet;
  const Refusal wrong = check_packet(port, frame.bytes(), packet);
  if (packet.cut && !is_elided(frame, packet)) return Refusal::kMalformed;
  if (wrong != Refusal::kCount) return wrong;
  if (!packet.trimmed && !packet.cut && profile_.icrc && !icrc_ok(frame.bytes()))
    return Refusal::kBadIcrc;
  if (packet.bth.destination_qp != kEndpointQpn) return deliver_to_qp(port, packet);
  if (std::holds_alternative<Erth>(packet.extension)) {
    on_endpoint_request(packet, port);
  } else if (std::holds_alternative<Eeth>(packet.extension)) {
    on_endpoint_response(packet);
  } else {
    return Refusal::kUnexpectedOpcode;
  }
  return Refusal::kCount;
}

Refusal HostNode::Impl::deliver_to_qp(uint32_t port, const MrcPacket& packet) {
  const auto found = qp_of_qpn_.find(packet.bth.destination_qp.value);
  if (found == qp_of_qpn_.end()) return Refusal::kUnknownQp;
  QueuePair& qp = qps_[found->second];
  if (packet.inner.source != paths_.address_in(packet.encapsulation, qp.peer.host)) {
    return Refusal::kWrongPeer;
  }
  if (qp.requester.failed()) {
    if (is_write(packet.bth.opcode)) {
      const Neth nack = qp.responder.answer_of_failed(packet);
      send_control(qp, Opcode::kNack, nack.psn, nack);
    } else if (packet.bth.opcode == Opcode::kProbeRequest) {
      Replies replies;
      qp.responder.on_probe_of_failed(replies);
      send_replies(qp, replies);
    }
    return Refusal::kQpInError;
  }
  touch(qp);
  switch (packet.bth.opcode) {
    case Opcode::kSack:
      ++stats_.sacks_received;
      return deliver_sack(whole(std::get<Seth>(packet.extension), qp), qp);
    case Opcode::kNack:
      return qp.requester.on_nack(whole(std::get<Neth>(packet.extension), qp), now_);
    case Opcode::kAcknowledge:
      return qp.requester.on_ack(std::get<Aeth>(packet.extension), packet.bth.psn, now_);
    case Opcode::kProbeRequest: {
      Replies replies;
      qp.responder.on_probe(packet, replies);
      send_replies(qp, replies);
      return Refusal::kCount;
    }
    case Opcode::kEndpointRequest:
    case Opcode::kEndpointResponse: return Refusal::kUnexpectedOpcode;
    default: return deliver_write(port, packet, qp);
  }
}

Refusal HostNode::Impl::deliver_sack(const Seth& seth, QueuePair& qp) {
  const Refusal refusal = qp.requester.on_sack(seth, now_);
  if (refusal == Refusal::kCount) on_sack_news(qp.peer, seth);
  return refusal;
}

Refusal HostNode::Impl::deliver_write(uint32_t port, const MrcPacket& packet, QueuePair& qp) {
  const std::optional<Path> path = path_of(packet.entropy());
  if (!path) return Refusal::kUnknownEv;
  const std::optional<Path> back = path_from(qp.peer, *path);
  if ((back ? *back : *path).plane != port) return Refusal::kUnknownEv;
  if (packet.outer.ecn() == kEcnCe) ++stats_.ce_marks_seen;
  shares_.arrived(qp.peer.host, Bytes{packet.payload_length} + kPacketOverhead,
                  static_cast<uint32_t>(std::popcount(live_ports_)), now_);
  Replies replies;
  uint64_t placed = 0;
  const Refusal refusal = qp.responder.on_write(packet, replies, placed);
  if (back) on_data_heard(qp.peer, ev_of(*back), port);
  stats_.planes[port].rx_payload_bytes += placed;
  send_replies(qp, replies);
  return refusal;
}

void HostNode::Impl::send_replies(QueuePair& qp, const Replies& replies) {
  if (replies.sack) {
    ++stats_.sacks_sent;
    send_control(qp, Opcode::kSack, replies.sack->cumulative, *replies.sack);
  }
  if (replies.nack) send_control(qp, Opcode::kNack, replies.nack->psn, *replies.nack);
  if (replies.ack) send_control(qp, Opcode::kAcknowledge, replies.ack_psn, *replies.ack);
  if (replies.nak) send_control(qp, Opcode::kAcknowledge, replies.nak_psn, *replies.nak);
  if (!replies.failure.empty()) qp.requester.fail(replies.failure);
}

}  // namespace mrclab::endpoint
