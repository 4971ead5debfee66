#pragma once
// A scenario in the simulated world, for run_scenario(): watched, with progress, interruptible.

#include <optional>

#include "analysis/history/evidence.h"
#include "lab/run/run_options.h"
#include "lab/run/simulated_run.h"
#include "scenario/judging/world_outcome.h"
#include "scenario/spec/scenario_value.h"

namespace mrclab::lab {

/// `evidence` is empty where several threads or ranks run: their nodes are not watched, and the
/// judge reads files.
WorldOutcome run_sim(const Scenario& scenario, const RunOptions& options, const RunFolder& folder,
                     RunResult& result, std::optional<analysis::Evidence>& evidence);

}  // namespace mrclab::lab
