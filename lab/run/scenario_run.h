#pragma once
// One execution of a scenario in a world, from an empty run folder to a verdict.

#include "console/interrupt.h"
#include "lab/run/run_options.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// `guard`, which outlives the run, ends it.
void end_on_interrupt(InterruptGuard& guard, RunOptions& options);

/// Runs the scenario. Throws InputError, SystemError, Interrupted; nothing of the lab is left
/// behind. A simulated run that is interrupted is judged up to there, unless that takes longer than
/// the caller (InterruptGuard) waits. Any other keeps its folder, marked as having no
/// verdict; `latest` stays where it was. The captures of a live run would have to be read first,
/// which takes too long.
RunResult run_scenario(const Scenario& scenario, const RunOptions& options);

}  // namespace mrclab::lab
