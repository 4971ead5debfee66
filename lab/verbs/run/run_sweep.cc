#include "lab/verbs/run/run_sweep.h"

#include <fmt/format.h>

#include "analysis/checks/check_result.h"
#include "console/interrupt.h"
#include "console/progress.h"
#include "console/terminal.h"
#include "lab/run/run_spread.h"
#include "lab/run/seed_list.h"
#include "lab/run/watched_run.h"
#include "scenario/spec/idle_options.h"
#include "scenario/spec/program_consent.h"
#include "scenario/spec/scenario_document.h"

namespace mrclab::lab {
namespace {

/// Each product of the values, the last key fastest.
std::vector<std::vector<SetValue>> products(const std::vector<std::string>& sets) {
  std::vector<std::vector<SetValue>> all(1);
  for (const std::string& set : sets) {
    const std::vector<SetValue> values = read_set(set);
    if (all.size() * values.size() > kMaxSweepRuns) {
      throw InputError(
          fmt::format("--set: found more combinations: expected at most {}", kMaxSweepRuns));
    }
    std::vector<std::vector<SetValue>> more;
    for (const std::vector<SetValue>& before : all) {
      for (const SetValue& value : values) {
        more.push_back(before);
        more.back().push_back(value);
      }
    }
    all = std::move(more);
  }
  return all;
}

std::vector<std::pair<std::string, std::string>> settings_of(const std::vector<SetValue>& sets) {
  std::vector<std::pair<std::string, std::string>> settings;
  for (const SetValue& set : sets) settings.emplace_back(set.key, set.value);
  return settings;
}

/// A run of the simulator is judged as it goes, unless something needs its files.
analysis::Verdict verdict_of(const Scenario& scenario, const RunCommandOptions& options,
                             InterruptGuard& guard) {
  const bool in_memory = options.world == World::kSim && options.threads <= 1 &&
                         scenario.check_programs.empty() && scenario.programs.empty() &&
                         scenario.end != FabricTime::never();
  if (in_memory) return run_watched(scenario);
  RunOptions run = run_options(options);
  end_on_interrupt(guard, run);
  return run_scenario(scenario, run).verdict;
}

void print_groups(const std::vector<RunGroup>& groups, const RunCommandOptions& options) {
  if (options.json) {
    fmt::print("{}\n", spread_json(groups));
  } else if (options.csv) {
    fmt::print("{}", spread_csv(groups));
  } else {
    fmt::print("{}", spread_table(
                         groups, {.width = table_columns(stdout), .colour = wants_colour(stdout)}));
  }
}

}  // namespace

bool is_sweep(const RunCommandOptions& options) {
  if (options.seeds || options.csv) return true;
  return products(options.sets).size() > 1;
}

int sweep_command(const RunCommandOptions& options) {
  if (options.against)
    throw InputError("--against: found it beside several runs: expected one run");
  if (options.seeds && options.seed) {
    throw InputError("--seed: found it beside --seeds: expected one of them");
  }
  const std::vector<std::vector<SetValue>> combinations = products(options.sets);
  const std::vector<uint64_t> seeds =
      options.seeds ? parse_seeds(*options.seeds) : std::vector<uint64_t>();
  const size_t each = std::max<size_t>(seeds.size(), 1);
  const size_t total = options.scenarios.size() * combinations.size() * each;
  if (total > kMaxSweepRuns) {
    throw InputError(
        fmt::format("--set and --seeds: found {} runs: expected at most {}", total, kMaxSweepRuns));
  }
  // Every combination is read before the first run: a wrong value is reported at once.
  struct Planned {
    std::vector<SetValue> sets;
    Scenario scenario;
    size_t file;
  };
  std::vector<Planned> planned;
  for (size_t file = 0; file < options.scenarios.size(); ++file) {
    for (const std::vector<SetValue>& sets : combinations) {
      planned.push_back({sets, load_for_run(options, file, sets, {}), file});
    }
  }
  InterruptGuard guard;
  ProgressLine line;
  std::vector<RunGroup> groups;
  int code = 0;
  size_t done = 0;
  for (const Planned& plan : planned) {
    groups.emplace_back(plan.scenario.name, settings_of(plan.sets));
    for (size_t i = 0; i < each && !guard.interrupted(); ++i, ++done) {
      line.show(fmt::format("run {} of {}: {}", done + 1, total, plan.scenario.name));
      // A seed may decide which targets a fault has, so the file is read anew.
      const Scenario scenario =
          seeds.empty() ? plan.scenario : load_for_run(options, plan.file, plan.sets, seeds[i]);
      try {
        const analysis::Verdict verdict = verdict_of(scenario, options, guard);
        groups.back().add(verdict);
        code = analysis::worse_exit_code(code, analysis::exit_code(verdict.result));
      } catch (const Interrupted&) {
        break;
      }
    }
    if (guard.interrupted()) break;
  }
  line.clear();
  print_groups(groups, options);
  if (!guard.interrupted()) return code;
  fmt::print(stderr, "mrclab: interrupted after {} of {} runs\n", done, total);
  return analysis::worse_exit_code(code, 3);
}

}  // namespace mrclab::lab
