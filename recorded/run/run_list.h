#pragma once
// The verb `runs`: the run folders in a folder, how they ended, how large they are; and taking away what is not needed
// any more.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "recorded/folder/run_folder.h"

namespace mrclab::lab {

struct RunListOptions {
  std::filesystem::path folder = default_runs();
  std::optional<uint32_t> keep;        ///< the newest so many stay, the others are chosen
  std::optional<uint32_t> older_days;  ///< those that are older are chosen
  bool erase = false;                  ///< what is chosen is deleted; else only named
  bool json = false;
};

struct ListedRun {
  std::filesystem::path path;
  std::string
      result;  ///< "pass", "fail", "inconclusive", "unjudged", or "?" of a verdict that cannot be read
  std::string world;  ///< "live", "sim", or "?"
  uint64_t bytes = 0;
};

/// Newest first, by the UTC time in their names. A folder is a run's if its name begins as make_run_folder() has it and
/// it holds a scenario; links are left out. Throws InputError where `folder` cannot be read.
std::vector<ListedRun> list_runs(const std::filesystem::path& folder);

/// 0, or 1 if one could not be deleted. Throws InputError.
int runs_command(const RunListOptions& options);

}  // namespace mrclab::lab
