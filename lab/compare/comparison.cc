#include "lab/compare/comparison.h"

#include <algorithm>
#include <utility>

#include "lab/compare/compared_transport.h"
#include "lab/run/scenario_run.h"

namespace mrclab::lab {

Comparison compare_transports(const Scenario& scenario, const ComparisonOptions& options) {
  std::vector<const ComparedTransport*> transports;  // all are known before the first run
  for (const std::string& name : options.transports) transports.push_back(&find_transport(name));
  Comparison comparison{scenario.name, scenario.seed, scenario.topology.base_rtt, {}, {}};
  for (const ComparedTransport* transport : transports) {
    RunOptions run;
    run.world = World::kSim;
    run.runs_root = options.out;
    run.progress = true;
    run.interrupted = options.interrupted;
    RunResult result = run_scenario(under_transport(scenario, *transport), run);
    if (!result.interrupted.empty()) throw Interrupted(result.interrupted, result.memory);
    comparison.runs.push_back(
        {std::string(transport->name), std::move(result.verdict), result.folder.path});
  }
  return comparison;
}

std::optional<FabricTime> longest_recovery(const analysis::Verdict& verdict) {
  std::optional<FabricTime> longest;
  for (const analysis::FaultResult& fault : verdict.faults) {
    if (!fault.recovered) return std::nullopt;
    longest = std::max(longest.value_or(*fault.recovered), *fault.recovered);
  }
  return longest;
}

}  // namespace mrclab::lab
