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
  explicit SeedTwins(const Scenario& scenario) : scenario_(scenario) {
    all_ = all_faults_of(scenario.faults.size());
    runs_[all_] = run_twin(scenario, all_, {}, [&](const analysis::Evidence& evidence) {
      named_ = named_faults(
          scenario, evidence,
          analysis::find_blame(scenario.topology, evidence.packets(), evidence.events()));
    });
  }

  FaultSet all() const { return all_; }
  bool is_named(size_t fault) const { return named_[fault]; }
  /// When steps ended with these faults.
  const std::vector<FabricTime>& ends(FaultSet set) {
    auto found = runs_.find(set);
    if (found == runs_.end()) found = runs_.emplace(set, run_twin(scenario_, set, {})).first;
    for (const WorkSteps& work : found->second.works) {
      if (work.unit == "step") return work.ends;
    }
    static const std::vector<FabricTime> kNone;
    return kNone;
  }

 private:
  const Scenario& scenario_;
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
  return by_losses > FabricTime::zero() &&
         !is_negligible(by_losses.ps(), without.ps(), kHiddenOneIn);
}

FabricTime ExplainedSeed::explained_at_most() const {
  return std::clamp(explained, FabricTime::zero(), std::max(by_losses, FabricTime::zero()));
}

double ExplainedShare::of_all() const {
  FabricTime explained, all;
  for (const ExplainedSeed& seed : seeds) {
    if (!seed.is_delayed()) continue;
    explained += seed.explained_at_most();
    all += seed.by_losses;
  }
  return all == FabricTime::zero() ? 1 : share(explained, all);
}

double ExplainedShare::of_mean() const {
  double sum = 0;
  size_t delayed = 0;
  for (const ExplainedSeed& seed : seeds) {
    if (!seed.is_delayed()) continue;
    sum += share(seed.explained_at_most(), seed.by_losses);
    ++delayed;
  }
  return delayed == 0 ? 1 : sum / static_cast<double>(delayed);
}

ExplainedSeed explain_seed(const ChaosBase& base, uint64_t seed) {
  const ChaosScenario drawn = chaos_scenario(base, seed);
  const Scenario& scenario = drawn.scenario;
  ExplainedSeed result{.seed = seed, .transport = std::string(name_of(drawn.transport))};
  result.planned = job_of(scenario).spec.steps;
  SeedTwins twins(scenario);
  FaultSet silent = kNoFaults, unnamed = kNoFaults;
  for (size_t i = 0; i < scenario.faults.size(); ++i) {
    const faults::Fault& fault = scenario.faults[i];
    const bool shows = without_evidence(fault.kind).empty();
    if (!shows) silent |= fault_bit(i);
    if (shows && twins.is_named(i)) continue;
    unnamed |= fault_bit(i);
    if (shows) result.missed.push_back(describe(fault, scenario.topology));
  }
  const std::vector<std::vector<FabricTime>> ends{twins.ends(twins.all()), twins.ends(kNoFaults),
                                                  twins.ends(silent), twins.ends(unnamed)};
  result.steps = std::min_element(ends.begin(), ends.end(), [](const auto& a, const auto& b) {
                   return a.size() < b.size();
                 })->size();
  if (result.steps == 0) return result;
  const auto end = [&](size_t run) { return ends[run][result.steps - 1]; };
  result.without = end(1) - start_of(scenario.workload.front());
  result.delay = end(0) - end(1);
  result.by_losses = end(0) - end(2);
  result.explained = end(0) - end(3);
  return result;
}

}  // namespace mrclab::lab
