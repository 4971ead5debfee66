// What a host is made of: queue pairs, peers, memory and applications, from the connection plan.

#include <algorithm>

#include "endpoint/collective_all_reduce.h"
#include "endpoint/fixed_window.h"
#include "endpoint/host_impl.h"
#include "endpoint/stream.h"
#include "fabric/random.h"

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
    push(FabricTime::zero(), EventClass::kApplication, 0, {EventKind::kStart, i, 0});
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

void HostNode::Impl::add_applications(const HostConfig& config,
                                      const std::vector<ConnectionPlan>& plan) {
  for (uint32_t w = 0; w < config.workloads.size(); ++w) {
    if (const auto* reduce = std::get_if<AllReduceSpec>(&config.workloads[w])) {
      add_all_reduce(config, w, *reduce, plan);
    } else if (const auto* permutation = std::get_if<PermutationSpec>(&config.workloads[w])) {
      const FabricTime interval =
          message_interval(permutation->message, profile_.pmtu, topology_.host_rate,
                           topology_.planes, permutation->load);
      add_streams(config, w, permutation->message, 0, interval, plan);
    } else if (const auto* write = std::get_if<WriteSpec>(&config.workloads[w])) {
      add_streams(config, w, write->size, write->count, FabricTime::zero(), plan);
    }
  }
}

void HostNode::Impl::add_all_reduce(const HostConfig& config, uint32_t workload,
                                    const AllReduceSpec& spec,
                                    const std::vector<ConnectionPlan>& plan) {
  AllReduce::Config c(CollectiveLayout(spec.size, spec.hosts.size()));
  const auto me = std::find(spec.hosts.begin(), spec.hosts.end(), self_);
  if (me == spec.hosts.end()) return;
  c.rank = static_cast<size_t>(me - spec.hosts.begin());
  c.iterations = spec.iterations;
  c.end = config.end;
  c.seed = mix64(environment_.seed ^ mix64(workload));
  for (const ConnectionPlan& connection : plan) {
    if (connection.workload != workload) continue;
    if (connection.initiator.host == self_) {
      c.right = {qp_of_qpn_.at(connection.initiator.qpn.value)};
      c.remote_va = connection.region.va;
      c.remote_rkey = connection.region.rkey;
    }
    if (connection.acceptor.host == self_) {
      c.left = {qp_of_qpn_.at(connection.acceptor.qpn.value)};
      c.memory = memory_.add(connection.region);
    }
  }
  add_application(std::make_unique<AllReduce>(c), {c.right, c.left});
}

void HostNode::Impl::add_streams(const HostConfig& config, uint32_t workload, Bytes message,
                                 uint64_t count, FabricTime interval,
                                 const std::vector<ConnectionPlan>& plan) {
  const StreamLayout layout(message);
  for (uint32_t i = 0; i < plan.size(); ++i) {
    const ConnectionPlan& connection = plan[i];
    if (connection.workload != workload) continue;
    const uint64_t seed = mix64(environment_.seed ^ mix64(uint64_t{workload} << 32 | i));
    if (connection.initiator.host == self_) {
      const uint64_t size = layout.region_size().value;
      send_buffers_.push_back(std::make_unique_for_overwrite<uint8_t[]>(size));
      StreamSender::Config c(layout);
      c.seed = seed;
      c.qp = {qp_of_qpn_.at(connection.initiator.qpn.value)};
      c.memory = {send_buffers_.back().get(), size};
      c.remote_va = connection.region.va;
      c.remote_rkey = connection.region.rkey;
      c.count = count;
      c.interval = interval;
      c.end = config.end;
      add_application(std::make_unique<StreamSender>(c), {c.qp});
    }
    if (connection.acceptor.host == self_) {
      StreamReceiver::Config c(layout);
      c.seed = seed;
      c.qp = {qp_of_qpn_.at(connection.acceptor.qpn.value)};
      c.memory = memory_.add(connection.region);
      c.count = count;
      add_application(std::make_unique<StreamReceiver>(c), {c.qp});
    }
  }
}

void HostNode::Impl::add_application(std::unique_ptr<Application> application,
                                     std::initializer_list<QpHandle> qps) {
  const auto index = static_cast<uint32_t>(apps_.size());
  for (const QpHandle qp : qps) qps_[qp.value].application = index;
  apps_.push_back({std::move(application), std::make_unique<AppVerbs>(*this, index)});
}

}  // namespace mrclab::endpoint
