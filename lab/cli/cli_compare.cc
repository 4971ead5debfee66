// compare.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "analysis/checks/check_result.h"
#include "lab/cli/cli.h"
#include "lab/compare/compared_transport.h"
#include "lab/compare/comparison_text.h"
#include "lab/console/json_print.h"
#include "lab/console/progress.h"
#include "lab/console/terminal.h"
#include "lab/run/program_consent.h"

namespace mrclab::lab {
namespace {

struct CompareOptions {
  std::vector<std::string> scenarios;
  ComparisonOptions comparison;
  std::optional<uint64_t> seed;
  bool json = false, csv = false, programs = false;
};

std::vector<std::string> transport_names() {
  std::vector<std::string> names;
  for (const ComparedTransport& transport : compared_transports()) {
    names.emplace_back(transport.name);
  }
  return names;
}

std::string transports_help() {
  std::string text;
  for (const ComparedTransport& transport : compared_transports()) {
    text += fmt::format("  {:<10} {}\n", transport.name, transport.about);
  }
  return text;
}

/// The code of the first transport's verdicts: the others are there for the contrast.
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
    code = analysis::worse_exit_code(
        code, analysis::exit_code(comparisons.back().runs.front().verdict.result));
  }
  if (options.json) {
    fmt::print("{}\n", printed(to_json(comparisons)));
  } else if (options.csv) {
    fmt::print("{}", to_csv(comparisons));
  } else {
    fmt::print("{}", comparison_text(comparisons, {.width = table_columns(stdout),
                                                   .colour = wants_colour(stdout)}));
  }
  return code;
}

}  // namespace

void add_compare_verb(CLI::App& app, CliResult& result) {
  auto options = std::make_shared<CompareOptions>();  // shared with the callback
  options->comparison.transports = transport_names();
  CLI::App* compare =
      app.add_subcommand("compare", "Run scenarios under several transports, simulated");
  compare->add_option("SCENARIO", options->scenarios, "shipped incidents, their ids (L5) or files")
      ->required();
  compare
      ->add_option("--transport", options->comparison.transports,
                   "which, the first as the yardstick; default: all")
      ->check(CLI::IsMember(transport_names()).description(""))
      ->delimiter(',')
      ->allow_extra_args(false);
  compare->add_option("--seed", options->seed, "in place of the scenario's")
      ->check(CLI::Range(uint64_t{0}, kMaxSeed));
  compare->add_option("--out", options->comparison.out, "where the run folders go")
      ->capture_default_str();
  compare->add_flag("--programs", options->programs,
                    "run the programs of a scenario from elsewhere without asking");
  CLI::Option* json = compare->add_flag("--json", options->json, "as JSON");
  compare->add_flag("--csv", options->csv, "as CSV")->excludes(json);
  compare->footer("Transports:\n" + transports_help() +
                  "Fabric, workload, faults and seed are the same. Exit code: that of the first\n"
                  "transport's verdict.\n"
                  "Example: mrclab compare optic-glitch --transport mrc,one-path");
  compare->callback([options, &result] { result.code = compare_command(*options); });
}

}  // namespace mrclab::lab
