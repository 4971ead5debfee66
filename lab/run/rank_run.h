#pragma once
// `mpirun -n N mrclab run ... --world sim`: rank 0 is the command that the user typed. The other ranks
// take its jobs: they simulate their part of the nodes, write the files of it into rank 0's run folder,
// which they must see, too, and leave a report there, which rank 0 reads and removes.

#include <memory>

#include "lab/run/simulated_run.h"
#include "recorded/folder/run_folder.h"
#include "scenario/judging/world_outcome.h"
#include "scenario/spec/scenario.h"
#include "sim/sim_world.h"

namespace mrclab::lab {

/// Called by rank 0. Runs the scenario, whose resolved form lies in the folder, over all ranks. Returns
/// what all of them left. Throws std::runtime_error where another rank could not take part or go on.
WorldOutcome run_over_ranks(const Scenario& scenario, const RunFolder& folder,
                            const SimOptions& options, const SimWorld::GoOn& go_on);

/// Called by all other ranks. Takes jobs until rank 0 dismisses them.
void take_rank_jobs(RankLink& ranks);

/// Called by rank 0, once, when there are no more jobs.
void dismiss_ranks(RankLink& ranks);

/// What mpirun has started: rank 0, which runs the verb, and others, which take its jobs until it lets go of this. Null
/// where mpirun has not. Throws std::runtime_error where they do not fit together.
using JoinedRanks = std::unique_ptr<RankLink, void (*)(RankLink*)>;
JoinedRanks join_same_ranks();

/// `main` of the other ranks. mpirun sends its signals to every rank; rank 0 answers them for all.
int follow_first_rank(RankLink& ranks);

}  // namespace mrclab::lab
