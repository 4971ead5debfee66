#include "session/branch.h"

#include "faults/schedule.h"

namespace mrclab::lab {

Scenario playable(Scenario scenario) {
  if (scenario.timing != TimingMode::kCarried || !scenario.programs.empty()) {
    throw InputError(scenario.name +
                     ": found a scenario that needs the time of the wall: expected one with "
                     "`timing: carried` and without programs");
  }
  if (scenario.stop() == FabricTime::never()) {
    throw InputError(scenario.name + ": found no end: expected a scenario with one");
  }
  scenario.schedule = faults::compile(scenario.faults, scenario.topology);
  return scenario;
}

}  // namespace mrclab::lab
