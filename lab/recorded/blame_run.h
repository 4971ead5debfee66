#pragma once
// Blame out of a run folder.

#include <filesystem>
#include <vector>

#include "analysis/blame/blame_result.h"

namespace mrclab::lab {

/// Reads the fabric of its scenario, its captures and events, and nothing else: not the schedule.
/// `folder` is a run folder, or "latest". Throws InputError.
std::vector<analysis::Blame> blame_of_run(const std::filesystem::path& folder);

}  // namespace mrclab::lab
