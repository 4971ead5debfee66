#pragma once
// A scenario in the live world, as run_scenario() wants it: namespaces, daemons, packets, and whoever
// meddles.

#include <optional>

#include "lab/scenario_run.h"
#include "lab/world_outcome.h"

namespace mrclab::lab {

/// What Interrupted says of a run that had not begun; of any other it says where it was.
inline constexpr const char* kBeforeItBegan = "before it began";

/// Nothing of the lab is left behind. `happened` gets the scenario with what others did to the lab, if
/// they did. Throws Interrupted, SystemError.
WorldOutcome run_live(const Scenario& scenario, const RunOptions& options, const RunFolder& folder,
                      RunResult& result, std::optional<Scenario>& happened);

}  // namespace mrclab::lab
