#include "lab/verbs/sweep/compare_command.h"

#include <fmt/format.h>

#include "analysis/checks/check_result.h"
#include "console/json_print.h"
#include "console/progress.h"
#include "console/terminal.h"
#include "lab/compare/comparison_data.h"
#include "lab/compare/comparison_page.h"
#include "lab/compare/comparison_text.h"
#include "scenario/spec/program_consent.h"

namespace mrclab::lab {

namespace {

/// Other transports may fail; but what the scenario expects of them must hold.
int exit_code_of(const Comparison& comparison) {
  int code = analysis::exit_code(comparison.runs.front().verdict.result);
  for (const ComparedRun& run : comparison.runs) {
    if (!run.as_told()) code = analysis::worse_exit_code(code, 1);
  }
  return code;
}

}  // namespace

int compare_command(CompareOptions options) {
  std::vector<Scenario> scenarios;
  for (const std::string& name : options.scenarios) {
    ScenarioOverrides overrides;
    overrides.seed = options.seed;
    scenarios.push_back(load_scenario(name, overrides));
    const std::filesystem::path file = find_scenario(name);
    if (is_somebody_elses(file)) require_consent(scenarios.back(), file, options.programs);
  }
  const InterruptGuard guard;
  options.comparison.interrupted = guard.question();
  std::vector<Comparison> comparisons;
  int code = 0;
  for (const Scenario& scenario : scenarios) {
    comparisons.push_back(compare_transports(scenario, options.comparison));
    comparisons.back().page = write_comparison_page(comparisons.back());
    code = analysis::worse_exit_code(code, exit_code_of(comparisons.back()));
  }
  if (options.json) {
    fmt::print("{}\n", printed(to_json(comparisons), "comparison"));
  } else if (options.csv) {
    fmt::print("{}", to_csv(comparisons));
  } else if (options.markdown) {
    fmt::print("{}", to_markdown(comparisons));
  } else {
    fmt::print("{}", comparison_text(comparisons, {.width = table_columns(stdout),
                                                   .colour = wants_colour(stdout)}));
  }
  return code;
}

}  // namespace mrclab::lab
