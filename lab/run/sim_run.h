#pragma once
// A scenario in the simulated world, for run_scenario(): watched, with progress, interruptible.

#include <optional>

#include "analysis/history/evidence.h"
#include "lab/run/run_options.h"
#include "lab/run/simulated_run.h"
#include "scenario/judging/world_outcome.h"
#include "scenario/spec/scenario_value.h"

namespace mrclab::lab {

/// `evidence` is empty where ranks run, or threads that may not watch (is_watched_by_threads): the judge reads files.
WorldOutcome run_sim(const Scenario& scenario, const RunOptions& options, const RunFolder& folder,
                     RunResult& result, std::optional<analysis::Evidence>& evidence);

}  // namespace mrclab::lab
