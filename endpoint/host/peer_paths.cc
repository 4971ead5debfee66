// The ways to peers and back from them: which there are, which carry data, what probes find, and the pause
// of a NIC that remaps.

#include <algorithm>

#include "endpoint/congestion/congestion_choice.h"
#include "endpoint/host/host_peers.h"
#include "endpoint/paths/ev_profile_values.h"
#include "fabric/base/random.h"
#include "fabric/node/event_kind.h"
#include "fabric/paths/ecmp.h"
#include "fabric/paths/path_list.h"

namespace mrclab::endpoint {

std::vector<EntropyValue> HostPeers::evs_toward(uint32_t host, Chosen chosen, Qpn qp) const {
  return values_between(host_.profile.ev_profile, host_.topology, host_.self, host,
                        host_.profile.ev_limit, host_.environment.seed, chosen, qp);
}

Peer& HostPeers::peer_for(uint32_t host, Chosen chosen) {
  if (Peer* const known = peers_.find(host)) return *known;
  const TransportProfile& profile = host_.profile;
  const Topology& topology = host_.topology;
  ReversePath::Config way_back;
  way_back.fresh = profile.base_rtt * 4;
  // A random probe comes to each plane about once in as many intervals as there are planes.
  way_back.confirmed = profile.reverse_probe_interval * 4 * topology.planes;
  way_back.probe_interval = profile.reverse_probe_interval;
  way_back.probe_timeout = profile.tail_probe;
  way_back.seed = host_.environment.seed;
  way_back.self = host_.environment.self;
  way_back.peer = host;
  Peer& peer = peers_.emplace(host, host_.all_ports,
                              ReversePath([this, host, chosen] { return evs_toward(host, chosen); },
                                          topology.planes, way_back, peer_port_toward(host)),
                              make_congestion_control(profile, topology.host_rate, topology.planes),
                              profile.base_rtt);
  if (by_routes_) peer.routed = 0;
  peer.way_back_routed = chosen != Chosen::kByName;
  return peer;
}

PeerPortOf HostPeers::peer_port_toward(uint32_t host) const {
  if (host_.topology.planes_apart) return same_port;
  return [this, host](Path path) {
    const std::optional<Path> back = path_back(host_.topology, host_.self, host, path);
    return (back ? *back : path).plane;
  };
}

std::optional<HostPeers::HeardPath> HostPeers::path_of_packet(const Peer& peer,
                                                              const MrcPacket& packet,
                                                              uint32_t port) const {
  const std::optional<Path> path = path_of(host_.paths.from_wire(packet.entropy()));
  if (!path) return std::nullopt;
  const std::optional<Path> back = path_back(host_.topology, peer.host, host_.self, *path);
  if (!back || back->plane != port) return std::nullopt;
  return HeardPath{*path, *back};
}

void HostPeers::on_peer_data(Peer& peer, const MrcPacket& packet, uint32_t port) {
  const bool silent = peer.reverse.probe_due() == FabricTime::never();
  std::optional<Path> ours;
  if (peer.reverse.takes_heard(port, host_.now)) {
    if (const auto heard = path_of_packet(peer, packet, port)) ours = heard->ours;
  }
  peer.reverse.note_data(ours, port, host_.now);
  if (!silent) return;
  host_.events.push(peer.reverse.probe_due(), EventClass::kTimer, 0,
                    {HostEventKind::kReverseTimer, peers_.index_of(peer), 0});
}

void HostPeers::on_sack_news(Peer& peer, const Seth& seth) {
  peer.reverse.confirmed(seth.entropy, host_.now);
  if (!host_.profile.sack_port_mask) return;
  // The timestamp that the SACK reflects is ours: 16 bits of 128 ns, so at most 8 ms ago.
  const auto age = static_cast<uint16_t>(tx_timestamp(host_.now) - seth.tx_timestamp);
  const FabricTime caused = host_.now - FabricTime::from_ns(128) * age;
  const uint32_t before = peer.status.remote_ports();
  if (!peer.status.received_by_sack(seth.port_mask, caused, host_.now)) return;
  note_status_received(peer, seth.port_mask, "sack");
  on_remote_ports(peer, before);
}

void HostPeers::on_reverse_timer(uint32_t index) {
  Peer& peer = peers_[index];
  if (const auto probe = peer.reverse.next_probe(ports_back(peer), host_.now)) {
    Erth erth;
    erth.op = EndpointOp::kEvProbe;
    erth.port_status_mask = ports_.live();
    erth.tx_timestamp = tx_timestamp(host_.now);
    ports_.queue_control(path_of(probe->ev)->plane,
                         host_.maker.control(Opcode::kEndpointRequest, Psn{probe->id}, erth,
                                             probe->ev, {peer.host, kEndpointQpn}));
    ++host_.stats.ev_probes_sent;
  }
  if (peer.reverse.probe_due() == FabricTime::never()) return;
  host_.events.push(peer.reverse.probe_due(), EventClass::kTimer, 0,
                    {HostEventKind::kReverseTimer, index, 0});
}

/// The NIC sends a peer nothing while it remaps the queue pairs to it (NicProfile).
void HostPeers::hold(Peer& peer, FabricTime pause) {
  if (pause == FabricTime::zero()) return;
  peer.held_until = std::max(peer.held_until, host_.now + pause);
  host_.events.push(peer.held_until, EventClass::kTimer, 0,
                    {HostEventKind::kPeerTimer, peers_.index_of(peer), 0});
  for (QueuePair& qp : queue_pairs_) {
    if (&qp.peer == &peer) queue_pairs_.touch(qp);
  }
  EventRecord record{host_.now, event_kind::kRemap, {}, {}, {}, {}, {}, {}};
  record.detail =
      "no data to " + host_.name_of_host(peer.host) + " for " + mrclab::to_string(pause);
  host_.report_event(record);
}

FabricTime HostPeers::remap_time(const NicProfile::Range& range) {
  const auto width = static_cast<uint64_t>((range.max - range.min).ps()) + 1;
  const uint64_t random = draw(host_.environment.seed, host_.environment.self, PortId{},
                               DrawPurpose::kNicRemap, remaps_++);
  return range.min + FabricTime::from_ps(static_cast<int64_t>(below(random, width)));
}

}  // namespace mrclab::endpoint
