#include "lab/twin/explained_share.h"

#include <algorithm>
#include <map>

#include "analysis/blame/blame.h"
#include "faults/fault.h"
#include "lab/chaos/blame_score.h"
#include "lab/twin/twin_report.h"
#include "lab/twin/twin_run.h"

namespace mrclab::lab {
namespace {

/// When the steps of the job had ended.
const std::vector<FabricTime>& step_ends(const TwinMeasure& run) {
  for (const WorkSteps& work : run.works) {
    if (work.unit == "step") return work.ends;
  }
  static const std::vector<FabricTime> kNone;
  return kNone;
}

/// The runs of one seed, each set of faults simulated once.
class SeedTwins {
 public:
  SeedTwins(const Scenario& scenario, uint32_t steps)
      : twins_(scenario), frames_(scenario.topology, delaying_wires(scenario)) {
    const auto look = [&](const analysis::Evidence& evidence, const TwinMeasure& run) {
      const std::vector<FabricTime>& ends = step_ends(run);
      const bool over = ends.size() == steps;
      signs_ = fault_signs(scenario, evidence, frames_, over ? ends.back() : FabricTime::never());
      named_ = named_faults(
          scenario, evidence,
          analysis::find_blame(scenario.topology, evidence.packets(), evidence.events()));
    };
    const TwinWatch watch{[&](NodeId node) -> NodeObserver& { return frames_.observer(node); },
                          look};
    runs_[twins_.all()] = run_twin(twins_, twins_.all(), {}, watch);
  }

  FaultSet all() const { return twins_.all(); }
  bool is_named(size_t fault) const { return named_[fault]; }
  const FaultSigns& signs(size_t fault) const { return signs_[fault]; }
  const std::vector<FabricTime>& ends(FaultSet set) {
    auto found = runs_.find(set);
    if (found == runs_.end()) found = runs_.emplace(set, run_twin(twins_, set, {})).first;
    return step_ends(found->second);
  }

 private:
  TwinCase twins_;
  FrameWatch frames_;
  std::vector<FaultSigns> signs_;
  std::vector<bool> named_;
  std::map<FaultSet, TwinMeasure> runs_;
};

const endpoint::JobWorkload& job_of(const Scenario& scenario) {
  for (const endpoint::WorkloadSpec& spec : scenario.workload) {
    if (const auto* job = std::get_if<endpoint::JobWorkload>(&spec)) return *job;
  }
  throw InputError(scenario.name + ": found no job: expected one, whose steps are late");
}

/// By how much the lengths of the first steps differ, all together.
FabricTime difference(const std::vector<FabricTime>& a, const std::vector<FabricTime>& b,
                      size_t steps) {
  FabricTime sum;
  for (size_t i = 0; i < steps; ++i) {
    const FabricTime before = i == 0 ? FabricTime::zero() : a[i - 1] - b[i - 1];
    const FabricTime longer = a[i] - b[i] - before;
    sum += std::max(longer, FabricTime::zero() - longer);
  }
  return sum;
}

double share(FabricTime part, FabricTime whole) {
  return static_cast<double>(part.ps()) / static_cast<double>(whole.ps());
}

}  // namespace

bool ExplainedSeed::is_delayed() const {
  return due > FabricTime::zero() && !is_negligible(due.ps(), without.ps(), kHiddenOneIn);
}

ExplainedShare share_of(const std::vector<ExplainedSeed>& seeds,
                        ExplainedDelay ExplainedSeed::*explained) {
  FabricTime part, all;
  double sum = 0;
  size_t delayed = 0;
  for (const ExplainedSeed& seed : seeds) {
    if (!seed.is_delayed()) continue;
    const FabricTime of_seed = (seed.*explained).time;
    part += of_seed;
    all += seed.due;
    sum += share(of_seed, seed.due);
    ++delayed;
  }
  if (delayed == 0) return {};
  return {share(part, all), sum / static_cast<double>(delayed)};
}

ExplainedSeed explain_seed(const ChaosBase& base, uint64_t seed, const SignsSeen& seen) {
  const ChaosScenario drawn = chaos_scenario(base, seed);
  const Scenario& scenario = drawn.scenario;
  ExplainedSeed result;
  result.seed = seed;
  result.transport = name_of(drawn.transport);
  result.planned = job_of(scenario).spec.steps;
  SeedTwins twins(scenario, job_of(scenario).spec.steps);
  FaultSet silent = kNoFaults, not_shown = kNoFaults;
  std::array<FaultSet, 4> found_faults{};  // by each of the four below, with the silent ones
  const std::array<ExplainedDelay*, 4> explained{&result.by_signs, &result.by_losses,
                                                 &result.by_data, &result.by_blame};
  for (size_t i = 0; i < scenario.faults.size(); ++i) {
    const faults::Fault& fault = scenario.faults[i];
    const bool is_due = !without_signs(fault.kind);
    const auto shows = [&](Sign sign) {
      const auto place = static_cast<size_t>(sign);
      return seen[place] && twins.signs(i)[place] > 0;
    };
    const bool data = shows(Sign::kData), lost = data || shows(Sign::kAnswers);
    const bool any = lost || shows(Sign::kHeld) || shows(Sign::kLate) || shows(Sign::kMarked) ||
                     shows(Sign::kPaused) || shows(Sign::kAvoided);
    const std::array<bool, 4> found{any, lost, data, twins.is_named(i)};
    if (!is_due) silent |= fault_bit(i);
    result.faults_due += is_due ? 1 : 0;
    result.faults_shown += is_due && any ? 1 : 0;
    if (!is_due || !any) not_shown |= fault_bit(i);
    for (size_t by = 0; by < found.size(); ++by) {
      if (!is_due || found[by]) found_faults[by] |= fault_bit(i);
      if (is_due && !found[by]) {
        explained[by]->missed.push_back(describe(fault, scenario.topology));
      }
    }
  }
  std::vector<std::vector<FabricTime>> ends{twins.ends(twins.all()), twins.ends(kNoFaults),
                                            twins.ends(silent), twins.ends(not_shown)};
  for (const FaultSet set : found_faults) ends.push_back(twins.ends(set));
  const size_t steps = std::min_element(ends.begin(), ends.end(), [](const auto& a, const auto& b) {
                         return a.size() < b.size();
                       })->size();
  result.steps = steps;
  if (steps == 0) return result;
  const auto end = [&](size_t run) { return ends[run][steps - 1]; };
  result.without = end(1) - start_of(scenario.workload.front());
  result.delay = end(0) - end(1);
  result.gone = end(0) - end(3);
  result.due = difference(ends[0], ends[2], steps);
  for (size_t by = 0; by < found_faults.size(); ++by) {
    explained[by]->time =
        std::max(result.due - difference(ends[0], ends[4 + by], steps), FabricTime::zero());
  }
  return result;
}

}  // namespace mrclab::lab
