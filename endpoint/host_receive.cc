// Packets that arrive: wire, NIC checks, queue pair. A packet that is refused anywhere is counted
// under its own reason and changes nothing.

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "endpoint/host_impl.h"
#include "endpoint/sequence.h"
#include "fabric/path.h"
#include "fabric/path_list.h"

namespace mrclab::endpoint {
namespace {

/// The drop cause in the packet history for a refusal by the NIC; protocol-level refusals have one
/// only if they ask for the packet again.
DropCause drop_cause(Refusal refusal) {
  switch (refusal) {
    case Refusal::kMalformed:
    case Refusal::kBadTrim: return DropCause::kMalformed;
    case Refusal::kBadIcrc: return DropCause::kBadIcrc;
    case Refusal::kNotMrc:
    case Refusal::kWrongCarrier:
    case Refusal::kCarrierNotEmpty:
    case Refusal::kWrongAddress:
    case Refusal::kUnknownQp:
    case Refusal::kWrongPeer: return DropCause::kNoReceiver;
    case Refusal::kNoPacketBuffer: return DropCause::kReceiveBufferFull;
    case Refusal::kNoBitmap: return DropCause::kNoBitmap;
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

/// A SACK or NACK with the value of ours that it reflects; on IPv4 only half of the value comes
/// back.
template <class Header>
Header as_ours(Header header, const QueuePair& qp, const PathMapper& paths) {
  const bool half = qp.id.chosen == Chosen::kByHashIpv4 && header.entropy.value <= 0xFFFF;
  header.entropy = half ? hashed_ev_ipv4(static_cast<uint16_t>(header.entropy.value))
                        : paths.from_wire(header.entropy);
  return header;
}

}  // namespace

void HostNode::Impl::refuse(Refusal refusal) { ++stats_.refused[static_cast<size_t>(refusal)]; }

void HostNode::Impl::on_arrival(uint32_t port, Arrival arrival) {
  const auto record = [&](FabricTime t, PacketEvent event, DropCause cause) {
    environment_.observer.packet(
        {t, PortId{port}, Direction::kIngress, event, cause, QueueClass::kNone, arrival.frame});
  };
  // A late arrival is processed as if it had come in just in time.
  const FabricTime arrived = std::max(arrival.arrival, now_ - latency_);
  DropCause lost = arrival.lost;
  // A frame check needs a frame; a dark wire delivers none.
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
  shares_.count_frame(arrival.frame.wire_length());
  waited_ = std::max(now_ - arrival.arrival - latency_, FabricTime::zero());
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
  if (carried && !paths_.ends_here(packet.outer.destination)) return Refusal::kCarrierNotEmpty;
  if (!ours) return Refusal::kWrongAddress;
  // A trimmed packet is one by its lengths; its DSCP is chosen by the operator of the switches, and
  // may be one that we do not know. A whole packet whose DSCP says trimmed was sent by no
  // requester.
  const bool says_trimmed = profile_.dscps.is_trimmed(packet.outer.dscp());
  return says_trimmed && !packet.trimmed ? Refusal::kBadTrim : Refusal::kCount;
}

/// A switch flipped bits of a frame without payload (Frame::damage). With payload, every check
/// before the ICRC would say what it says of these headers, and the ICRC would fail.
Refusal HostNode::Impl::deliver_damaged(uint32_t port, const Frame& frame) {
  std::array<uint8_t, kFrameCapacity> whole{};
  std::copy(frame.bytes().begin(), frame.bytes().end(), whole.begin());
  const size_t size = std::min<size_t>(frame.modelled_size().value, whole.size());
  MrcPacket packet;
  const Refusal refusal = check_packet(port, std::span(whole).first(size), packet);
  if (refusal != Refusal::kCount) return refusal;
  // A trimmed packet has no ICRC.
  return packet.trimmed ? deliver_checked(port, packet) : Refusal::kBadIcrc;
}

Refusal HostNode::Impl::deliver(uint32_t port, const Frame& frame) {
  if (frame.damage() != 0) return deliver_damaged(port, frame);
  MrcPacket packet;
  const Refusal wrong = check_packet(port, frame.bytes(), packet);
  if (packet.cut && !is_elided(frame, packet)) return Refusal::kMalformed;
  if (wrong != Refusal::kCount) return wrong;
  if (!packet.trimmed && !packet.cut && profile_.icrc && !icrc_ok(frame.bytes()))
    return Refusal::kBadIcrc;
  return deliver_checked(port, packet);
}

/// Delivers a packet that has passed all checks below the transport.
Refusal HostNode::Impl::deliver_checked(uint32_t port, const MrcPacket& packet) {
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
      send_control(qp, Opcode::kNack, nack.psn, nack, port);
    } else if (packet.bth.opcode == Opcode::kProbeRequest) {
      Replies replies;
      qp.responder.on_probe_of_failed(replies);
      send_replies(qp, replies, port);
    }
    return Refusal::kQpInError;
  }
  touch(qp);
  switch (packet.bth.opcode) {
    case Opcode::kSack:
      ++stats_.sacks_received;
      return deliver_sack(as_ours(std::get<Seth>(packet.extension), qp, paths_), qp);
    case Opcode::kNack:
      return qp.requester.on_nack(as_ours(std::get<Neth>(packet.extension), qp, paths_), now_);
    case Opcode::kAcknowledge:
      return qp.requester.on_ack(std::get<Aeth>(packet.extension), packet.bth.psn, now_);
    case Opcode::kProbeRequest: {
      Replies replies;
      qp.responder.on_probe(packet, replies);
      send_replies(qp, replies, port);
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
  if (packet.outer.ecn() == kEcnCe) ++stats_.ce_marks_seen;
  shares_.arrived(qp.peer.host, Bytes{packet.payload_length} + kPacketOverhead,
                  static_cast<uint32_t>(std::popcount(live_ports_)), now_);
  Replies replies;
  uint64_t placed = 0;
  received_.buffer.advance(now_);
  const Refusal refusal = qp.responder.on_write(packet, replies, placed);
  if (refusal == Refusal::kCount && qp.responder.waits_for_memory()) {
    memory_waiters_.push({received_.buffer.taken(), qp.id.local, port});
  }
  const std::optional<Path> path = path_of_peer(qp.peer, packet, port);
  const std::optional<Path> back = path ? path_from(qp.peer, *path) : std::nullopt;
  add_service_time(qp, packet, replies);
  on_data_heard(qp.peer, back ? std::optional(ev_of(*back)) : std::nullopt, port);
  stats_.planes[port].rx_payload_bytes += placed;
  send_replies(qp, replies, port);
  return refusal;
}

/// Messages have reached memory: tells of their ends.
void HostNode::Impl::on_memory() {
  if (now_ >= memory_timer_) memory_timer_ = FabricTime::never();
  received_.buffer.advance(now_);
  const Bytes in_memory = received_.buffer.in_memory();
  while (!memory_waiters_.empty() && memory_waiters_.front().taken <= in_memory) {
    const InMemoryWaiter waiter = memory_waiters_.pop();
    const auto found = qp_of_qpn_.find(waiter.qp.value);
    if (found == qp_of_qpn_.end()) continue;
    QueuePair& qp = qps_[found->second];
    Replies replies;
    qp.responder.on_memory(replies);
    send_replies(qp, replies, waiter.port);
    touch(qp);
  }
}

/// One event stands in the queue, as for queue pairs: what comes later is found out when it comes.
void HostNode::Impl::set_memory_timer() {
  if (memory_waiters_.empty()) return;
  const FabricTime at =
      std::max(received_.buffer.in_memory_at(memory_waiters_.front().taken), now_);
  if (at == FabricTime::never() || at >= memory_timer_) return;
  memory_timer_ = at;
  push(at, EventClass::kTimer, 0, {EventKind::kInMemory, 0, 0});
}

/// SVC_TIME, if it was agreed on: the timestamp that a SACK reflects is later by the time that the packet
/// waited for us, in the packet's own unit. (The specification has the service time subtracted and no
/// field for it that is public: our choice.) No packet of a faithful run waits.
void HostNode::Impl::add_service_time(const QueuePair& qp, const MrcPacket& packet,
                                      Replies& replies) const {
  if (!replies.sack || !qp.responder.gives_service_time()) return;
  const auto& write = std::get<WriteHeaders>(packet.extension);
  if (!write.tseth) return;
  const FabricTime unit =
      write.tseth->one_microsecond_units ? FabricTime::from_us(1) : kTimestampUnit;
  replies.sack->tx_timestamp += static_cast<uint16_t>(waited_.ps() / unit.ps());
}

/// `port`: where the packet that is answered came in.
void HostNode::Impl::send_replies(QueuePair& qp, const Replies& replies, uint32_t port) {
  if (replies.sack) {
    ++stats_.sacks_sent;
    send_control(qp, Opcode::kSack, replies.sack->cumulative, *replies.sack, port);
  }
  if (replies.nack) send_control(qp, Opcode::kNack, replies.nack->psn, *replies.nack, port);
  if (replies.ack) send_control(qp, Opcode::kAcknowledge, replies.ack_psn, *replies.ack, port);
  if (replies.nak) send_control(qp, Opcode::kAcknowledge, replies.nak_psn, *replies.nak, port);
  if (!replies.failure.empty()) qp.requester.fail(replies.failure);
}

}  // namespace mrclab::endpoint
