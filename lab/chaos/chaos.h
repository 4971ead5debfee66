#pragma once
// The verb `chaos`: seeds to results, on as many processes as the machine has cores.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lab/chaos/chaos_result.h"
#include "lab/chaos/chaos_scenario.h"
#include "lab/run/scenario_run.h"

namespace mrclab::lab {

/// Runs the seed in the simulator, in memory, and judges it.
SeedResult run_chaos_seed(const ChaosBase& base, uint64_t seed);

/// How a run came out, as chaos says it.
SeedResult seed_result(const ChaosScenario& drawn, const analysis::Verdict& verdict);

struct ChaosOptions {
  std::string base;  ///< a fabric or a scenario; empty to merge
  std::string seeds = "1-100";
  std::string shard = "1/1";
  World world = World::kSim;
  uint32_t jobs = 0;                         ///< processes; 0: as many as cores
  bool json = false;                         ///< the report goes to stdout, all else to stderr
  std::vector<std::filesystem::path> merge;  ///< join these reports instead
  std::filesystem::path out = "runs";        ///< where the run folders of failing seeds go
  uint32_t keep = 5;                         ///< so many failing seeds get a run folder
  /// Run programs of another user's scenario without asking.
  bool programs = false;
};

/// 0 all passed, 1 a seed failed, 3 a seed was inconclusive, missing (merge), or not run because
/// the user did not wait; what was run is reported all the same. Throws InputError.
int chaos_command(const ChaosOptions& options);

}  // namespace mrclab::lab
