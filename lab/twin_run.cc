#include "lab/twin_run.h"

#include "analysis/evidence.h"
#include "lab/interrupt.h"
#include "lab/scenario_run.h"
#include "lab/simulation.h"

namespace mrclab::lab {

analysis::Twin twin_of(const Scenario& scenario) {
  if (scenario.timing != TimingMode::kCarried) return {};
  return [&scenario] {
    Scenario twin = scenario;
    twin.faults.clear();
    twin.schedule.clear();
    analysis::Evidence evidence(twin.topology, twin.schedule, twin.stop());
    Simulation simulation(twin, 1,
                          [&](NodeId node) -> NodeObserver& { return evidence.observer(node); });
    simulation.run([](FabricTime) { return !InterruptGuard::interrupted(); });
    if (InterruptGuard::interrupted()) throw Interrupted("interrupted");
    evidence.finish();
    return analysis::GoodputMeter(evidence.packets().deliveries());
  };
}

}  // namespace mrclab::lab
