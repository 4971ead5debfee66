#pragma once
// From the events of hosts and switches (`neighbour`, `switch_service`) to what an orchestrator finds.

#include <optional>

#include "analysis/history/coverage.h"
#include "analysis/history/event_history.h"
#include "analysis/orchestrator/orchestrator_result.h"

namespace mrclab::analysis {

/// Empty where the fabric has no orchestrator.
std::optional<OrchestratorResult> orchestrator_result(const Topology& topology,
                                                      const EventHistory& events,
                                                      const Coverage& coverage);

}  // namespace mrclab::analysis
