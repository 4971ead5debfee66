#pragma once
// The connections of a scenario, as every host plans them for itself.

#include <vector>

#include "endpoint/plan/connection_plan.h"
#include "scenario/spec/scenario_value.h"

namespace mrclab::lab {

std::vector<endpoint::ConnectionPlan> connections_of(const Scenario& scenario);

}  // namespace mrclab::lab
