// drill: a site's alert rules on a run's counters.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "console/interrupt.h"
#include "console/root_rights.h"
#include "lab/drill/drill.h"
#include "lab/drill/prom_tool.h"
#include "lab/run/scenario_run.h"
#include "lab/verbs/cli.h"
#include "scenario/spec/queue_pairs.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {
namespace {

struct DrillVerb {
  std::string rules, what, world = "sim", every = "15us";
  uint64_t stretch = DrillOptions{}.stretch;
  std::filesystem::path out = default_runs();
  std::optional<uint64_t> seed;
  bool as_json = false;
};

/// A run folder as it is, or the scenario is run now.
std::filesystem::path run_of(const DrillVerb& verb, InterruptGuard& guard) {
  std::error_code none;
  const std::filesystem::path named = named_run(verb.what);
  if (std::filesystem::exists(named / "verdict.json", none)) return named;
  ScenarioOverrides overrides;
  overrides.seed = verb.seed;
  const Scenario scenario = load_scenario(verb.what, overrides);
  RunOptions options;
  options.world = verb.world == "live" ? World::kLive : World::kSim;
  if (options.world == World::kLive) require_root("drill --world live");
  options.runs_root = verb.out;
  options.progress = true;
  end_on_interrupt(guard, options);
  return run_scenario(scenario, options).folder.path;
}

int drill_command(const DrillVerb& verb) {
  const RuleFile rules = read_rule_file(verb.rules);
  InterruptGuard guard;
  try {
    require_prom_tool();  // before a run that would be in vain
    const RecordedRun run = read_run(run_of(verb, guard));
    DrillOptions options;
    options.every = parse_instant(verb.every, run.scenario.topology, FabricTime(), &run.scenario);
    options.stretch = verb.stretch;
    options.interrupted = guard.question();
    const Drill drill = drill_rules(rules, run, options);
    fmt::print("{}", verb.as_json ? drill_json(drill) : drill_text(drill));
    return drill.exit_code();
  } catch (const NoPromTool& error) {
    return complain(error.what(), 3);
  }
}

}  // namespace

void add_drill_verb(CLI::App& app, CliResult& result) {
  auto verb = std::make_shared<DrillVerb>();  // shared with the callback
  CLI::App* drill = add_verb(app, "drill");
  drill->add_option("RULES", verb->rules, "a file of alert rules of Prometheus")->required();
  drill->add_option("WHAT", verb->what, "a scenario, which is run, or a run folder")->required();
  drill->add_option("--world", verb->world, "of a scenario: sim, or live")
      ->check(CLI::IsMember({"sim", "live"}))
      ->capture_default_str();
  drill->add_option("--seed", verb->seed, "in place of the scenario's");
  drill->add_option("--every", verb->every, "fabric time between two samples")
      ->capture_default_str();
  drill->add_option("--stretch", verb->stretch, "seconds of the site per fabric second")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000'000}))
      ->capture_default_str();
  drill->add_option("--out", verb->out, "where the run folder goes")->default_str("runs");
  drill->add_flag("--json", verb->as_json, "as JSON, with all labels");
  drill->footer(
      "promtool (Debian's package prometheus) evaluates the rules. Time is stretched: 1 us is\n"
      "1 s of the site and a sample is taken every 15 s, unless options say otherwise.\n"
      "Exit codes: 0 every fault has an alert and no alarm is false, 1 not so, 2 bad rules or\n"
      "input, 3 promtool is missing or the run is not faithful.\n"
      "Example: mrclab drill rules.yml link-flap\n"
      "         mrclab drill rules.yml latest --every 5us");
  drill->callback([verb, &result] { result.code = drill_command(*verb); });
}

}  // namespace mrclab::lab
