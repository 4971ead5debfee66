#include "lab/serve/future.h"

#include "faults/schedule.h"

namespace mrclab::lab {
namespace {

/// The scenario as the page simulates it: nothing of its payload is looked at, and its faults are compiled.
Scenario prepared(Scenario scenario) {
  if (scenario.timing != TimingMode::kCarried || !scenario.programs.empty()) {
    throw InputError(scenario.name +
                     ": found a scenario that only the live world can run: expected one "
                     "with `timing: carried` and without programs");
  }
  if (scenario.stop() == FabricTime::never()) {
    throw InputError(scenario.name + ": found no end: expected a scenario with one");
  }
  scenario.payload_elided = true;
  scenario.schedule = faults::compile(scenario.faults, scenario.topology);
  return scenario;
}

}  // namespace

Future::Future(Scenario scenario)
    : scenario_(prepared(std::move(scenario))),
      recording_(std::make_unique<Recording>(scenario_.topology, scenario_.stop())),
      simulation_(std::make_unique<Simulation>(scenario_, 1, [this](NodeId node) -> NodeObserver& {
        return recording_->observer(node);
      })) {}

void Future::reach(FabricTime until, const SimWorld::GoOn& go_on) {
  until = std::min(until, end());
  if (until <= reached_) return;
  reached_ = std::max(reached_, simulation_->run(go_on, until));
  recording_->complete(reached_);
}

}  // namespace mrclab::lab
