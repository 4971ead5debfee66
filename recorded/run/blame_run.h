#pragma once
// Blame out of a run folder.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/blame/blame_result.h"

namespace mrclab::lab {

struct BlamedRun {
  std::vector<analysis::Blame> blames;
  /// Transmissions of data that were lost: in queues that had no room, or otherwise.
  uint64_t congested = 0, lost_otherwise = 0;
  std::string
      not_told;  ///< a sentence about losses without a place (analysis/blame/blame.h); empty: there are none
};

/// Reads the fabric of its scenario, its captures and events, and of its verdict what the kernel lost; not the
/// schedule. `folder` is a run folder, or "latest". Throws InputError.
BlamedRun blame_of_run(const std::filesystem::path& folder);

}  // namespace mrclab::lab
