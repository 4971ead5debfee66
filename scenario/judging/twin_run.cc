#include "scenario/judging/twin_run.h"

#include "analysis/history/evidence.h"
#include "analysis/incident/incident_cost.h"
#include "console/interrupt.h"
#include "scenario/simulation/simulation.h"

namespace mrclab::lab {

analysis::Twin twin_of(const Scenario& scenario, IsInterrupted interrupted) {
  // Programs may have effects outside, and run once.
  if (scenario.timing != TimingMode::kCarried || !scenario.programs.empty()) return {};
  return [&scenario, interrupted = std::move(interrupted)] {
    Scenario twin = scenario;
    twin.faults.clear();
    twin.schedule.clear();
    twin.payload_elided = true;  // the history is the same, and less is computed
    analysis::Evidence evidence(twin.topology, twin.schedule, twin.stop());
    Simulation simulation(twin, 1,
                          [&](NodeId node) -> NodeObserver& { return evidence.observer(node); });
    const auto ended = [&] { return interrupted && interrupted(); };
    simulation.run([&](FabricTime) { return !ended(); });
    if (ended()) throw Interrupted("interrupted");
    evidence.finish();
    return analysis::TwinRun{analysis::GoodputMeter(evidence.packets().deliveries()),
                             analysis::completion(simulation.hosts(), evidence.packets())};
  };
}

}  // namespace mrclab::lab
