#pragma once
// One twin, simulated.

#include <filesystem>
#include <functional>
#include <vector>

#include "analysis/history/evidence.h"

#include "lab/twin/twin_measure.h"
#include "lab/twin/twin_set.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// What else is asked of the packets of a run, which are there no longer than that.
using LookAtEvidence = std::function<void(const analysis::Evidence&)>;

/// Simulates the scenario with the faults of the set. `cuts`: the instants of the digests, as cuts_of() has them. Its
/// frames are headers alone, which leaves the history as it is. `look` is called in the run with all faults alone.
TwinMeasure run_twin(const TwinCase& of, FaultSet set, const std::vector<FabricTime>& cuts,
                     const LookAtEvidence& look = {});

/// The same, with all that a run leaves, below `out`: the measure has its folder. Throws as run_scenario().
TwinMeasure run_kept_twin(const TwinCase& of, FaultSet set, const std::vector<FabricTime>& cuts,
                          const std::filesystem::path& out);

}  // namespace mrclab::lab
