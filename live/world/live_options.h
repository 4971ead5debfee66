#pragma once
// A scenario as the live world is given it.

#include "live/world/live_lab_options.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// What a lab is by itself (its name, folder, captures, processes), with the scenario's fabric, seed, schedule, workload,
/// transport and pace. Without an `end` of its own the lab stays at the end, and can be looked at.
LiveLabOptions live_options_of(const Scenario& scenario, LiveLabOptions own);

}  // namespace mrclab::lab
