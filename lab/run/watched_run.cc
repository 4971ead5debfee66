#include "lab/run/watched_run.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "analysis/history/evidence.h"
#include "lab/run/held_simulation.h"
#include "lab/run/watched_node.h"
#include "netio/record/run_recorder.h"
#include "scenario/judging/run_inputs.h"
#include "scenario/simulation/simulation.h"

namespace mrclab::lab {
namespace {

/// Until its end, everything into `evidence`.
WorldOutcome watch(const Scenario& scenario, analysis::Evidence& evidence) {
  const Topology& topology = scenario.topology;
  std::deque<netio::RunRecorder> recorders;  // by node, for the digest alone
  std::deque<WatchedNode> watched;
  for (const NodeSite& site : topology.nodes) {
    recorders.emplace_back(topology, site.id, scenario.stop(), nullptr, false, nullptr);
    watched.emplace_back(recorders.back(), evidence.observer(site.id));
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
  for (const netio::RunRecorder& recorder : recorders) {
    const auto streams = recorder.history().reported();
    outcome.history.insert(outcome.history.end(), streams.begin(), streams.end());
  }
  return outcome;
}

analysis::Evidence evidence_of(const Scenario& scenario) {
  return analysis::Evidence(scenario.topology, scenario.schedule, scenario.stop(),
                            watched_at_switches(scenario));
}

analysis::Verdict judged(const Scenario& scenario, bool checks_alone) {
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

std::optional<std::pair<FabricTime, FabricTime>> time_of_traffic(const Scenario& scenario) {
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
