#include "session/simulated_branch.h"

#include "fabric/history/report_json.h"
#include "scenario/simulation/work_end.h"
#include "switchd/switch_node.h"
#include "switchd/table_json.h"

namespace mrclab::lab {
namespace {

Scenario without_payload(Scenario scenario) {
  scenario.payload_elided = true;
  return scenario;
}

}  // namespace

Scenario played_to_its_end(Scenario scenario) {
  return ended_with_work(playable(std::move(scenario)));
}

SimulatedBranch::SimulatedBranch(Scenario scenario, size_t max_packets)
    : Branch(without_payload(playable(std::move(scenario))), max_packets),
      watch_(*recording_, scenario_.topology, scenario_.stop()),
      simulation_(std::make_unique<Simulation>(
          scenario_, 1, [this](NodeId node) -> NodeObserver& { return watch_.observer(node); })) {}

void SimulatedBranch::reach(FabricTime until, const GoOn& go_on) {
  until = std::min(until, end());
  if (until <= reached_) return;
  reached_ = std::max(reached_, simulation_->run(go_on, until));
  recording_->complete(reached_);
}

SwitchStatus SimulatedBranch::status_of(const NodeSite& site) const {
  const switchd::SwitchNode& node = simulation_->switch_at(site.id);
  SwitchStatus words;
  words.table = switchd::table_json(node);
  if (const std::optional<NodePauses> pauses = node.pauses()) {
    words.pauses = report_to_json(*pauses);
  }
  for (const auto& [name, value] : node.named_counters()) words.counters[std::string(name)] = value;
  return words;
}

}  // namespace mrclab::lab
