#pragma once
// Consent to the programs that a scenario would run (`exec:`, `program:`). If another user may have
// written the scenario, they are shown, and run only if the user agrees.

#include <filesystem>

#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// Is this the scenario of a run folder, or could a user have written it that this process does not
/// trust (netio/system/path_trust.h)?
bool is_somebody_elses(const std::filesystem::path& scenario_file);

/// Returns if there are no programs, or if they are `allowed` (--programs). Otherwise prints them
/// to stderr, and on a terminal asks; throws InputError where the answer is not yes.
void require_consent(const Scenario& scenario, const std::filesystem::path& source, bool allowed);

}  // namespace mrclab::lab
