#include "lab/run/watched_run.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "analysis/history/evidence.h"
#include "fabric/history/digest_observer.h"
#include "lab/run/held_simulation.h"
#include "scenario/judging/run_inputs.h"
#include "scenario/simulation/simulation.h"
#include "scenario/simulation/work_end.h"

namespace mrclab::lab {
namespace {

/// Until its end, everything into `evidence`.
WorldOutcome watch(const Scenario& scenario, analysis::Evidence& evidence) {
  const Topology& topology = scenario.topology;
  std::deque<DigestObserver> watched;  // by node
  for (const NodeSite& site : topology.nodes) {
    watched.emplace_back(topology, site.id, scenario.stop(), evidence.observer(site.id));
  }
  WorldOutcome outcome;
  {
    const auto observed = has_held_programs(scenario) ? Simulation::Observed::kWholeFrames
                                                      : Simulation::Observed::kHeaders;
    Simulation simulation(
        scenario, 1, [&](NodeId node) -> NodeObserver& { return watched[node.value]; }, nullptr,
        observed);
    std::optional<HeldSimulation> held;
    if (has_held_programs(scenario)) held.emplace(scenario, simulation, "", nullptr);
    simulation.run([&](FabricTime now) { return !held || held->step(now); });
    if (held) held->finish(outcome);
    outcome.hosts = simulation.hosts();
    outcome.jobs = simulation.jobs();
  }
  evidence.finish();
  for (const DigestObserver& node : watched) {
    const auto streams = node.history().reported();
    outcome.history.insert(outcome.history.end(), streams.begin(), streams.end());
  }
  return outcome;
}

analysis::Evidence evidence_of(const Scenario& scenario) {
  return analysis::Evidence(scenario.topology, scenario.schedule, scenario.stop(),
                            watched_at_switches(scenario));
}

analysis::Verdict judged(const Scenario& as_written, bool checks_alone) {
  const Scenario scenario = ended_with_work(as_written);
  analysis::Evidence evidence = evidence_of(scenario);
  WorldOutcome outcome = watch(scenario, evidence);
  const std::vector<analysis::CheckResult> programs = std::move(outcome.programs);
  analysis::RunInputs inputs = run_inputs(scenario, "sim", std::move(outcome));
  inputs.checks_alone = checks_alone;
  analysis::Verdict verdict = analysis::judge(inputs, evidence).verdict;
  for (const analysis::CheckResult& check : programs) add_check(verdict, check);
  return verdict;
}

}  // namespace

std::optional<std::pair<FabricTime, FabricTime>> time_of_traffic(const Scenario& as_written) {
  const Scenario scenario = ended_with_work(as_written);
  analysis::Evidence evidence = evidence_of(scenario);
  watch(scenario, evidence);
  const auto deliveries = evidence.packets().deliveries();
  if (deliveries.empty()) return std::nullopt;
  const auto earlier = [](const auto& a, const auto& b) { return a.t < b.t; };
  const auto [first, last] = std::minmax_element(deliveries.begin(), deliveries.end(), earlier);
  return std::pair(first->t, last->t);
}

analysis::Verdict run_watched(const Scenario& scenario) { return judged(scenario, false); }
analysis::Verdict run_checked(const Scenario& scenario) { return judged(scenario, true); }

}  // namespace mrclab::lab
