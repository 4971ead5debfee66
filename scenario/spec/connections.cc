#include "scenario/spec/connections.h"

namespace mrclab::lab {

std::vector<endpoint::ConnectionPlan> connections_of(const Scenario& scenario) {
  const auto profile = endpoint::make_profile(scenario.transport, scenario.topology);
  return endpoint::plan_connections(scenario.topology, scenario.workload, scenario.seed,
                                    profile.max_psn_range);
}

}  // namespace mrclab::lab
