#pragma once
// The verb `replay`: a run again from what its folder has, and whether it came out the same.

#include <filesystem>
#include <optional>

#include "lab/run/scenario_run.h"
#include "recorded/folder/run_folder.h"

namespace mrclab::lab {

struct ReplayOptions {
  std::filesystem::path run;   ///< a run folder, or "latest"
  std::optional<World> world;  ///< empty: the one that it ran in
  std::filesystem::path out = default_runs();
  bool json = false;
  bool programs = false;  ///< run the recorded scenario's programs again without asking
};

/// Returns 0: the same history; 1: another one, and the first difference is printed; 3: another
/// one, but one of the two was not faithful, which promises no equal history. Throws InputError.
int replay_command(const ReplayOptions& options);

}  // namespace mrclab::lab
