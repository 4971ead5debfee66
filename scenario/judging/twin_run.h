#pragma once
// The fault-free twin of a run: the same scenario and seed in the simulator, without its faults.

#include "analysis/checks/twin.h"
#include "console/interrupt.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// A function that simulates the twin when it is called; empty for a scenario that only the wall
/// clock can run. `scenario` outlives it. It throws Interrupted.
analysis::Twin twin_of(const Scenario& scenario, IsInterrupted interrupted = {});

}  // namespace mrclab::lab
