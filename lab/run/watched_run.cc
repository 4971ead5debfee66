#include "lab/run/watched_run.h"

#include <deque>
#include <optional>

#include "analysis/history/evidence.h"
#include "lab/run/held_simulation.h"
#include "lab/run/watched_node.h"
#include "netio/record/run_recorder.h"
#include "scenario/judging/run_inputs.h"
#include "scenario/simulation/simulation.h"

namespace mrclab::lab {

analysis::Verdict run_watched(const Scenario& scenario) {
  const Topology& topology = scenario.topology;
  analysis::Evidence evidence(topology, scenario.schedule, scenario.stop(),
                              watched_at_switches(scenario));
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
  }
  evidence.finish();
  for (const netio::RunRecorder& recorder : recorders) {
    const auto streams = recorder.history().streams();
    outcome.history.insert(outcome.history.end(), streams.begin(), streams.end());
  }
  const std::vector<analysis::CheckResult> programs = std::move(outcome.programs);
  analysis::Verdict verdict =
      analysis::judge(run_inputs(scenario, "sim", std::move(outcome)), evidence).verdict;
  for (const analysis::CheckResult& check : programs) add_check(verdict, check);
  return verdict;
}

}  // namespace mrclab::lab
