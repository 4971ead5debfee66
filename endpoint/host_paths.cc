// Paths of a host beside its ports: what the controller denies, what it is told about entropy
// values, the way back to peers and its probes, and the pause of a NIC that remaps.

#include <utility>

#include "endpoint/host_device.h"
#include "endpoint/host_impl.h"
#include "fabric/path.h"

namespace mrclab::endpoint {

void HostNode::Impl::on_denial(const EvDenial& denial) {
  if (denial.host != environment_.self) return;
  const uint32_t toward =
      denial.toward.valid() ? topology_.node(denial.toward).index : Denylist::kEverybody;
  denylist_.set(denial.ev, toward, denial.denied);
  for (QueuePair& qp : qps_) {
    if (toward != Denylist::kEverybody && toward != qp.peer.host) continue;
    const bool denied = denylist_.denies(denial.ev, qp.peer.host);
    qp.requester.set_denied(denial.ev, denied, now_);
    touch(qp);
  }
  for (Peer& peer : peers_)
    peer.reverse.set_denied(denial.ev, denylist_.denies(denial.ev, peer.host));
}

/// Applies denials that are older than the queue pair.
void HostNode::Impl::apply_denylist(QueuePair& qp) {
  if (denylist_.empty()) return;
  for (uint32_t i = 0; i < qp.requester.evs().size(); ++i) {
    const EntropyValue ev = qp.requester.evs().value(i);
    if (!denylist_.denies(ev, qp.peer.host)) continue;
    qp.requester.set_denied(ev, true, now_);
    qp.peer.reverse.set_denied(ev, true);
  }
}

void HostNode::Impl::ev_changed(QueuePair& qp, EntropyValue ev, EvState to) {
  const PortId port{path_of(ev)->plane};
  environment_.observer.event({now_, "ev_state", port, qp.id.local, ev, {}, name_of(to), {}});
  device_->ev_changed(qp, ev, to);
  ev_events_.push({now_, qp.id.local, ev, port.value + 1, to, 0});
}

void HostNode::Impl::ev_swapped(QueuePair& qp, EntropyValue in, EntropyValue out) {
  EventRecord record{now_,     "ev_active", PortId{path_of(in)->plane}, qp.id.local, in, {},
                     "backup", {}};
  record.detail = "in place of " + to_string(*path_of(out));
  environment_.observer.event(record);
}

/// `ev`: the value of ours whose path the data came by; empty if it is not known.
void HostNode::Impl::on_data_heard(Peer& peer, std::optional<EntropyValue> ev, uint32_t port) {
  const bool silent = peer.reverse.probe_due() == FabricTime::never();
  peer.reverse.heard(ev, port, now_);
  if (!silent) return;
  push(peer.reverse.probe_due(), EventClass::kTimer, 0,
       {EventKind::kReverseTimer, peer_of_host_[peer.host], 0});
}

/// The peer accepted a packet that we sent on the value which the SACK reflects. The SACK may also
/// tell of the peer's ports.
void HostNode::Impl::on_sack_news(Peer& peer, const Seth& seth) {
  peer.reverse.confirmed(seth.entropy, now_);
  if (!profile_.sack_port_mask) return;
  // The timestamp that the SACK reflects is ours: 16 bits of 128 ns, so at most 8 ms ago.
  const auto age = static_cast<uint16_t>(tx_timestamp(now_) - seth.tx_timestamp);
  const FabricTime caused = now_ - FabricTime::from_ns(128) * age;
  const uint32_t before = peer.status.remote_ports();
  if (!peer.status.received_by_sack(seth.port_mask, caused, now_)) return;
  EventRecord record{now_, "port_status_received", {}, {}, {}, {}, "sack", {}};
  record.detail = "from " + topology_.node(topology_.host(peer.host)).name + " mask " +
                  std::to_string(seth.port_mask);
  environment_.observer.event(record);
  on_remote_ports(peer, before);
}

void HostNode::Impl::on_reverse_timer(uint32_t index) {
  Peer& peer = peers_[index];
  if (const auto probe = peer.reverse.next_probe(ports_toward(peer), now_)) {
    Erth erth;
    erth.op = EndpointOp::kEvProbe;
    erth.port_status_mask = live_ports_;
    erth.tx_timestamp = tx_timestamp(now_);
    queue_control(path_of(probe->ev)->plane,
                  maker_.control(Opcode::kEndpointRequest, Psn{probe->id}, erth, probe->ev,
                                 {peer.host, kEndpointQpn}));
    ++stats_.ev_probes_sent;
  }
  if (peer.reverse.probe_due() == FabricTime::never()) return;
  push(peer.reverse.probe_due(), EventClass::kTimer, 0, {EventKind::kReverseTimer, index, 0});
}

/// The NIC sends a peer nothing while it remaps the queue pairs to it (NicProfile).
void HostNode::Impl::hold(Peer& peer, FabricTime pause) {
  if (pause == FabricTime::zero()) return;
  peer.held_until = std::max(peer.held_until, now_ + pause);
  push(peer.held_until, EventClass::kTimer, 0,
       {EventKind::kPeerTimer, peer_of_host_[peer.host], 0});
  for (QueuePair& qp : qps_) {
    if (&qp.peer == &peer) touch(qp);
  }
  EventRecord record{now_, "remap", {}, {}, {}, {}, {}, {}};
  record.detail = "no data to " + topology_.node(topology_.host(peer.host)).name + " for " +
                  mrclab::to_string(pause);
  environment_.observer.event(record);
}

FabricTime HostNode::Impl::remap_time(const NicProfile::Range& range) {
  const auto width = static_cast<uint64_t>((range.max - range.min).ps()) + 1;
  const uint64_t random =
      draw(environment_.seed, environment_.self, PortId{}, DrawPurpose::kNicRemap, remaps_++);
  return range.min + FabricTime::from_ps(static_cast<int64_t>(below(random, width)));
}

}  // namespace mrclab::endpoint
