#include "live/world/live_options.h"

#include "endpoint/workload/workload_spec.h"

namespace mrclab::lab {

LiveLabOptions live_options_of(const Scenario& scenario) {
  LiveLabOptions live;
  live.shape = scenario.fabric;
  live.seed = scenario.seed;
  live.end = scenario.stop();
  live.work_end = scenario.end;
  live.schedule = scenario.schedule;
  for (const endpoint::WorkloadSpec& spec : scenario.workload) {
    live.workload += "- " + endpoint::to_yaml(spec) + "\n";
  }
  live.payload_elided = scenario.payload_elided;
  live.transport = endpoint::to_yaml(scenario.transport);
  if (scenario.dilation) live.dilation = *scenario.dilation;
  return live;
}

}  // namespace mrclab::lab
