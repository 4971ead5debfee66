#pragma once
// What the switches of a running lab hear at their ports, held against the plan.

#include "analysis/orchestrator/orchestrator_result.h"
#include "fabric/topology/topology.h"
#include "live/bringup/lab_record.h"

namespace mrclab::lab {

/// Asks the switches alone: each link has one at one of its ends at least. Throws InputError for a fabric without an
/// orchestrator, and for a lab that does not answer.
analysis::OrchestratorResult discover_lab(const Topology& topology, const LabRecord& record);

}  // namespace mrclab::lab
