#include "scenario/judging/twin_run.h"

#include "analysis/history/evidence.h"
#include "console/interrupt.h"
#include "scenario/simulation/simulation.h"

namespace mrclab::lab {

analysis::Twin twin_of(const Scenario& scenario, IsInterrupted interrupted) {
  if (scenario.timing != TimingMode::kCarried) return {};
  return [&scenario, interrupted = std::move(interrupted)] {
    Scenario twin = scenario;
    twin.faults.clear();
    twin.schedule.clear();
    analysis::Evidence evidence(twin.topology, twin.schedule, twin.stop());
    Simulation simulation(twin, 1,
                          [&](NodeId node) -> NodeObserver& { return evidence.observer(node); });
    const auto ended = [&] { return interrupted && interrupted(); };
    simulation.run([&](FabricTime) { return !ended(); });
    if (ended()) throw Interrupted("interrupted");
    evidence.finish();
    return analysis::GoodputMeter(evidence.packets().deliveries());
  };
}

}  // namespace mrclab::lab
