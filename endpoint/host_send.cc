// What leaves: control packets first, then data for every port that is free.

#include <algorithm>
#include <bit>
#include <utility>

#include "endpoint/host_impl.h"
#include "fabric/path.h"

namespace mrclab::endpoint {

void HostNode::Impl::pump(FrameSink& out) {
  pump_control(out);
  pump_data(out);
}

void HostNode::Impl::pump_control(FrameSink& out) {
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    NicPort& nic = ports_[p].nic;
    if (nic.has_copy() && nic.can_start()) started(p, nic.start_copy(now_, out));
    if (nic.has_control() && nic.can_start()) started(p, nic.start_control(now_, out));
  }
}

uint32_t HostNode::Impl::startable_ports() const {
  uint32_t ports = 0;
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    if (ports_[p].nic.can_start()) ports |= 1u << p;
  }
  return ports;
}

void HostNode::Impl::pump_data(FrameSink& out) {
  // Every packet takes a port, so this ends after at most as many rounds as there are ports.
  for (uint32_t ports = startable_ports(); ports != 0; ports = startable_ports()) {
    if (!send_one_data_packet(ports, out)) break;
  }
  std::erase_if(bursts_, [](const Burst& burst) { return burst.done(); });
  next_qp_ = std::min(next_qp_, qps_.places() + static_cast<uint32_t>(bursts_.size()));
}

/// Round robin over the queue pairs, and over bursts, each of which counts as one more. False if
/// nothing could be sent.
bool HostNode::Impl::send_one_data_packet(uint32_t ports, FrameSink& out) {
  const uint32_t places = qps_.places();
  const auto count = places + static_cast<uint32_t>(bursts_.size());
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t index = next_qp_ + i < count ? next_qp_ + i : next_qp_ + i - count;
    if (index < places && !qps_.contains(index)) continue;
    bool sent = false;
    const bool had_one = index < places ? send_of_queue_pair(qps_[index], ports, out, sent)
                                        : send_datagram(bursts_[index - places], ports, out, sent);
    if (!had_one) continue;
    next_qp_ = index + 1 == count ? 0 : index + 1;
    return sent;
  }
  return false;
}

/// False if the queue pair has no packet for these ports. `sent` remains false if there was no
/// buffer for it.
bool HostNode::Impl::send_of_queue_pair(QueuePair& qp, uint32_t ports, FrameSink& out, bool& sent) {
  if (now_ < qp.peer.held_until) return false;
  const std::optional<DataPacket> packet = qp.requester.next_packet(ports, now_);
  if (!packet) {
    if (qp.peer.window->is_paced()) touch(qp);  // its timer may have to be set
    return false;
  }
  touch(qp);
  qp.peer.reverse.data_sent(now_);
  Frame frame = maker_.data(*packet, {qp.peer.host, qp.id.remote}, now_);
  if (!frame) {
    // It counts as sent and will be found lost; the port stays free for the next event.
    ++stats_.no_buffer;
    return true;
  }
  stats_.planes[packet->port].tx_payload_bytes += packet->payload.size();
  NicPort& nic = ports_[packet->port].nic;
  started(packet->port, nic.start(std::move(frame), QueueClass::kData, now_, out));
  return sent = true;
}

/// The same for a burst, which is over with its last datagram.
bool HostNode::Impl::send_datagram(Burst& burst, uint32_t ports, FrameSink& out, bool& sent) {
  const std::optional<Burst::Datagram> next = burst.next(ports & live_ports_);
  if (!next) return false;
  Frame frame = maker_.datagram(next->ev, burst.host(), next->payload, payload_elided_);
  if (!frame) {
    ++stats_.no_buffer;
    return true;
  }
  ++stats_.datagrams_sent;
  NicPort& nic = ports_[next->port].nic;
  started(next->port, nic.start(std::move(frame), QueueClass::kData, now_, out));
  return sent = true;
}

void HostNode::Impl::started(uint32_t port, FabricTime end) {
  ++stats_.planes[port].tx_packets;
  push(end, EventClass::kTransmitComplete, port, {EventKind::kPortFree, port, 0});
}

void HostNode::Impl::queue_control(uint32_t port, Frame frame) {
  if (!frame || !ports_[port].nic.queue_control(std::move(frame))) ++stats_.no_buffer;
}

/// `in_port`: where the packet that is answered came in.
void HostNode::Impl::send_control(QueuePair& qp, Opcode opcode, Psn psn, const Extension& extension,
                                  uint32_t in_port) {
  const std::optional<EntropyValue> ev = qp.peer.reverse.choose(ports_toward(qp.peer), now_);
  if (!ev) return;  // no port: the peer will ask again
  Extension told = extension;
  if (auto* seth = std::get_if<Seth>(&told)) {
    put_port_state(in_port, *seth);
    put_penalty(qp.peer, *seth);
  }
  Frame frame = maker_.control(opcode, psn, told, *ev, {qp.peer.host, qp.id.remote});
  queue_control(path_of(*ev)->plane, std::move(frame));
}

/// The penalty that a SACK asks of its sender: for even shares, and for the receive buffer.
void HostNode::Impl::put_penalty(const Peer& peer, Seth& seth) {
  received_.buffer.advance(now_);
  const uint8_t of_share = profile_.receive_shares ? shares_.penalty(peer.host) : 0;
  seth.receiver_penalty = received_.buffer.penalty(of_share);
  seth.restore_cwnd = seth.receiver_penalty > 0 && received_.buffer.asks_to_restore();
}

/// What a SACK says about our ports. ALWAYS_SKIP: the specification leaves its use to implementations;
/// ours is a packet that still got through a port which is down for the NIC.
void HostNode::Impl::put_port_state(uint32_t in_port, Seth& seth) const {
  if (profile_.sack_port_mask) {
    seth.port_mask = static_cast<uint8_t>(live_ports_ & PortStatus::kSackMask);
  }
  if (!seth.probe_response && (live_ports_ & 1u << in_port) == 0) {
    seth.mark = SackMark::kAlwaysSkip;
  }
}

void HostNode::Impl::send_probes(QueuePair& qp) {
  // At most the tail probe and one per bad entropy value are due at once.
  for (size_t i = 0; i <= qp.requester.evs().size(); ++i) {
    const std::optional<ProbePacket> probe = qp.requester.next_probe(now_);
    if (!probe) return;
    if ((live_ports_ & 1u << probe->port) == 0) continue;
    Peth peth;
    peth.probe_id = probe->id;
    peth.tx_timestamp = tx_timestamp(now_);
    queue_control(probe->port, maker_.control(Opcode::kProbeRequest, Psn{}, peth, probe->ev,
                                              {qp.peer.host, qp.id.remote}));
    ++stats_.probes_sent;
  }
}

}  // namespace mrclab::endpoint
