#pragma once
// The judge's inputs for a run, whether from files or from watched nodes.

#include <string>

#include "analysis/judge/analyze.h"
#include "console/interrupt.h"
#include "scenario/judging/world_outcome.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// The scenario's faults, and what they impair until it stops.
std::vector<analysis::FaultSpan> fault_spans_of(const Scenario& scenario);

/// What the judge may watch at switches: as much as the scenario's captures would show.
analysis::Evidence::AtSwitches watched_at_switches(const Scenario& scenario);
/// The hosts that `follow` names.
analysis::FollowedSenders followed_senders(const Scenario& scenario);

/// Everything but the files. `scenario` outlives it. `world` is "live" or "sim".
analysis::RunInputs run_inputs(const Scenario& scenario, std::string world, WorldOutcome&& outcome,
                               IsInterrupted interrupted = {});

}  // namespace mrclab::lab
