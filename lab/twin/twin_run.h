#pragma once
// One twin, simulated.

#include <filesystem>
#include <vector>

#include "lab/twin/twin_measure.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// Simulates the scenario with the faults of the set. `cuts`: the instants of the digests, as cuts_of() has them. Its
/// frames are headers alone, which leaves the history as it is.
TwinMeasure run_twin(const Scenario& scenario, FaultSet set, const std::vector<FabricTime>& cuts);

/// The same run once more, with all that a run leaves, below `out`. Returns its folder. Throws as run_scenario().
std::filesystem::path keep_twin(const Scenario& scenario, FaultSet set,
                                const std::filesystem::path& out);

}  // namespace mrclab::lab
