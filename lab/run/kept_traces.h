#pragma once
// The files that a scenario's jobs are read from, kept beside the scenario in its run folder: it reads back as the same
// job wherever the folder lies, and whatever becomes of the files.

#include <optional>

#include "recorded/folder/run_folder.h"
#include "scenario/spec/scenario_value.h"

namespace mrclab::lab {

inline constexpr const char* kTracesFolder = "traces";  ///< in a run folder

/// Copies the files into traces/ of the folder. Returns the scenario as the folder keeps it: its jobs name those
/// copies, from where scenario.yaml lies. Empty: no job is read from a file, and the folder keeps the scenario as it is.
/// Throws InputError for a file that is gone, SystemError.
std::optional<Scenario> with_kept_traces(const Scenario& scenario, const RunFolder& folder);

}  // namespace mrclab::lab
