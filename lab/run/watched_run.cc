#include "lab/run/watched_run.h"

#include <deque>

#include "analysis/history/evidence.h"
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
    Simulation simulation(scenario, 1,
                          [&](NodeId node) -> NodeObserver& { return watched[node.value]; });
    simulation.run();
    outcome.hosts = simulation.hosts();
  }
  evidence.finish();
  for (const netio::RunRecorder& recorder : recorders) {
    const auto streams = recorder.history().streams();
    outcome.history.insert(outcome.history.end(), streams.begin(), streams.end());
  }
  return analysis::judge(run_inputs(scenario, "sim", std::move(outcome)), evidence).verdict;
}

}  // namespace mrclab::lab
