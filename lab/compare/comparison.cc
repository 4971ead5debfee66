#include "lab/compare/comparison.h"

#include <algorithm>
#include <utility>

#include "analysis/checks/checks.h"
#include "fabric/topology/fabric_file.h"
#include "lab/run/scenario_run.h"
#include "scenario/spec/expectation_check.h"
#include "scenario/spec/fat_twin.h"
#include "scenario/spec/transport_fit.h"

namespace mrclab::lab {
namespace {

/// What of the scenario's expectations can be asked, and then what its contrast expects.
struct Asked {
  std::vector<analysis::Expectation> applicable;
  std::vector<std::string> not_asked;
  std::vector<analysis::Expectation> contrast;
};

Asked asked_of(const Scenario& scenario, const Scenario& changed, const ContrastName& name) {
  const ExpectationCheck check(changed);
  Asked asked;
  for (const analysis::Expectation& each : analysis::without_bundles(scenario.expect)) {
    std::string why(inapplicable(each, name.transport->family));
    if (why.empty()) why = check.why_impossible(each);
    if (why.empty()) {
      asked.applicable.push_back(each);
    } else {
      asked.not_asked.push_back(describe(each) + " (" + why + ")");
    }
  }
  if (name.contrast != nullptr) asked.contrast = analysis::without_bundles(name.contrast->expect);
  return asked;
}

/// What the transport is, and which options the scenario gives it.
std::string about(const ContrastName& name) {
  std::string text(name.transport->about);
  if (name.on_fat_twin) text += "; one plane with the rate of all";
  if (name.contrast == nullptr) return text;
  if (!name.contrast->options.overrides.empty()) {
    text += "; here " + endpoint::options_to_yaml(name.contrast->options);
  }
  if (name.contrast->watchdog) text += ", watchdog " + watchdog_text(*name.contrast->watchdog);
  return text;
}

/// Checks stand in the order of expectations, and those of the user's programs behind them.
void take_contrast(const Asked& asked, ComparedRun& run) {
  auto& checks = run.verdict.checks;
  const auto from = checks.begin() + static_cast<ptrdiff_t>(asked.applicable.size());
  const auto until = from + static_cast<ptrdiff_t>(asked.contrast.size());
  run.contrast.assign(from, until);
  checks.erase(from, until);
  if (!run.contrast.empty()) {
    run.verdict.result = analysis::overall_result(checks, run.verdict.timing);
  }
}

ComparedRun run_under(const Scenario& scenario, const std::string& called, const ContrastName& name,
                      const ComparisonOptions& options) {
  Scenario changed = under_transport(scenario, name);
  const Asked asked = asked_of(name.on_fat_twin ? fat_twin(scenario) : scenario, changed, name);
  changed.expect = asked.applicable;
  changed.expect.insert(changed.expect.end(), asked.contrast.begin(), asked.contrast.end());
  RunOptions run;
  run.world = World::kSim;
  run.runs_root = options.out;
  run.progress = true;
  run.interrupted = options.interrupted;
  RunResult result = run_scenario(changed, run);
  if (!result.interrupted.empty()) throw Interrupted(result.interrupted, result.memory);
  ComparedRun compared{called,          about(name), std::move(result.verdict),
                       asked.not_asked, {},          result.folder.path};
  take_contrast(asked, compared);
  return compared;
}

}  // namespace

bool ComparedRun::as_told() const {
  return std::all_of(contrast.begin(), contrast.end(), [](const analysis::CheckResult& check) {
    return check.result == analysis::Result::kPass;
  });
}

std::vector<std::string> compared_by_default(const Scenario& scenario) {
  std::vector<std::string> names{"mrc"};
  for (const Contrast& contrast : scenario.contrasts) names.push_back(contrast.name);
  if (names.size() > 1) return names;
  names.clear();
  for (const NamedTransport& transport : named_transports()) {
    const bool roce = transport.family == TransportFamily::kRoce;
    if (roce && why_without_roce(scenario.topology)) continue;
    if (!transport.routing.empty()) continue;
    names.emplace_back(transport.name);
    // A queue pair of RC has one port: with several planes a fair fabric for it is another (fat_twin.h).
    if (roce && scenario.fabric.planes > 1) names.back() += kOnFatTwin;
  }
  return names;
}

Comparison compare_transports(const Scenario& scenario, const ComparisonOptions& options) {
  const std::vector<std::string> names =
      options.transports.empty() ? compared_by_default(scenario) : options.transports;
  std::vector<ContrastName> transports;  // all are known before the first run
  for (const std::string& name : names) transports.push_back(find_contrast(scenario, name));
  Comparison comparison{
      scenario.name, scenario.seed, scenario.topology.base_rtt, scenario.stop(), {}, {}};
  for (size_t i = 0; i < names.size(); ++i) {
    comparison.runs.push_back(run_under(scenario, names[i], transports[i], options));
  }
  return comparison;
}

FaultTimes longest_fault_times(const analysis::Verdict& verdict) {
  FaultTimes longest;
  for (const analysis::FaultResult& fault : verdict.faults) {
    const analysis::FaultLosses& losses = fault.losses;
    longest.last_loss = std::max(longest.last_loss, losses.last);
    longest.noticed = std::max(longest.noticed, losses.noticed ? losses.noticed : fault.detected);
    longest.routed = std::max(longest.routed, losses.routed);
  }
  return longest;
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
