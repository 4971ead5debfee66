#include "lab/twin/explained_share.h"

#include <algorithm>
#include <map>

#include "analysis/blame/blame.h"
#include "faults/fault.h"
#include "lab/chaos/blame_score.h"
#include "lab/chaos/blame_target.h"
#include "lab/twin/twin_report.h"
#include "lab/twin/twin_run.h"

namespace mrclab::lab {
namespace {

/// The runs of one seed, each set of faults simulated once.
class SeedTwins {
 public:
  explicit SeedTwins(const Scenario& scenario) : twins_(scenario) {
    all_ = all_faults_of(scenario.faults.size());
    runs_[all_] = run_twin(twins_, all_, {}, [&](const analysis::Evidence& evidence) {
      named_ = named_faults(
          scenario, evidence,
          analysis::find_blame(scenario.topology, evidence.packets(), evidence.events()));
    });
  }

  FaultSet all() const { return all_; }
  bool is_named(size_t fault) const { return named_[fault]; }
  bool took_packets(size_t fault) const { return runs_.at(all_).tolls[fault].packets > 0; }
  /// When steps ended with these faults.
  const std::vector<FabricTime>& ends(FaultSet set) {
    auto found = runs_.find(set);
    if (found == runs_.end()) found = runs_.emplace(set, run_twin(twins_, set, {})).first;
    for (const WorkSteps& work : found->second.works) {
      if (work.unit == "step") return work.ends;
    }
    static const std::vector<FabricTime> kNone;
    return kNone;
  }

 private:
  TwinCase twins_;
  FaultSet all_ = kNoFaults;
  std::vector<bool> named_;
  std::map<FaultSet, TwinMeasure> runs_;
};

const endpoint::JobWorkload& job_of(const Scenario& scenario) {
  for (const endpoint::WorkloadSpec& spec : scenario.workload) {
    if (const auto* job = std::get_if<endpoint::JobWorkload>(&spec)) return *job;
  }
  throw InputError(scenario.name + ": found no job: expected one, whose steps are late");
}

double share(FabricTime part, FabricTime whole) {
  return static_cast<double>(part.ps()) / static_cast<double>(whole.ps());
}

}  // namespace

bool ExplainedSeed::is_delayed() const {
  return due > FabricTime::zero() && !is_negligible(due.ps(), without.ps(), kHiddenOneIn);
}

FabricTime ExplainedSeed::capped(const ExplainedDelay& explained) const {
  return std::clamp(explained.time, FabricTime::zero(), std::max(due, FabricTime::zero()));
}

ExplainedShare share_of(const std::vector<ExplainedSeed>& seeds,
                        ExplainedDelay ExplainedSeed::*explained) {
  FabricTime part, all;
  double sum = 0;
  size_t delayed = 0;
  for (const ExplainedSeed& seed : seeds) {
    if (!seed.is_delayed()) continue;
    const FabricTime of_seed = seed.capped(seed.*explained);
    part += of_seed;
    all += seed.due;
    sum += share(of_seed, seed.due);
    ++delayed;
  }
  if (delayed == 0) return {};
  return {share(part, all), sum / static_cast<double>(delayed)};
}

ExplainedSeed explain_seed(const ChaosBase& base, uint64_t seed) {
  const ChaosScenario drawn = chaos_scenario(base, seed);
  const Scenario& scenario = drawn.scenario;
  ExplainedSeed result;
  result.seed = seed;
  result.transport = name_of(drawn.transport);
  result.planned = job_of(scenario).spec.steps;
  SeedTwins twins(scenario);
  FaultSet silent = kNoFaults, without_losses = kNoFaults, unnamed = kNoFaults;
  for (size_t i = 0; i < scenario.faults.size(); ++i) {
    const faults::Fault& fault = scenario.faults[i];
    const bool shows = without_evidence(fault.kind).empty();
    const std::string text = describe(fault, scenario.topology);
    if (!shows) silent |= fault_bit(i);
    if (!shows || !twins.took_packets(i)) without_losses |= fault_bit(i);
    if (!shows || !twins.is_named(i)) unnamed |= fault_bit(i);
    if (shows && !twins.took_packets(i)) result.by_losses.missed.push_back(text);
    if (shows && !twins.is_named(i)) result.by_blame.missed.push_back(text);
  }
  const std::vector<std::vector<FabricTime>> ends{twins.ends(twins.all()), twins.ends(kNoFaults),
                                                  twins.ends(silent), twins.ends(without_losses),
                                                  twins.ends(unnamed)};
  result.steps = std::min_element(ends.begin(), ends.end(), [](const auto& a, const auto& b) {
                   return a.size() < b.size();
                 })->size();
  if (result.steps == 0) return result;
  const auto end = [&](size_t run) { return ends[run][result.steps - 1]; };
  result.without = end(1) - start_of(scenario.workload.front());
  result.delay = end(0) - end(1);
  result.due = end(0) - end(2);
  result.by_losses.time = end(0) - end(3);
  result.by_blame.time = end(0) - end(4);
  return result;
}

}  // namespace mrclab::lab
