#pragma once
// A run of the simulator that leaves no file: its nodes are watched while they run, and the judge
// sees the same as in the files of such a run.

#include <optional>
#include <utility>

#include "analysis/verdict/verdict.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// The verdict that run_scenario would come to, metrics about files apart.
analysis::Verdict run_watched(const Scenario& scenario);
/// The same, but for what RunInputs::checks_alone leaves out.
analysis::Verdict run_checked(const Scenario& scenario);

/// When the first and when the last packet arrived in a run of it; nothing arrived: empty. A function of the scenario.
std::optional<std::pair<FabricTime, FabricTime>> time_of_traffic(const Scenario& scenario);

}  // namespace mrclab::lab
