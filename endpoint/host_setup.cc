// What a host is made of: its queue pairs and peers, from the connection plan. Its applications are
// made in host_workloads.cc.

#include "endpoint/fixed_window.h"
#include "endpoint/host_impl.h"

namespace mrclab::endpoint {

HostNode::Impl::Impl(const NodeEnvironment& environment, const HostConfig& config)
    : environment_(environment),
      topology_(environment.topology),
      self_(topology_.node(environment.self).index),
      latency_(topology_.host_latency),
      profile_(config.transport),
      topology_paths_(topology_, environment.self),
      paths_(config.paths != nullptr ? *config.paths : topology_paths_),
      maker_(environment.frames, paths_, self_, config.transport.icrc),
      address_(paths_.address(self_)),
      all_ports_(topology_.planes >= 32 ? ~0u : (1u << topology_.planes) - 1),
      live_ports_(all_ports_),
      peer_of_host_(topology_.host_count(), kNobody) {
  stats_.planes.resize(topology_.planes);
  for (uint32_t p = 0; p < topology_.planes; ++p) {
    ports_.emplace_back(environment_, PortId{p});
  }
  const auto plan = plan_connections(topology_, config.workloads, environment_.seed);
  add_queue_pairs(plan);
  add_applications(config, plan);
  stats_.qps = static_cast<uint32_t>(qps_.size());
  touched_.reserve(qps_.size());
  for (uint32_t i = 0; i < apps_.size(); ++i) {
    push(apps_[i].start, EventClass::kApplication, 0, {EventKind::kStart, i, 0});
  }
}

Peer& HostNode::Impl::peer_for(uint32_t host) {
  uint32_t& index = peer_of_host_[host];
  if (index == kNobody) {
    index = static_cast<uint32_t>(peers_.size());
    const auto values =
        entropy_values(topology_, self_, host, profile_.ev_limit, environment_.seed);
    const FabricTime fresh = profile_.base_rtt * 4;
    peers_.emplace_back(host, all_ports_, ReversePath(values, topology_.planes, fresh),
                        std::make_unique<FixedWindow>(topology_.host_rate, profile_.base_rtt,
                                                      profile_.window_percent, topology_.planes));
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
      const auto number = static_cast<uint32_t>(qps_.size());
      QueuePair::Identity id;
      id.handle = {number};
      id.local = mine.qpn;
      id.remote = theirs.qpn;
      id.send_first = profile_.first_psn.value_or(mine.first_psn);
      id.receive_first = profile_.first_psn.value_or(theirs.first_psn);
      id.workload = connection.workload;
      EvSet evs(entropy_values(topology_, self_, theirs.host, profile_.ev_limit, environment_.seed),
                topology_.planes, profile_.ev_min_active_divisor,
                {environment_.seed, environment_.self, number});
      EvProber prober(profile_, evs.size(), environment_.seed, environment_.self, number);
      qps_.emplace_back(id, peer_for(theirs.host), profile_, limits, std::move(evs),
                        std::move(prober), memory_, *this, stats_);
      qp_of_qpn_.emplace(id.local.value, number);
    }
  }
}

}  // namespace mrclab::endpoint
