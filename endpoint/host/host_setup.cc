// How a host starts. Its queue pairs are made in host_queue_pairs.cc, its applications in
// host_workloads.cc.

#include "endpoint/base/packet_overhead.h"
#include "endpoint/host/host_device.h"

namespace mrclab::endpoint {

HostNode::Impl::Impl(const NodeEnvironment& environment, const HostConfig& config)
    : environment_(environment),
      topology_(environment.topology),
      self_(topology_.node(environment.self).index),
      latency_(topology_.host_latency),
      profile_(config.transport),
      topology_paths_(topology_, environment.self),
      paths_(config.paths != nullptr ? *config.paths : topology_paths_),
      maker_(environment.frames, paths_, self_, config.transport.icrc, config.transport.dscps),
      payload_elided_(config.payload_elided),
      address_(paths_.address(self_)),
      all_ports_(topology_.planes >= 32 ? ~0u : (1u << topology_.planes) - 1),
      live_ports_(all_ports_),
      shares_(topology_.base_rtt, topology_.host_rate, Bytes{topology_.pmtu} + kPacketOverhead,
              topology_.host_count()),
      received_(profile_),
      drain_{.host = environment.self},
      peer_of_host_(topology_.host_count(), kNobody) {
  stats_.planes.resize(topology_.planes);
  for (uint32_t p = 0; p < topology_.planes; ++p) {
    ports_.emplace_back(environment_, PortId{p});
  }
  set_drain();
  std::vector<ConnectionPlan> own_plan;
  if (config.connections == nullptr) {
    own_plan =
        plan_connections(topology_, config.workloads, environment_.seed, profile_.max_psn_range);
  }
  const std::vector<ConnectionPlan>& plan =
      config.connections != nullptr ? *config.connections : own_plan;
  add_queue_pairs(plan);
  add_applications(config, plan);
  for (uint32_t i = 0; i < apps_.size(); ++i) {
    push(apps_[i].start, EventClass::kApplication, 0, {EventKind::kStart, i, 0});
  }
  const auto index = static_cast<uint32_t>(apps_.size());
  auto device = std::make_unique<HostDevice>(*this, index);
  device_ = device.get();
  apps_.push_back({std::move(device), std::make_unique<AppVerbs>(*this, index), {}});
}

HostNode::Impl::~Impl() = default;

Device& HostNode::Impl::device() { return *device_; }

}  // namespace mrclab::endpoint
