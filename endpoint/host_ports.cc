// Ports that die and come back, ours and those of peers (MRC paper §3; specification §7.4.8).

#include <bit>
#include <utility>

#include "endpoint/host_device.h"
#include "fabric/path.h"
#include "fabric/path_list.h"

namespace mrclab::endpoint {

void HostNode::Impl::on_carrier(PortId port, bool up) {
  PortState& state = ports_[port.value];
  if (state.nic.carrier() == up) return;
  state.nic.set_carrier(up);
  ++state.notice_generation;
  const FabricTime delay = up ? topology_.nic.port_up_delay : topology_.nic.port_down_delay;
  if (delay == FabricTime::zero()) {
    on_port_notice(port);
    return;
  }
  push(now_ + delay, EventClass::kTimer, port.value,
       {EventKind::kPortNotice, port.value, state.notice_generation});
}

void HostNode::Impl::on_port_notice(PortId port) {
  NicPort& nic = ports_[port.value].nic;
  const bool avoid = !nic.carrier();
  if (nic.avoided() == avoid) return;  // it came back before it was noticed
  nic.set_avoided(avoid, now_);
  live_ports_ = avoid ? live_ports_ & ~(1u << port.value) : live_ports_ | 1u << port.value;
  if (work_ == HostWork::kDown) return;  // no NIC runs that could notice
  environment_.observer.event(
      {now_, avoid ? "port_avoided" : "port_restored", port, {}, {}, {}, {}, {}});
  device_->port_changed(port, !avoid);
  const FabricTime pause = remap_time(avoid ? topology_.nic.remap_down : topology_.nic.remap_up);
  for (uint32_t i = 0; i < peers_.size(); ++i) {
    on_live_ports(peers_[i], "local");
    hold(peers_[i], pause);
    if (!profile_.port_status || peers_[i].queue_pairs == 0) continue;
    peers_[i].status.announce(live_ports_, now_);
    on_peer_timer(i);
  }
}

/// A peer's live ports have changed from `before`: remap, as for our own.
void HostNode::Impl::on_remote_ports(Peer& peer, uint32_t before) {
  const bool fewer = (before & ~peer.status.remote_ports()) != 0;
  on_live_ports(peer, "remote");
  hold(peer, remap_time(fewer ? topology_.nic.remap_down : topology_.nic.remap_up));
}

uint32_t HostNode::Impl::lanes_toward(const Peer& peer) const {
  const LivePorts live = ports_toward(peer);
  const auto count = [](uint32_t ports) { return static_cast<uint32_t>(std::popcount(ports)); };
  if (topology_.regular()) return count(live.own & live.peer);
  return std::min(count(live.own), count(live.peer));
}

PeerPortOf HostNode::Impl::peer_port_toward(uint32_t host) const {
  if (topology_.regular()) return same_port;
  return [this, host](Path path) {
    const std::optional<Path> back = path_back(topology_, self_, host, path);
    return (back ? *back : path).plane;
  };
}

std::optional<Path> HostNode::Impl::path_from(const Peer& peer, Path path) const {
  return path_back(topology_, peer.host, self_, path);
}

std::optional<Path> HostNode::Impl::path_of_peer(const Peer& peer, const MrcPacket& packet,
                                                 uint32_t port) const {
  const std::optional<Path> path = path_of(paths_.from_wire(packet.entropy()));
  if (!path) return std::nullopt;
  const std::optional<Path> back = path_from(peer, *path);
  return back && back->plane == port ? path : std::nullopt;
}

void HostNode::Impl::on_live_ports(Peer& peer, std::string_view why) {
  peer.window->on_live_ports(lanes_toward(peer));
  for (QueuePair& qp : qps_) {
    if (&qp.peer != &peer) continue;
    const EvSet& evs = qp.requester.evs();
    const uint32_t before = evs.usable_ports();
    std::vector<bool> connected(evs.size());
    for (uint32_t i = 0; i < evs.size(); ++i) connected[i] = evs.connected(i);
    qp.requester.set_live_ports(ports_toward(peer), now_);
    touch(qp);
    const auto tell = [&](uint32_t port, std::optional<EntropyValue> ev, bool up) {
      EventRecord record{now_, "ev_state", PortId{port}, qp.id.local, ev, {}, {}, {}};
      record.cause = up ? "port_up" : "port_down";
      record.detail = why;
      environment_.observer.event(record);
    };
    const uint32_t usable = evs.usable_ports(), changed = before ^ usable;
    for (uint32_t p = 0; p < ports_.size(); ++p) {
      if ((changed & 1u << p) != 0) tell(p, {}, (usable & 1u << p) != 0);
    }
    // Also the values that do not follow their plane, because they lead to other ports of the peer.
    for (uint32_t i = 0; i < evs.size(); ++i) {
      const uint32_t plane = 1u << evs.plane(i);
      const bool told = (changed & plane) != 0 ? (usable & plane) != 0 : connected[i];
      if (told == evs.connected(i) || evs.state(i) == EvState::kDenied) continue;
      tell(evs.plane(i), evs.value(i), evs.connected(i));
    }
  }
}

/// Sends the pending port status to a peer, on several live planes, and again later.
void HostNode::Impl::on_peer_timer(uint32_t index) {
  Peer& peer = peers_[index];
  if (peer.status.due() > now_ || peer.queue_pairs == 0) return;
  Erth erth;
  erth.op = EndpointOp::kPortStatusUpdate;
  erth.port_status_mask = peer.status.mask();
  erth.tx_timestamp = tx_timestamp(now_);
  // Sent to ports on which the peer can hear it, as far as we know. Without an answer also to any
  // port: our knowledge may be wrong, as when both ends told of their ports at the same time.
  const bool again = peer.status.repeated();
  const uint32_t copies = again ? profile_.port_status_copies
                                : std::min(profile_.port_status_copies, lanes_toward(peer));
  for (uint32_t i = 0; i < copies; ++i) {
    const std::optional<EntropyValue> ev = again && i > 0
                                               ? peer.reverse.any({.own = live_ports_})
                                               : peer.reverse.choose(ports_toward(peer), now_);
    if (!ev) continue;
    queue_control(path_of(*ev)->plane,
                  maker_.control(Opcode::kEndpointRequest, Psn{peer.status.id()}, erth, *ev,
                                 {peer.host, kEndpointQpn}));
    ++stats_.port_status_sent;
  }
  peer.status.sent(now_, profile_.port_status_interval, profile_.port_status_interval_max);
  EventRecord record{now_, "port_status_sent", {}, {}, {}, {}, {}, {}};
  record.detail = "to " + topology_.node(topology_.host(peer.host)).name + " mask " +
                  std::to_string(peer.status.mask());
  environment_.observer.event(record);
  if (peer.status.due() != FabricTime::never()) {
    push(peer.status.due(), EventClass::kTimer, 0, {EventKind::kPeerTimer, index, 0});
  }
}

void HostNode::Impl::on_endpoint_request(const MrcPacket& packet, uint32_t port) {
  const std::optional<uint32_t> host = paths_.host_of(packet.inner.source);
  if (!host || peer_of_host_[*host] == kNobody) return refuse(Refusal::kWrongPeer);
  Peer& peer = peers_[peer_of_host_[*host]];
  const auto& erth = std::get<Erth>(packet.extension);
  const auto id = static_cast<uint16_t>(packet.bth.psn.value());
  if (erth.op == EndpointOp::kPortStatusUpdate) {
    if (peer.queue_pairs == 0) return refuse(Refusal::kWrongPeer);  // the peer will repeat it
    ++stats_.port_status_received;
    const uint32_t before = peer.status.remote_ports();
    if (peer.status.received(id, erth.port_status_mask, now_)) {
      EventRecord record{now_, "port_status_received", {}, {}, {}, {}, {}, {}};
      record.detail = "from " + topology_.node(topology_.host(*host)).name + " mask " +
                      std::to_string(erth.port_status_mask);
      environment_.observer.event(record);
      on_remote_ports(peer, before);
    }
  }
  // The answer goes back between the ports that the request came over: those work.
  std::optional<EntropyValue> ev;
  if (const std::optional<Path> path = path_of_peer(peer, packet, port)) {
    ev = peer.reverse.of_plane(port, {.peer = 1u << path->plane});
  }
  if (!ev) ev = peer.reverse.of_plane(port, {.peer = peer.status.remote_ports()});
  if (!ev) return;
  Eeth eeth;
  eeth.op = erth.op;
  eeth.tx_timestamp = erth.tx_timestamp;
  queue_control(port, maker_.control(Opcode::kEndpointResponse, packet.bth.psn, eeth, *ev,
                                     {*host, kEndpointQpn}));
}

void HostNode::Impl::on_endpoint_response(const MrcPacket& packet) {
  const std::optional<uint32_t> host = paths_.host_of(packet.inner.source);
  if (!host || peer_of_host_[*host] == kNobody) return refuse(Refusal::kWrongPeer);
  const auto id = static_cast<uint16_t>(packet.bth.psn.value());
  Peer& peer = peers_[peer_of_host_[*host]];
  if (std::get<Eeth>(packet.extension).op == EndpointOp::kPortStatusUpdate) {
    if (!peer.status.answered(id)) refuse(Refusal::kStaleFeedback);
  } else if (const auto rtt = peer.reverse.answered(id, now_)) {
    ++stats_.ev_probes_answered;
    stats_.ev_probe_rtt = *rtt;
  } else {
    refuse(Refusal::kStaleFeedback);
  }
}

}  // namespace mrclab::endpoint
