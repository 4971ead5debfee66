#pragma once
// `chaos --blame`: over seeds, what blame finds by packets against what was broken.

#include "lab/chaos/chaos.h"

namespace mrclab::lab {

/// Returns 0 if precision and recall reach their marks (lab/chaos/blame_score.h), else 1. Runs in the
/// simulator only. Throws InputError.
int chaos_blame_command(const ChaosOptions& options);

}  // namespace mrclab::lab
