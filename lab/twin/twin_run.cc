#include "lab/twin/twin_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "analysis/history/evidence.h"
#include "fabric/history/history.h"
#include "lab/run/scenario_run.h"
#include "lab/run/watched_node.h"
#include "lab/twin/twin_set.h"
#include "scenario/judging/run_inputs.h"
#include "scenario/simulation/simulation.h"

namespace mrclab::lab {
namespace {

/// Digests what a node does up to each of several instants.
class Prefixes : public NodeObserver {
 public:
  Prefixes(const Topology& topology, NodeId node, const std::vector<FabricTime>& ends) {
    for (const FabricTime end : ends) digests_.emplace_back(topology, node, end);
  }
  void packet(const PacketRecord& record) override {
    const HistoryBytes bytes = history_record(record);
    for (HistoryDigest& digest : digests_) digest.packet(record, bytes);
  }
  void event(const EventRecord&) override {}
  std::vector<HistoryStream> streams(size_t end) const { return digests_[end].streams(); }

 private:
  std::deque<HistoryDigest> digests_;
};

/// What has an effect at an instant can change no record before it.
std::vector<FabricTime> ends_of(const std::vector<FabricTime>& cuts, FabricTime stop) {
  std::vector<FabricTime> ends;
  for (const FabricTime cut : cuts) ends.push_back(cut - kPicosecond);
  ends.push_back(stop);
  return ends;
}

/// Every host has finished what it had to do; what fails ends sooner.
std::optional<FabricTime> when_done(const Topology& topology, const Simulation& simulation,
                                    const std::vector<endpoint::WorkReport>& reports,
                                    const TwinMeasure& run) {
  if (run.qps_failed > 0 || !run.died.empty()) return std::nullopt;
  for (uint32_t host = 0; host < topology.host_count(); ++host) {
    if (!simulation.host_at(topology.host(host)).finished()) return std::nullopt;
  }
  FabricTime last;
  for (const endpoint::WorkReport& report : reports) last = std::max(last, report.last);
  for (const WorkSteps& work : run.works) {
    if (!work.ends.empty()) last = std::max(last, work.ends.back());
  }
  return last;
}

void measure(const Scenario& twin, const Simulation& simulation, TwinMeasure& result) {
  std::vector<endpoint::WorkReport> reports;
  for (uint32_t host = 0; host < twin.topology.host_count(); ++host) {
    for (endpoint::WorkReport& report : simulation.host_at(twin.topology.host(host)).work()) {
      reports.push_back(std::move(report));
    }
  }
  for (const analysis::HostReport& host : simulation.hosts().hosts) {
    result.delivered += Bytes{host.bytes_placed};
    result.qps_failed += host.qps_in_error;
  }
  const std::vector<JobOutcome> outcomes = job_outcomes(twin, simulation.jobs());
  for (const JobOutcome& job : outcomes) {
    if (job.died && result.died.empty()) {
      result.died = fmt::format("the job {} died at {}, in rank {}: {}", job.plan->planned.name,
                                to_string(job.died->at), job.died->rank, job.died->reason);
    }
  }
  result.works = steps_of(twin.workload, reports, outcomes);
  result.done = when_done(twin.topology, simulation, reports, result);
}

}  // namespace

TwinMeasure run_twin(const Scenario& scenario, FaultSet set, const std::vector<FabricTime>& cuts,
                     const LookAtEvidence& look) {
  Scenario twin = with_faults(scenario, set);
  twin.payload_elided = true;
  const std::vector<FabricTime> ends = ends_of(cuts, twin.stop());
  std::deque<Prefixes> prefixes;
  for (const NodeSite& site : twin.topology.nodes)
    prefixes.emplace_back(twin.topology, site.id, ends);
  // Packets are joined where their losses are asked for: of the run with all faults.
  const bool watched = set == all_faults_of(scenario.faults.size());
  std::optional<analysis::Evidence> evidence;
  std::deque<WatchedNode> nodes;
  if (watched) {
    evidence.emplace(twin.topology, twin.schedule, twin.stop(), watched_at_switches(twin));
    for (const NodeSite& site : twin.topology.nodes) {
      nodes.emplace_back(prefixes[site.id.value], evidence->observer(site.id));
    }
  }
  TwinMeasure result;
  result.set = set;
  {
    Simulation simulation(twin, 1, [&](NodeId node) -> NodeObserver& {
      if (watched) return nodes[node.value];
      return prefixes[node.value];
    });
    simulation.run();
    measure(twin, simulation, result);
  }
  for (size_t i = 0; i < ends.size(); ++i) {
    std::vector<HistoryStream> streams;
    for (const Prefixes& node : prefixes) {
      for (HistoryStream& stream : node.streams(i)) streams.push_back(std::move(stream));
    }
    const std::string digest = history_sha256(std::move(streams));
    if (i < cuts.size()) {
      result.prefixes.push_back({cuts[i], digest});
    } else {
      result.history_sha256 = digest;
    }
  }
  if (evidence) {
    evidence->finish();
    if (look) look(*evidence);
    result.tolls =
        fault_tolls(twin.topology, evidence->packets(), fault_spans_of(twin), result.works);
  }
  return result;
}

std::filesystem::path keep_twin(const Scenario& scenario, FaultSet set,
                                const std::filesystem::path& out) {
  Scenario twin = with_faults(scenario, set);
  twin.name = scenario.name + "-" + twin_name(set, scenario.faults.size());
  RunOptions options;
  options.world = World::kSim;
  options.runs_root = out;
  options.threads = 1;
  return run_scenario(twin, options).folder.path;
}

}  // namespace mrclab::lab
