#pragma once
// One twin, simulated.

#include <filesystem>
#include <functional>
#include <vector>

#include "analysis/history/evidence.h"
#include "fabric/node/node.h"
#include "lab/twin/twin_measure.h"
#include "lab/twin/twin_set.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// What else is asked of the run with all faults.
struct TwinWatch {
  /// Of each node, beside those that the run has; empty: none. They outlive the run.
  std::function<NodeObserver&(NodeId)> observer;
  /// Called with the packets, which are there no longer than that, and with what was measured by then; empty: nothing is.
  std::function<void(const analysis::Evidence&, const TwinMeasure&)> look;
};

/// Simulates the scenario with the faults of the set. `cuts`: the instants of the digests, as cuts_of() has them. Its
/// frames are headers alone, which leaves the history as it is. `watch` is of the run with all faults alone.
TwinMeasure run_twin(const TwinCase& of, FaultSet set, const std::vector<FabricTime>& cuts,
                     const TwinWatch& watch = {});

/// The same, with all that a run leaves, below `out`: the measure has its folder. Throws as run_scenario().
TwinMeasure run_kept_twin(const TwinCase& of, FaultSet set, const std::vector<FabricTime>& cuts,
                          const std::filesystem::path& out);

}  // namespace mrclab::lab
