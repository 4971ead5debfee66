#include "scenario/simulation/simulation.h"

#include "scenario/simulation/host_report.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "fabric/packet/frame_room.h"
#include "fabric/topology/fare.h"
#include "scenario/spec/connections.h"
#include "switchd/switch_node.h"

namespace mrclab::lab {
namespace {

endpoint::HostConfig host_config(const Scenario& scenario,
                                 const endpoint::OwnConnections& connections, bool payload_lent,
                                 endpoint::StreamContents* contents) {
  endpoint::HostConfig config;
  config.transport = endpoint::make_profile(scenario.transport, scenario.topology);
  config.transport_stays = true;  // it is a member of the Simulation
  config.workloads = scenario.workload;
  config.end = scenario.end;
  config.payload_elided = scenario.payload_elided;
  config.payload_lent = payload_lent;
  config.contents = contents;
  config.connections = &connections;
  return config;
}

}  // namespace

Simulation::Simulation(const Scenario& scenario, uint32_t threads,
                       const SimWorld::ObserverOf& observer_of, RankLink* ranks, Observed observed)
    : scenario_(scenario),
      connections_(connections_of(scenario)),
      by_host_(connections_, scenario.topology.host_count()),
      host_config_(
          host_config(scenario, by_host_, observed == Observed::kHeaders,
                      observed == Observed::kHeaders && ranks == nullptr ? &contents_ : nullptr)),
      world_(
          scenario.topology,
          {.seed = scenario.seed,
           .schedule = scenario.schedule,
           .room = frame_room(scenario.topology, scenario.payload_elided),
           .threads = threads,
           .waits = waiting_nodes(),
           .ranks = ranks},
          [this](const NodeEnvironment& environment) { return make_node(environment); },
          observer_of) {}

/// Where nodes do nothing by themselves, a switch has something to do once a frame comes, and a host once one comes, if
/// no workload gives it any.
std::function<bool(NodeId)> Simulation::waiting_nodes() const {
  const Topology& topology = scenario_.topology;
  const bool by_themselves =
      topology.routing.is_fare() || nic_routes(topology) != NicRoutes::kOff || topology.mapper.on ||
      topology.orchestrator.on || topology.denylist.on || topology.lossless.pfc;
  if (by_themselves) return {};
  std::vector<bool> works(topology.nodes.size());
  for (uint32_t host = 0; host < topology.host_count(); ++host) {
    works[topology.host(host).value] = !by_host_.of(host).empty();
  }
  for (const endpoint::WorkloadSpec& workload : scenario_.workload) {
    const auto* job = std::get_if<endpoint::JobWorkload>(&workload);
    if (job == nullptr) continue;  // of others all hosts are connected
    for (const uint32_t host : job->spec.hosts) works[topology.host(host).value] = true;
  }
  return [works = std::move(works)](NodeId node) { return !works[node.value]; };
}

std::unique_ptr<Node> Simulation::make_node(const NodeEnvironment& environment) const {
  if (scenario_.topology.node(environment.self).role == NodeRole::kHost) {
    return std::make_unique<endpoint::HostNode>(environment, host_config_);
  }
  return std::make_unique<switchd::SwitchNode>(environment);
}

FabricTime Simulation::run(const SimWorld::GoOn& go_on, FabricTime until) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kAskEvery{20};
  auto next = Clock::now();
  world_.run_until(std::min(until, scenario_.stop()), [&](FabricTime now) {
    if (!go_on || Clock::now() < next) return true;
    next = Clock::now() + kAskEvery;
    return go_on(now);
  });
  return world_.now();
}

bool Simulation::work_ended() const {
  for (uint32_t h = 0; h < scenario_.topology.host_count(); ++h) {
    const NodeId node = scenario_.topology.host(h);
    if (world_.made_node(node) != nullptr && !host_at(node).work_ended()) return false;
  }
  return true;
}

endpoint::HostAccount Simulation::account(uint32_t host) const {
  const Node* const node = world_.made_node(scenario_.topology.host(host));
  if (node == nullptr) {  // it waits for its first event
    endpoint::HostAccount idle;
    idle.stats.planes.resize(scenario_.topology.planes);
    return idle;
  }
  return dynamic_cast<const endpoint::HostNode&>(*node).account();
}

const endpoint::HostNode& Simulation::host_at(NodeId node) const {
  return dynamic_cast<const endpoint::HostNode&>(world_.node(node));
}

endpoint::Device& Simulation::device(uint32_t host) {
  return dynamic_cast<endpoint::HostNode&>(world_.node(scenario_.topology.host(host))).device();
}

const switchd::SwitchNode& Simulation::switch_at(NodeId node) const {
  return dynamic_cast<const switchd::SwitchNode&>(world_.node(node));
}

analysis::HostReports Simulation::hosts() const {
  analysis::HostReports reports;
  for (uint32_t h = 0; h < scenario_.topology.host_count(); ++h) {
    const NodeId node = scenario_.topology.host(h);
    if (!is_here(node)) continue;
    const std::string& name = scenario_.topology.node(node).name;
    reports.hosts.push_back(host_report(name, account(h)));
  }
  return reports;
}

std::vector<endpoint::JobReport> Simulation::jobs() const {
  std::vector<endpoint::JobReport> reports;
  for (uint32_t h = 0; h < scenario_.topology.host_count(); ++h) {
    const NodeId node = scenario_.topology.host(h);
    if (world_.made_node(node) == nullptr) continue;
    for (endpoint::JobReport& report : host_at(node).jobs()) reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace mrclab::lab
