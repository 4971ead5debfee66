#pragma once
// The key `orchestrator` of fabrics.

#include "fabric/mapper/orchestrator_profile.h"
#include "fabric/text/key_table.h"

namespace mrclab {

const KeyRow<OrchestratorProfile>& orchestrator_key();

}  // namespace mrclab
