// Ports that die and come back, ours and those of peers (MRC paper §3; specification §7.4.8).

#include "endpoint/host/host_peers.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "endpoint/paths/ev_set.h"
#include "fabric/node/event_kind.h"
#include "fabric/paths/path_list.h"

namespace mrclab::endpoint {

HostPeers::HostPeers(HostShared& host, NicPorts& ports, QueuePairTable& queue_pairs, bool by_routes)
    : host_(host), ports_(ports), queue_pairs_(queue_pairs), by_routes_(by_routes) {}

void HostPeers::greet_peer(Peer& peer) {
  const bool heard_of_us = std::exchange(peer.met, true) || host_.events.lost_power_before();
  peer.status.begin_anew();
  peer.window->on_live_ports(lanes_toward(peer));
  if (!host_.profile.port_status || (ports_.live() == host_.all_ports && !heard_of_us)) return;
  peer.status.announce(ports_.live(), host_.now);
  host_.events.push(host_.now, EventClass::kTimer, 0,
                    {HostEventKind::kPeerTimer, peers_.index_of(peer), 0});
}

void HostPeers::on_own_ports(bool went_down) {
  const NicProfile& nic = host_.topology.nic;
  const FabricTime pause = remap_time(went_down ? nic.remap_down : nic.remap_up);
  for (uint32_t i = 0; i < peers_.size(); ++i) {
    Peer& peer = peers_[i];
    on_live_ports(peer, "local");
    hold(peer, pause);
    if (!host_.profile.port_status || peer.queue_pairs == 0) continue;
    peer.status.announce(ports_.live(), host_.now);
    on_peer_timer(i);
  }
}

/// A peer's ports are others than `before`: remap, as for our own.
void HostPeers::on_remote_ports(Peer& peer, uint32_t before) {
  const NicProfile& nic = host_.topology.nic;
  const bool fewer = (before & ~peer.status.remote_ports()) != 0;
  on_live_ports(peer, "remote");
  hold(peer, remap_time(fewer ? nic.remap_down : nic.remap_up));
}

void HostPeers::on_routes(uint32_t host, const std::vector<uint32_t>& weights) {
  Peer* const peer = peers_.find(host);
  if (peer == nullptr) return;
  peer->window->plane_turn().weights.set(weights);
  const uint32_t before = std::exchange(peer->routed, 0);
  for (uint32_t p = 0; p < weights.size(); ++p) peer->routed |= weights[p] > 0 ? 1u << p : 0;
  if (peer->routed != before) on_live_ports(*peer, "route");
}

uint32_t HostPeers::lanes_toward(const Peer& peer) const {
  const LivePorts live = ports_back(peer);
  const auto count = [](uint32_t ports) { return static_cast<uint32_t>(std::popcount(ports)); };
  if (host_.topology.planes_apart) return count(live.own & live.peer);
  return std::min(count(live.own), count(live.peer));
}

void HostPeers::on_live_ports(Peer& peer, std::string_view why) {
  peer.window->on_live_ports(lanes_toward(peer));
  for (QueuePair& qp : queue_pairs_) {
    if (&qp.peer != &peer) continue;
    const EvSet& evs = qp.requester.evs();
    const uint32_t before = evs.usable_ports();
    std::vector<bool> connected(evs.size());
    for (uint32_t i = 0; i < evs.size(); ++i) connected[i] = evs.connected(i);
    qp.requester.set_live_ports(ports_toward(peer, qp.id.chosen != Chosen::kByName), host_.now);
    queue_pairs_.touch(qp);
    tell_changed_ports(qp, before, connected, why);
  }
}

void HostPeers::tell_changed_ports(const QueuePair& qp, uint32_t usable_before,
                                   const std::vector<bool>& connected_before,
                                   std::string_view why) {
  const EvSet& evs = qp.requester.evs();
  const auto tell = [&](uint32_t port, std::optional<EntropyValue> ev, bool up) {
    EventRecord record{host_.now, event_kind::kEvState, PortId{port}, qp.id.local, ev, {}, {}, {}};
    record.cause = up ? "port_up" : "port_down";
    record.detail = why;
    host_.report_event(record);
  };
  const uint32_t usable = evs.usable_ports(), changed = usable_before ^ usable;
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    if ((changed & 1u << p) != 0) tell(p, {}, (usable & 1u << p) != 0);
  }
  // And values that do not go with their plane, as they lead to other ports of the peer.
  for (uint32_t i = 0; i < evs.size(); ++i) {
    const uint32_t plane = 1u << evs.plane(i);
    const bool told = (changed & plane) != 0 ? (usable & plane) != 0 : connected_before[i];
    if (told == evs.connected(i) || evs.state(i) == EvState::kDenied) continue;
    tell(evs.plane(i), evs.value(i), evs.connected(i));
  }
}

/// Sends the pending port status to a peer, on several live planes, and again later.
void HostPeers::set_heedless(uint32_t host, bool heedless) {
  for (Peer& peer : peers_) {
    if (peer.host == host) peer.window->set_heedless(heedless);
  }
}

void HostPeers::on_peer_timer(uint32_t index) {
  Peer& peer = peers_[index];
  if (peer.status.due() > host_.now || peer.queue_pairs == 0) return;
  const TransportProfile& profile = host_.profile;
  Erth erth;
  erth.op = EndpointOp::kPortStatusUpdate;
  erth.port_status_mask = peer.status.mask();
  erth.tx_timestamp = tx_timestamp(host_.now);
  // Over the planes on which the peer is up, by its last report; and if no answer came, also over others: that
  // report may be outdated, as when both reported their ports at the same time.
  const bool again = peer.status.repeated();
  const uint32_t copies =
      again ? profile.port_status_copies : std::min(profile.port_status_copies, lanes_toward(peer));
  for (uint32_t i = 0; i < copies; ++i) {
    const std::optional<EntropyValue> ev = again && i > 0
                                               ? peer.reverse.any({.own = ports_.live()})
                                               : peer.reverse.choose(ports_back(peer), host_.now);
    if (!ev) continue;
    ports_.queue_control(path_of(*ev)->plane,
                         host_.maker.control(Opcode::kEndpointRequest, Psn{peer.status.id()}, erth,
                                             *ev, {peer.host, kEndpointQpn}));
    ++host_.stats.port_status_sent;
  }
  peer.status.sent(host_.now, profile.port_status_interval, profile.port_status_interval_max);
  EventRecord record{host_.now, event_kind::kPortStatusSent, {}, {}, {}, {}, {}, {}};
  record.detail =
      "to " + host_.name_of_host(peer.host) + " mask " + std::to_string(peer.status.mask());
  host_.report_event(record);
  if (peer.status.due() != FabricTime::never()) {
    host_.events.push(peer.status.due(), EventClass::kTimer, 0,
                      {HostEventKind::kPeerTimer, index, 0});
  }
}

void HostPeers::note_status_received(const Peer& peer, uint32_t mask, std::string_view cause) {
  EventRecord record{host_.now, event_kind::kPortStatusReceived, {}, {}, {}, {}, cause, {}};
  record.detail = "from " + host_.name_of_host(peer.host) + " mask " + std::to_string(mask);
  host_.report_event(record);
}

void HostPeers::on_endpoint_request(const MrcPacket& packet, uint32_t port) {
  const std::optional<uint32_t> host = host_.paths.host_of(packet.inner.source);
  Peer* const known = host ? peers_.find(*host) : nullptr;
  if (known == nullptr) return host_.refuse(Refusal::kWrongPeer);
  Peer& peer = *known;
  const auto& erth = std::get<Erth>(packet.extension);
  const auto id = static_cast<uint16_t>(packet.bth.psn.value());
  if (erth.op == EndpointOp::kPortStatusUpdate) {
    if (peer.queue_pairs == 0) {  // it will repeat it
      return host_.refuse(Refusal::kWrongPeer);
    }
    ++host_.stats.port_status_received;
    const uint32_t before = peer.status.remote_ports();
    if (peer.status.received(id, erth.port_status_mask, host_.now)) {
      note_status_received(peer, erth.port_status_mask, {});
      on_remote_ports(peer, before);
    }
  }
  // The answer goes back between the ports that the request came over: those work.
  std::optional<EntropyValue> ev;
  if (const auto heard = path_of_packet(peer, packet, port)) {
    ev = peer.reverse.of_plane(port, {.peer = 1u << heard->theirs.plane});
  }
  if (!ev) ev = peer.reverse.of_plane(port, {.peer = peer.status.remote_ports()});
  if (!ev) return;
  Eeth eeth;
  eeth.op = erth.op;
  eeth.tx_timestamp = erth.tx_timestamp;
  ports_.queue_control(port, host_.maker.control(Opcode::kEndpointResponse, packet.bth.psn, eeth,
                                                 *ev, {*host, kEndpointQpn}));
}

bool HostPeers::on_endpoint_response(const MrcPacket& packet) {
  const std::optional<uint32_t> host = host_.paths.host_of(packet.inner.source);
  Peer* const peer = host ? peers_.find(*host) : nullptr;
  if (peer == nullptr) {
    host_.refuse(Refusal::kWrongPeer);
    return true;
  }
  const auto id = static_cast<uint16_t>(packet.bth.psn.value());
  if (std::get<Eeth>(packet.extension).op == EndpointOp::kPortStatusUpdate) {
    if (!peer->status.answered(id)) host_.refuse(Refusal::kStaleFeedback);
  } else if (const auto rtt = peer->reverse.answered(id, host_.now)) {
    ++host_.stats.ev_probes_answered;
    host_.stats.ev_probe_rtt = *rtt;
  } else {
    return false;
  }
  return true;
}

/// ALWAYS_SKIP: the specification leaves its use to implementations; ours is a packet that still got
/// through a port which is down for the NIC.
void HostPeers::put_port_state(uint32_t in_port, Seth& seth) const {
  if (host_.profile.sack_port_mask) {
    seth.port_mask = static_cast<uint8_t>(ports_.live() & PortStatus::kSackMask);
  }
  if (!seth.probe_response && !ports_.is_live(in_port)) seth.mark = SackMark::kAlwaysSkip;
}

}  // namespace mrclab::endpoint
