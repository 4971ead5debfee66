#include "lab/perf/perf_run.h"

#include <fmt/format.h>

#include <map>
#include <memory>

#include "console/interrupt.h"
#include "console/progress.h"
#include "endpoint/host/host_node.h"
#include "fabric/node/event_kind.h"
#include "fabric/text/yaml.h"
#include "live/world/process_reports.h"
#include "sim/sim_world.h"
#include "switchd/switch_node.h"

namespace mrclab::lab {
namespace {

/// Sees nothing but failing queue pairs.
class ErrorWatch : public NodeObserver {
 public:
  explicit ErrorWatch(std::string& first) : first_(first) {}
  void packet(const PacketRecord&) override {}
  void event(const EventRecord& record) override {
    if (record.kind != event_kind::kQpError || !first_.empty()) return;
    first_ = fmt::format("{}: {}", record.cause, record.detail);
  }

 private:
  std::string& first_;
};

void add_stats(PerfOutcome& outcome, const endpoint::HostStats& stats) {
  outcome.bytes_verified += stats.bytes_verified;
  outcome.bytes_wrong += stats.bytes_mismatched;
  outcome.retransmissions += stats.retransmissions;
  outcome.qps_in_error += stats.qps_in_error;
}

PerfOutcome run_sim(const PerfSetup& setup, const std::vector<endpoint::WorkloadSpec>& workloads,
                    FabricTime end) {
  const Topology& topology = setup.topology;
  PerfOutcome outcome;
  ErrorWatch watch(outcome.first_error);
  endpoint::HostConfig config;
  config.transport = endpoint::make_profile(setup.transport, topology);
  config.workloads = workloads;
  config.end = end;
  std::vector<const endpoint::HostNode*> hosts;
  SimWorld world(
      topology, {.seed = setup.seed},
      [&](const NodeEnvironment& environment) -> std::unique_ptr<Node> {
        if (topology.node(environment.self).role != NodeRole::kHost) {
          return std::make_unique<switchd::SwitchNode>(environment);
        }
        auto host = std::make_unique<endpoint::HostNode>(environment, config);
        hosts.push_back(host.get());
        return host;
      },
      [&](NodeId) -> NodeObserver& { return watch; });
  const auto finished = [&] {
    return std::all_of(hosts.begin(), hosts.end(),
                       [](const endpoint::HostNode* host) { return host->finished(); });
  };
  // A step of a large fabric takes seconds, and so does giving its memory back.
  const EndsAtOnce at_once("mrclab: interrupted");
  Progress progress("simulating");
  const FabricTime step = topology.base_rtt;
  bool alive = true;
  while (alive && !outcome.finished && outcome.first_error.empty() && world.now() < end) {
    alive = world.run_until(std::min(std::max(world.now(), FabricTime::zero()) + step, end));
    outcome.finished = finished();
    progress.show({},
                  end == FabricTime::never()
                      ? to_string(world.now())
                      : fmt::format("{} of at most {}", to_string(world.now()), to_string(end)));
  }
  outcome.ended = world.now();
  for (const endpoint::HostNode* host : hosts) {
    add_stats(outcome, host->stats());
    for (endpoint::WorkReport& report : host->work()) outcome.work.push_back(std::move(report));
  }
  return outcome;
}

/// The daemons' reports of their hosts, in the order of the hosts.
void collect(const PerfSetup& setup, const RunFolder& folder, PerfOutcome& outcome) {
  const RunOptions options;
  const ProcessPlan plan = plan_processes(setup.topology, options.isolate, options.host_processes,
                                          options.switch_processes);
  std::map<uint32_t, endpoint::HostAccount> hosts;
  for (uint32_t i = 0; i < plan.processes.size(); ++i) {
    hosts.merge(read_process_report(folder.reports(), setup.topology, plan, i).hosts);
  }
  for (auto& [number, account] : hosts) {
    add_stats(outcome, account.stats);
    for (endpoint::WorkReport& work : account.work) outcome.work.push_back(std::move(work));
  }
}

PerfOutcome run_live(const PerfSetup& setup, const std::vector<endpoint::WorkloadSpec>& workloads,
                     FabricTime end) {
  Scenario scenario;
  scenario.name = fmt::format("perf-{}", endpoint::name_of(workloads.front()));
  scenario.about = "Measured by mrclab perf.";
  scenario.fabric = setup.shape;
  scenario.topology = setup.topology;
  scenario.seed = setup.seed;
  scenario.transport = setup.transport;
  scenario.captures = CaptureScope::kNone;
  scenario.workload = workloads;
  scenario.end = end;
  RunOptions options;
  options.world = World::kLive;
  options.runs_root = setup.out;
  options.progress = true;
  options.interrupted = setup.interrupted;
  const RunResult result = run_scenario(scenario, options);
  PerfOutcome outcome;
  collect(setup, result.folder, outcome);
  outcome.ended = end;
  outcome.folder = result.folder.path.string();
  outcome.faithful = result.verdict.timing.faithful;
  return outcome;
}

}  // namespace

PerfOutcome run_perf(const PerfSetup& setup, const std::vector<endpoint::WorkloadSpec>& workloads,
                     FabricTime end) {
  try {
    const PerfOutcome simulated = run_sim(setup, workloads, end);
    if (setup.world == World::kSim || !simulated.first_error.empty()) return simulated;
    PerfOutcome live = run_live(setup, workloads, simulated.ended);
    live.finished = simulated.finished;
    return live;
  } catch (const std::invalid_argument& error) {
    throw InputError(error.what());
  }
}

}  // namespace mrclab::lab
