#pragma once
// The fault-free twin of a run: the same scenario and seed in the simulator, without its faults.

#include "analysis/twin.h"
#include "lab/scenario.h"

namespace mrclab::lab {

/// Simulates when it is called. Empty for a scenario that only the wall clock can run. `scenario`
/// outlives it.
analysis::Twin twin_of(const Scenario& scenario);

}  // namespace mrclab::lab
