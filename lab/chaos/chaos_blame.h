#pragma once
// `chaos --blame` and `chaos --mapper`: over seeds, what blame finds by packets, or a mapper by its probes, against what
// was broken.

#include "lab/chaos/chaos.h"

namespace mrclab::lab {

/// By what a part is accused: packets of a job, or probes of a mapper that is switched on.
enum class Accuser : uint8_t { kPackets, kMapper };

/// Returns 0 if precision and recall reach their marks (lab/chaos/blame_score.h), else 1. Runs in the
/// simulator only. Throws InputError.
int chaos_blame_command(Accuser accuser, const ChaosOptions& options);

}  // namespace mrclab::lab
