// What arrives: wire, NIC checks, queue pair; and what is sent in answer. A packet that is refused anywhere
// is counted under its own reason and changes nothing.

#include <algorithm>
#include <array>
#include <utility>

#include "endpoint/base/packet_overhead.h"
#include "endpoint/base/sequence.h"
#include "endpoint/host/host_device.h"
#include "fabric/packet/pause_frame.h"
#include "fabric/paths/path_list.h"
#include "fabric/topology/path.h"

namespace mrclab::endpoint {
namespace {

/// A SACK or NACK with the value of ours that it reflects: of IPv4 that comes back as a half.
template <class Header>
Header as_ours(Header header, const QueuePair& qp, const PathMapper& paths) {
  const bool half = qp.id.chosen == Chosen::kByHashIpv4 && header.entropy.value <= 0xFFFF;
  header.entropy = half ? hashed_ev_ipv4(static_cast<uint16_t>(header.entropy.value))
                        : paths.from_wire(header.entropy);
  return header;
}

}  // namespace

void HostImpl::on_arrival(uint32_t port, Arrival arrival) {
  const auto record = [&](FabricTime t, PacketEvent event, DropCause cause) {
    host_.environment.observer.packet(
        {t, PortId{port}, Direction::kIngress, event, cause, QueueClass::kNone, arrival.frame});
  };
  // A late arrival is taken as if it had come in just in time.
  const FabricTime arrived = std::max(arrival.arrival, host_.now - host_.topology.host_latency);
  DropCause lost = arrival.lost;
  // A frame check needs a frame: of a dark wire there is none.
  if ((lost == DropCause::kNone || lost == DropCause::kFrameCheck) &&
      ports_.at(port).in.cut(arrival.start, arrival.arrival)) {
    lost = DropCause::kWireDown;
  }
  if (lost != DropCause::kNone) {
    record(arrived, PacketEvent::kDropped, lost);
    return;
  }
  const bool pauses =
      host_.topology.lossless.pfc && arrival.frame && is_mac_control(arrival.frame.bytes());
  host_.environment.observer.packet(
      {arrived, PortId{port}, Direction::kIngress, PacketEvent::kPassed, DropCause::kNone,
       pauses ? QueueClass::kPause : QueueClass::kNone, arrival.frame});
  if (work_ == HostWork::kDown || arrived < power_lost_) {
    record(host_.now, PacketEvent::kDropped, DropCause::kHostDown);
    return;
  }
  if (!arrival.frame) return host_.refuse(Refusal::kMalformed);
  ++host_.stats.planes[port].rx_packets;
  if (pauses) {
    if (!ports_.take_pause(port, arrival.frame)) host_.refuse(Refusal::kMalformed);
    return;
  }
  if (routes_ && routes_->receive(PortId{port}, arrival.frame.bytes(), host_.now)) {
    return plan_routes(host_.now);
  }
  if (mapper_ && take_probe(port, arrival.frame)) return;
  if (neighbours_ && is_lldp(arrival.frame.bytes())) return take_neighbour(port, arrival.frame);
  if (mapper_ && host_.topology.denylist.on && take_message(port, arrival.frame)) return;
  receiving_.count_frame(arrival.frame.wire_length());
  waited_ = std::max(host_.now - arrival.arrival - host_.topology.host_latency, FabricTime::zero());
  Refusal refusal = checks_.examine(port, arrival.frame, packet_);
  if (refusal == Refusal::kNone) refusal = deliver(port, packet_);
  if (refusal == Refusal::kNone) return;
  host_.refuse(refusal);
  const DropCause cause = drop_cause_of(refusal);
  if (cause != DropCause::kNone) record(host_.now, PacketEvent::kDropped, cause);
}

/// A packet that all checks below the transport have passed.
Refusal HostImpl::deliver(uint32_t port, const MrcPacket& packet) {
  if (is_rc(packet.bth.opcode)) return roce_.deliver(port, packet);
  if (packet.bth.destination_qp != kEndpointQpn) return deliver_to_qp(port, packet);
  if (std::holds_alternative<Erth>(packet.extension)) {
    peers_.on_endpoint_request(packet, port);
  } else if (std::holds_alternative<Eeth>(packet.extension)) {
    if (!peers_.on_endpoint_response(packet) &&
        !(device_ != nullptr &&
          device_->probe_answered(static_cast<uint16_t>(packet.bth.psn.value())))) {
      host_.refuse(Refusal::kStaleFeedback);
    }
  } else {
    return Refusal::kUnexpectedOpcode;
  }
  return Refusal::kNone;
}

Refusal HostImpl::deliver_to_qp(uint32_t port, const MrcPacket& packet) {
  QueuePair* const found = queue_pairs_.find(packet.bth.destination_qp);
  if (found == nullptr) return Refusal::kUnknownQp;
  QueuePair& qp = *found;
  const Ipv6Address peer = host_.paths.address_in(packet.encapsulation, qp.peer.host);
  if (!same_address(packet.inner.source, peer)) return Refusal::kWrongPeer;
  if (qp.requester.failed()) {
    if (is_write(packet.bth.opcode)) {
      const Neth nack = qp.responder.answer_of_failed(packet);
      send_control(qp, Opcode::kNack, nack.psn, nack);
    } else if (packet.bth.opcode == Opcode::kProbeRequest) {
      Replies replies;
      qp.responder.on_probe_of_failed(replies);
      send_replies(qp, replies, port);
    }
    return Refusal::kQpInError;
  }
  // A packet that comes in moves no timer of a queue pair that sends.
  queue_pairs_.touch(
      qp, is_write(packet.bth.opcode) ? Touched::kTimerStays : Touched::kTimerMayBeSooner);
  switch (packet.bth.opcode) {
    case Opcode::kSack:
      ++host_.stats.sacks_received;
      return deliver_sack(as_ours(std::get<Seth>(packet.extension), qp, host_.paths), qp);
    case Opcode::kNack:
      return qp.requester.on_nack(as_ours(std::get<Neth>(packet.extension), qp, host_.paths),
                                  host_.now);
    case Opcode::kAcknowledge:
      return qp.requester.on_ack(std::get<Aeth>(packet.extension), packet.bth.psn, host_.now);
    case Opcode::kProbeRequest: {
      Replies replies;
      qp.responder.on_probe(packet, replies);
      send_replies(qp, replies, port);
      return Refusal::kNone;
    }
    case Opcode::kEndpointRequest:
    case Opcode::kEndpointResponse: return Refusal::kUnexpectedOpcode;
    default: return deliver_write(port, packet, qp);
  }
}

Refusal HostImpl::deliver_sack(const Seth& seth, QueuePair& qp) {
  const Refusal refusal = qp.requester.on_sack(seth, host_.now);
  if (refusal == Refusal::kNone) peers_.on_sack_news(qp.peer, seth);
  return refusal;
}

Refusal HostImpl::deliver_write(uint32_t port, const MrcPacket& packet, QueuePair& qp) {
  if (packet.outer.ecn() == kEcnCe) ++host_.stats.ce_marks_seen;
  receiving_.count_write(qp.peer.host, Bytes{packet.payload_length}, ports_.live_count());
  if (qp.awaits_request) {
    qp.awaits_request = false;
    applications_.notify(qp, ApplicationNotice::Kind::kFirstRequest, {});
  }
  Replies replies;
  uint64_t placed = 0;
  receiving_.advance();
  const Refusal refusal = qp.responder.on_write(packet, replies, placed);
  if (refusal == Refusal::kNone && qp.responder.waits_for_memory()) {
    receiving_.wait_for_memory(qp.id.local, port);
  }
  add_service_time(qp, packet, replies);
  peers_.on_peer_data(qp.peer, packet, port);
  host_.stats.planes[port].rx_payload_bytes += placed;
  if (replies.any()) send_replies(qp, replies, port);
  return refusal;
}

/// Messages are in memory: their ends are reported now.
void HostImpl::on_memory() {
  receiving_.on_memory_timer();
  while (const std::optional<MemoryWaiter> waiter = receiving_.next_in_memory()) {
    QueuePair* const qp = queue_pairs_.find(waiter->qp);
    if (qp == nullptr) continue;
    Replies replies;
    qp->responder.on_memory(replies);
    send_replies(*qp, replies, waiter->port);
    queue_pairs_.touch(*qp);
  }
}

/// SVC_TIME, if it was agreed on: the timestamp that a SACK reflects is later by the time that the packet
/// waited for us, in the packet's own unit. (The specification has the service time subtracted and no
/// field for it that is public: our choice.) No packet of a faithful run waits.
void HostImpl::add_service_time(const QueuePair& qp, const MrcPacket& packet,
                                Replies& replies) const {
  if (!replies.sack || !qp.responder.gives_service_time()) return;
  const auto& write = std::get<WriteHeaders>(packet.extension);
  if (!write.tseth) return;
  const FabricTime unit =
      write.tseth->one_microsecond_units ? FabricTime::from_us(1) : kTimestampUnit;
  replies.sack->tx_timestamp += static_cast<uint16_t>(waited_.ps() / unit.ps());
}

/// `port`: where what is answered came in.
void HostImpl::send_replies(QueuePair& qp, const Replies& replies, uint32_t port) {
  if (replies.sack) {
    ++host_.stats.sacks_sent;
    send_sack(qp, *replies.sack, port);
  }
  if (replies.nack) send_control(qp, Opcode::kNack, replies.nack->psn, *replies.nack);
  if (replies.ack) send_control(qp, Opcode::kAcknowledge, replies.ack_psn, *replies.ack);
  if (replies.nak) send_control(qp, Opcode::kAcknowledge, replies.nak_psn, *replies.nak);
  if (!replies.failure.empty()) qp.requester.fail(replies.failure);
}

/// `in_port`: where what it answers came in.
void HostImpl::send_sack(QueuePair& qp, const Seth& seth, uint32_t in_port) {
  const std::optional<EntropyValue> ev =
      qp.peer.reverse.choose(peers_.ports_back(qp.peer), host_.now);
  if (!ev) return;  // no port: the peer will ask again
  Seth told = seth;
  peers_.put_port_state(in_port, told);
  receiving_.put_penalty(qp.peer.host, told);
  ports_.queue_control(path_of(*ev)->plane,
                       host_.maker.sack(told, *ev, {qp.peer.host, qp.id.remote}));
}

void HostImpl::send_control(QueuePair& qp, Opcode opcode, Psn psn, const Extension& extension) {
  const std::optional<EntropyValue> ev =
      qp.peer.reverse.choose(peers_.ports_back(qp.peer), host_.now);
  if (!ev) return;  // no port: the peer will ask again
  ports_.queue_control(path_of(*ev)->plane, host_.maker.control(opcode, psn, extension, *ev,
                                                                {qp.peer.host, qp.id.remote}));
}

void HostImpl::send_probes(QueuePair& qp) {
  // At most the tail probe and one per bad entropy value are due at once.
  for (size_t i = 0; i <= qp.requester.evs().size(); ++i) {
    const std::optional<ProbePacket> probe = qp.requester.next_probe(host_.now);
    if (!probe) return;
    if (!ports_.is_live(probe->port)) continue;
    Peth peth;
    peth.probe_id = probe->id;
    peth.tx_timestamp = tx_timestamp(host_.now);
    ports_.queue_control(probe->port, host_.maker.control(Opcode::kProbeRequest, Psn{}, peth,
                                                          probe->ev, {qp.peer.host, qp.id.remote}));
    ++host_.stats.probes_sent;
  }
}

}  // namespace mrclab::endpoint
