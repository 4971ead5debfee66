#pragma once
// `chaos --blame` and `chaos --mapper`: over seeds, what blame finds by packets, or a mapper by its probes, against what
// was broken.

#include <optional>

#include "fabric/mapper/mapper_witness.h"
#include "lab/chaos/chaos.h"

namespace mrclab::lab {

/// `mapper`: which of its witnesses accuse, where one is switched on; empty: packets do. Returns 0 if precision and recall reach their marks (lab/chaos/blame_score.h), else 1. Runs in the
/// simulator only. Throws InputError.
int chaos_blame_command(std::optional<MapperWitness> mapper, const ChaosOptions& options);

}  // namespace mrclab::lab
