#include "lab/twin/twin_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "analysis/history/evidence.h"
#include "fabric/history/history.h"
#include "job/measure/op_spans.h"
#include "lab/run/scenario_run.h"
#include "lab/run/watched_node.h"
#include "lab/twin/twin_set.h"
#include "scenario/judging/run_inputs.h"
#include "scenario/simulation/simulation.h"
#include "scenario/simulation/work_end.h"

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

/// The places in the works (steps_of) of collectives that go on until the run's end.
std::vector<size_t> endless_collectives(const std::vector<endpoint::WorkloadSpec>& workload) {
  std::vector<size_t> places;
  size_t place = 0;
  for (const endpoint::WorkloadSpec& spec : workload) {
    if (!std::holds_alternative<endpoint::CollectiveSpec>(spec)) continue;
    if (!endpoint::ends(spec)) places.push_back(place);
    ++place;
  }
  return places;
}

/// Of jobs that went on after queue pairs had failed, where they are all that is run: when all their steps had ended.
std::optional<FabricTime> when_jobs_done(const Scenario& twin, const std::vector<JobOutcome>& jobs,
                                         const std::vector<WorkSteps>& works) {
  if (jobs.empty() || jobs.size() != twin.workload.size()) return std::nullopt;
  FabricTime last;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const JobOutcome& job = jobs[i];
    const std::vector<FabricTime>& ends = works.at(i).ends;
    if (job.plan->serve || job.later.empty() || ends.size() < job.plan->planned.steps) {
      return std::nullopt;
    }
    last = std::max(last, ends.back());
  }
  return last;
}

/// Every host has finished what it had to do, in a run that ends with its work all of it that ends by itself; what fails
/// ends sooner. Of services, where they are all that is run, each request is served: their ranks go on with iterations
/// that serve nobody.
std::optional<FabricTime> when_done(const Scenario& twin, const Simulation& simulation,
                                    const std::vector<endpoint::WorkReport>& reports,
                                    const std::vector<JobOutcome>& jobs, const TwinMeasure& run) {
  if (!run.died.empty()) return std::nullopt;
  if (run.qps_failed > 0) return when_jobs_done(twin, jobs, run.works);
  const bool services =
      !jobs.empty() && jobs.size() == twin.workload.size() &&
      std::ranges::all_of(jobs, [](const JobOutcome& job) { return job.plan->serve.has_value(); });
  if (services) {
    FabricTime last;
    for (const JobOutcome& job : jobs) last = std::max(last, last_token(job));
    return last == FabricTime::never() ? std::nullopt : std::optional(last);
  }
  const Topology& topology = twin.topology;
  for (uint32_t host = 0; host < topology.host_count(); ++host) {
    const endpoint::HostNode& node = simulation.host_at(topology.host(host));
    if (twin.ends_with_work ? !node.work_ended() : !node.finished()) return std::nullopt;
  }
  FabricTime last;
  for (const endpoint::WorkReport& report : reports) {
    if (endpoint::ends(twin.workload.at(report.workload))) last = std::max(last, report.last);
  }
  const std::vector<size_t> endless = endless_collectives(twin.workload);
  for (size_t work = 0; work < run.works.size(); ++work) {
    if (std::ranges::find(endless, work) != endless.end()) continue;
    for (const FabricTime end : run.works[work].ends) last = std::max(last, end);
  }
  return last;
}

/// The operations of jobs, which stand behind the collectives in `works`; none if they are too many.
std::vector<JobSpans> spans_of(const std::vector<JobOutcome>& jobs, size_t works) {
  size_t ops = 0;
  for (const JobOutcome& job : jobs) ops += job.plan->planned.graph.ops().size();
  std::vector<JobSpans> spans;
  for (size_t i = 0; i < jobs.size(); ++i) {
    spans.push_back({works - jobs.size() + i, {}});
    if (ops > kMaxTwinSpans) continue;
    const auto at = [&](FabricTime t) { return t == FabricTime::never() ? t : jobs[i].start + t; };
    const endpoint::JobPlan& plan = *jobs[i].plan;
    for (const job::OpSpan& op : op_spans(plan.planned, plan.program, jobs[i].times).ops) {
      spans.back().ops.push_back({at(op.begin), at(op.end)});
    }
  }
  return spans;
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
    const std::optional<JobDeath>& died = last_attempt(job).died;
    if (died && result.died.empty()) {
      result.died = fmt::format("the job {} died at {}, in rank {}: {}", job.plan->planned.name,
                                to_string(died->at), died->rank, died->reason);
    }
  }
  result.works = steps_of(twin.workload, reports, outcomes);
  result.jobs = spans_of(outcomes, result.works.size());
  result.done = when_done(twin, simulation, reports, outcomes, result);
}

/// A run of the twin, in memory or with a folder, and what is measured of it.
class WatchedTwin {
 public:
  WatchedTwin(const TwinCase& of, FaultSet set, const std::vector<FabricTime>& cuts,
              const TwinWatch& watch)
      : of_(of),
        cuts_(cuts),
        watch_(watch),
        scenario_(ended_with_work(with_faults(of, set))),
        answers_(scenario_.topology, {}) {
    result_.set = set;
    ends_ = ends_of(cuts, scenario_.stop());
    for (const NodeSite& site : scenario_.topology.nodes) {
      prefixes_.emplace_back(scenario_.topology, site.id, ends_);
    }
  }

  TwinMeasure in_memory() {
    scenario_.payload_elided = true;
    // Packets are joined where their losses are asked for.
    std::optional<analysis::Evidence> evidence;
    std::deque<WatchedNode> nodes, answers, twice;
    if (has_all_faults()) {
      evidence.emplace(scenario_.topology, scenario_.schedule, scenario_.stop(),
                       watched_at_switches(scenario_));
      for (const NodeSite& site : scenario_.topology.nodes) {
        NodeObserver* joined = &evidence->observer(site.id);
        joined = &answers.emplace_back(answers_.observer(site.id), *joined);
        if (watch_.observer) joined = &twice.emplace_back(watch_.observer(site.id), *joined);
        nodes.emplace_back(prefixes_[site.id.value], *joined);
      }
    }
    {
      Simulation simulation(scenario_, 1, [&](NodeId node) -> NodeObserver& {
        if (evidence) return nodes[node.value];
        return prefixes_[node.value];
      });
      simulation.run();
      measure(scenario_, simulation, result_);
    }
    if (evidence) {
      evidence->finish();
      look_at(*evidence);
    }
    return measured();
  }

  TwinMeasure kept(const std::filesystem::path& out) {
    scenario_.name = of_.scenario.name + "-" + twin_name(result_.set, of_.faults());
    std::deque<WatchedNode> nodes;
    for (const NodeSite& site : scenario_.topology.nodes) {
      nodes.emplace_back(answers_.observer(site.id), prefixes_[site.id.value]);
    }
    const RunWatch watch{
        [&](NodeId node) -> NodeObserver& {
          if (has_all_faults()) return nodes[node.value];
          return prefixes_[node.value];
        },
        [&](const Simulation& simulation) { measure(scenario_, simulation, result_); },
        [&](const analysis::Evidence& evidence) {
          if (has_all_faults()) look_at(evidence);
        }};
    RunOptions options;
    options.world = World::kSim;
    options.runs_root = out;
    options.threads = 1;
    options.watch = &watch;
    result_.folder = run_scenario(scenario_, options).folder.path.string();
    return measured();
  }

 private:
  bool has_all_faults() const { return result_.set == of_.all(); }

  void look_at(const analysis::Evidence& evidence) {
    if (watch_.look) watch_.look(evidence, result_);
    result_.tolls = fault_tolls(
        scenario_.topology, {evidence.packets(), answers_.lost_answers(), queue_pairs(scenario_)},
        fault_spans_of(scenario_), of_.groups, result_.works);
  }

  TwinMeasure measured() {
    for (size_t i = 0; i < ends_.size(); ++i) {
      std::vector<HistoryStream> streams;
      for (const Prefixes& node : prefixes_) {
        for (HistoryStream& stream : node.streams(i)) streams.push_back(std::move(stream));
      }
      const std::string digest = history_sha256(std::move(streams));
      if (i < cuts_.size()) {
        result_.prefixes.push_back({cuts_[i], digest});
      } else {
        result_.history_sha256 = digest;
      }
    }
    return std::move(result_);
  }

  const TwinCase& of_;
  const std::vector<FabricTime>& cuts_;
  const TwinWatch watch_;
  Scenario scenario_;
  std::vector<FabricTime> ends_;
  std::deque<Prefixes> prefixes_;
  FrameWatch answers_;  ///< of the run with all faults
  TwinMeasure result_;
};

}  // namespace

TwinMeasure run_twin(const TwinCase& of, FaultSet set, const std::vector<FabricTime>& cuts,
                     const TwinWatch& watch) {
  return WatchedTwin(of, set, cuts, watch).in_memory();
}

TwinMeasure run_kept_twin(const TwinCase& of, FaultSet set, const std::vector<FabricTime>& cuts,
                          const std::filesystem::path& out) {
  return WatchedTwin(of, set, cuts, {}).kept(out);
}

}  // namespace mrclab::lab
