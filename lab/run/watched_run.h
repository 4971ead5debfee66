#pragma once
// A run of the simulator that leaves no file: its nodes are watched while they run, and the judge
// sees the same as in the files of such a run.

#include "analysis/verdict/verdict.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// The verdict that run_scenario would come to, metrics about files apart.
analysis::Verdict run_watched(const Scenario& scenario);

}  // namespace mrclab::lab
