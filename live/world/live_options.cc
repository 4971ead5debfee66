#include "live/world/live_options.h"

#include "endpoint/workload/workload_spec.h"

namespace mrclab::lab {

LiveLabOptions live_options_of(const Scenario& scenario, LiveLabOptions own) {
  own.shape = scenario.fabric;
  own.seed = scenario.seed;
  own.work_end = scenario.end;
  own.schedule = scenario.schedule;
  for (const endpoint::WorkloadSpec& spec : scenario.workload) {
    own.workload += "- " + endpoint::to_yaml(spec) + "\n";
  }
  own.management_network = !scenario.programs.empty();
  own.payload_elided = scenario.payload_elided;
  own.transport = endpoint::to_yaml(scenario.transport);
  if (scenario.dilation) own.dilation = *scenario.dilation;
  return own;
}

}  // namespace mrclab::lab
