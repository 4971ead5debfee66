#pragma once
// The verb `chaos`: seeds to results, on as many processes as the machine has cores.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lab/chaos/chaos_result.h"
#include "lab/chaos/chaos_scenario.h"
#include "lab/chaos/task_pool.h"
#include "lab/run/scenario_run.h"
#include "recorded/folder/run_folder.h"

namespace mrclab::lab {

/// Runs the seed in the simulator, in memory, and judges it.
SeedResult run_chaos_seed(const ChaosBase& base, uint64_t seed);

/// The same as text between processes, and what the parent makes of it: a seed whose process ended has failed by
/// that.
std::string chaos_seed_text(const ChaosBase& base, uint64_t seed);
SeedResult result_of_answer(const ChaosBase& base, uint64_t seed, const TaskPool::Answer& answer);

/// The result of a run, as chaos reports it.
SeedResult seed_result(const ChaosScenario& drawn, const analysis::Verdict& verdict);

struct ChaosOptions {
  std::string base;  ///< a fabric or a scenario; empty to merge
  std::string seeds = "1-100";
  std::string shard = "1/1";
  World world = World::kSim;
  uint32_t jobs = 0;  ///< processes; 0: as many as cores
  bool json = false;  ///< the report goes to stdout, all else to stderr
  /// The report goes to this file, whole or not at all, and a seed that fails does not fail the command. Where the
  /// file already has the report of these seeds nothing is run. Empty: not.
  std::filesystem::path save;
  std::vector<std::filesystem::path> merge;    ///< join these reports instead
  std::filesystem::path out = default_runs();  ///< where the run folders of failing seeds go
  uint32_t keep = 5;                           ///< so many failing seeds get a run folder
  /// Run programs of another user's scenario without asking.
  bool programs = false;
};

/// Where the scenario has programs, runs it once without faults to see when they send. Not before they were consented to.
ChaosBase with_traffic(ChaosBase base);
/// load_chaos_base(), after asking before programs of another user's scenario are run; `programs`: without asking.
ChaosBase load_consented_base(const std::string& word, bool programs);
/// The same where a file names the base, not the user: asks before any programs of it are run, whose ever it is.
ChaosBase load_foreign_base(const std::string& word, bool programs);
/// Does the base run programs of its own?
bool runs_programs(const ChaosBase& base);

/// Reports of one job as one, in words as well.
struct MergedChaos {
  MergedReport merged;
  std::string text;
  int code = 0;  ///< as chaos_command()'s
};
/// `stream`: where the text will go, for its colours; nullptr: a file, without. Throws InputError.
MergedChaos merge_reports(const std::vector<std::filesystem::path>& files,
                          std::FILE* stream = nullptr);

/// 0 all passed, 1 a seed failed, 3 a seed was inconclusive, missing (merge), or not run because
/// the user did not wait; what was run is reported all the same. Throws InputError.
int chaos_command(const ChaosOptions& options);

}  // namespace mrclab::lab
