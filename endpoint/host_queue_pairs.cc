// Queue pairs and peers: created from the connection plan or by the device's user (verbs.h), by the
// same code, and destroyed again.

#include <algorithm>
#include <utility>

#include "endpoint/host_impl.h"
#include "fabric/ecmp.h"

namespace mrclab::endpoint {

std::vector<EntropyValue> HostNode::Impl::evs_toward(uint32_t host, Chosen chosen, Qpn qp) const {
  return values_between(profile_.ev_profile, topology_, self_, host, profile_.ev_limit,
                        environment_.seed, chosen, qp);
}

/// All values of the pair, or without spraying a single one.
std::vector<EntropyValue> HostNode::Impl::evs_of_queue_pair(const QueuePair::Identity& id,
                                                            uint32_t host) const {
  std::vector<EntropyValue> values = evs_toward(host, id.chosen, id.local);
  if (profile_.spray) return values;
  const uint64_t random =
      draw(environment_.seed, environment_.self, PortId{}, DrawPurpose::kEvChoice, id.handle.value);
  return {values[below(random, values.size())]};
}

/// The first queue pair decides how the way back begins; later it takes any value on which the
/// peer's data arrives.
Peer& HostNode::Impl::peer_for(uint32_t host, Chosen chosen) {
  uint32_t& index = peer_of_host_[host];
  if (index == kNobody) {
    index = static_cast<uint32_t>(peers_.size());
    ReversePath::Config way_back;
    way_back.fresh = profile_.base_rtt * 4;
    // A random probe comes to each plane about once in as many intervals as there are planes.
    way_back.confirmed = profile_.reverse_probe_interval * 4 * topology_.planes;
    way_back.probe_interval = profile_.reverse_probe_interval;
    way_back.probe_timeout = profile_.tail_probe;
    way_back.seed = environment_.seed;
    way_back.self = environment_.self;
    way_back.peer = host;
    peers_.emplace_back(
        host, all_ports_,
        ReversePath(evs_toward(host, chosen), topology_.planes, way_back, peer_port_toward(host)),
        make_congestion_control(profile_, topology_.host_rate, topology_.planes),
        profile_.base_rtt);
  }
  return peers_[index];
}

void HostNode::Impl::add_queue_pairs(const std::vector<ConnectionPlan>& plan) {
  const ConnectionLimits limits = limits_of(profile_);
  for (const ConnectionPlan& connection : plan) {
    for (const bool initiator : {true, false}) {
      const EndPlan& mine = initiator ? connection.initiator : connection.acceptor;
      const EndPlan& theirs = initiator ? connection.acceptor : connection.initiator;
      if (mine.host != self_) continue;
      QueuePair::Identity id;
      id.local = mine.qpn;
      id.remote = theirs.qpn;
      id.send_first = profile_.first_psn.value_or(mine.first_psn);
      id.receive_first = profile_.first_psn.value_or(theirs.first_psn);
      id.workload = connection.workload;
      id.chosen = chosen_by(topology_, connection.routing);
      add_queue_pair(id, theirs.host, limits);
    }
  }
}

/// `id.handle` is given here.
QueuePair& HostNode::Impl::add_queue_pair(QueuePair::Identity id, uint32_t peer_host,
                                          const ConnectionLimits& limits) {
  const uint32_t place = qps_.next_place();
  id.handle = {place};
  EvSet evs(evs_of_queue_pair(id, peer_host), topology_.planes, profile_.ev_limits(),
            {environment_.seed, environment_.self, place}, peer_port_toward(peer_host));
  EvProber prober(profile_, evs.size(), environment_.seed, environment_.self, place);
  QueuePair& qp =
      qps_.emplace(place, id, peer_for(peer_host, id.chosen), profile_, limits, std::move(evs),
                   std::move(prober), memory_, received_, *this, stats_);
  qp_of_qpn_.emplace(id.local.value, place);
  stats_.qps = static_cast<uint32_t>(qps_.size());
  touched_.reserve(qps_.size());
  if (qp.peer.queue_pairs++ == 0) meet(qp.peer);
  // Ports that are known to be down at either end, and paths that the controller denied.
  qp.requester.set_live_ports(ports_toward(qp.peer), now_);
  apply_denylist(qp);
  return qp;
}

/// The first queue pair to a peer: tells the peer of our ports, unless all are up and the peer has
/// never heard of us, because then it assumes just that.
void HostNode::Impl::meet(Peer& peer) {
  const bool heard_of_us = std::exchange(peer.met, true) || life_ > 0;
  peer.status.begin_anew();
  peer.window->on_live_ports(lanes_toward(peer));
  if (!profile_.port_status || (live_ports_ == all_ports_ && !heard_of_us)) return;
  peer.status.announce(live_ports_, now_);
  push(now_, EventClass::kTimer, 0, {EventKind::kPeerTimer, peer_of_host_[peer.host], 0});
}

/// Removes the queue pair without telling its user; packets in flight leave the window of their
/// destination.
void HostNode::Impl::remove_queue_pair(QueuePair& qp) {
  qp.silent = true;
  qp.application = kNobody;  // its completions go nowhere
  --qp.peer.queue_pairs;
  qp.requester.fail("destroyed");
  std::erase(touched_, &qp);
  qp_of_qpn_.erase(qp.id.local.value);
  qps_.erase(qp.id.handle.value);
  stats_.qps = static_cast<uint32_t>(qps_.size());
}

}  // namespace mrclab::endpoint
