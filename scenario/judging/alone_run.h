#pragma once
// A job without its neighbours: the same scenario, seed and faults in the simulator, where no other workload begins. Their
// queue pairs are there, so that the job's own are the same.

#include "analysis/checks/twin.h"
#include "console/interrupt.h"
#include "scenario/spec/scenario_value.h"

namespace mrclab::lab {

/// A function that simulates a job alone when it is first asked for, and keeps the result; empty for a scenario that only
/// the wall clock times, and with programs. `scenario` outlives it. It throws Interrupted.
analysis::AloneRun alone_of(const Scenario& scenario, IsInterrupted interrupted = {});

}  // namespace mrclab::lab
