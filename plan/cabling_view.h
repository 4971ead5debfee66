#pragma once
// How neighbours of a fabric find each other at its start, simulated without any traffic: the links that are heard, held
// against the plan.

#include "analysis/orchestrator/orchestrator_result.h"
#include "fabric/topology/fabric_shape.h"

namespace mrclab::lab {

/// With an orchestrator, whether the fabric's file has one or not. Throws InputError for a fabric whose graph is too large
/// to be made.
analysis::OrchestratorResult discover_fabric(FabricShape shape);

}  // namespace mrclab::lab
