#include "lab/watched_run.h"

#include <deque>

#include "analysis/evidence.h"
#include "fabric/history.h"
#include "lab/run_inputs.h"
#include "lab/simulation.h"

namespace mrclab::lab {
namespace {

/// Tells the judge, and hashes the history.
class Watch : public NodeObserver {
 public:
  Watch(NodeObserver& judge, const Topology& topology, NodeId node, FabricTime end)
      : judge_(judge), digest_(topology, node, end) {}
  void packet(const PacketRecord& record) override {
    digest_.packet(record);
    judge_.packet(record);
  }
  void event(const EventRecord& record) override { judge_.event(record); }
  const HistoryDigest& digest() const { return digest_; }

 private:
  NodeObserver& judge_;
  HistoryDigest digest_;
};

}  // namespace

analysis::Verdict run_watched(const Scenario& scenario) {
  analysis::Evidence evidence(scenario.topology, scenario.schedule, scenario.stop());
  std::deque<Watch> watches;  // by node
  for (const NodeSite& site : scenario.topology.nodes) {
    watches.emplace_back(evidence.observer(site.id), scenario.topology, site.id, scenario.stop());
  }
  WorldOutcome outcome;
  {
    Simulation simulation(scenario, 1,
                          [&](NodeId node) -> NodeObserver& { return watches[node.value]; });
    simulation.run();
    outcome.hosts = simulation.hosts();
  }
  evidence.finish();
  for (const Watch& watch : watches) {
    const auto streams = watch.digest().streams();
    outcome.history.insert(outcome.history.end(), streams.begin(), streams.end());
  }
  return analysis::judge(run_inputs(scenario, "sim", std::move(outcome)), evidence).verdict;
}

}  // namespace mrclab::lab
