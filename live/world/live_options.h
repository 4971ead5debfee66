#pragma once
// A scenario as the live world is given it.

#include "live/world/live_lab_options.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// Fabric, seed, schedule, workload, transport, pace; stops where a run of it stops. No name, no
/// folder and no captures.
LiveLabOptions live_options_of(const Scenario& scenario);

}  // namespace mrclab::lab
