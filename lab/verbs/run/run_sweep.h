#pragma once
// `run --set KEY=V1,V2 --seeds 1-20`: every combination of values with every seed, as one table with the spread.

#include "lab/verbs/run/run_command.h"

namespace mrclab::lab {

/// Our choice: runs of a sweep in all; more are a campaign of chaos.
inline constexpr size_t kMaxSweepRuns = 4096;

/// Is that more than one run of each scenario, or asked for as a table?
bool is_sweep(const RunCommandOptions& options);

/// The worst exit code of all runs, as run_command(). Simulated runs leave no folder. Throws InputError.
int sweep_command(const RunCommandOptions& options);

}  // namespace mrclab::lab
