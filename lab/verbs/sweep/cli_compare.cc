#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "lab/verbs/cli.h"
#include "lab/verbs/sweep/compare_command.h"
#include "scenario/spec/named_transport.h"

namespace mrclab::lab {
namespace {

std::string transports_help() {
  std::string text;
  for (const NamedTransport& transport : named_transports()) {
    text += fmt::format("  {:<10} {}\n", transport.name, transport.about);
  }
  return text + fmt::format("  {:<10} the same on one plane with the rate of all: roce16{}\n",
                            "..." + std::string(kOnFatTwin), kOnFatTwin);
}

}  // namespace

void add_compare_verb(CLI::App& app, CliResult& result) {
  auto options = std::make_shared<CompareOptions>();  // shared with the callback
  CLI::App* compare = add_verb(app, "compare");
  compare->add_option("SCENARIO", options->scenarios, "shipped incidents, their ids (L5) or files")
      ->required();
  compare
      ->add_option("--transport", options->comparison.transports,
                   "which, the first as the yardstick; default: mrc and the scenario's\n"
                   "contrasts, or all if it has none")
      ->delimiter(',')
      ->allow_extra_args(false);
  compare->add_option("--seed", options->seed, "in place of the scenario's")
      ->check(CLI::Range(uint64_t{0}, kMaxSeed));
  compare->add_option("--out", options->comparison.out, "where the run folders go")
      ->default_str("runs");
  compare->add_flag("--programs", options->programs,
                    "run the programs of a scenario from elsewhere without asking");
  CLI::Option* json = compare->add_flag("--json", options->json, "as JSON");
  CLI::Option* csv = compare->add_flag("--csv", options->csv, "as CSV")->excludes(json);
  compare->add_flag("--markdown", options->markdown, "as a table, a line for each scenario")
      ->excludes(json)
      ->excludes(csv);
  compare->footer("Transports:\n" + transports_help() +
                  "Fabric, workload, faults and seed are the same. Exit code: that of the first\n"
                  "transport's verdict; 1 if another does not meet the scenario's contrast.\n"
                  "Example: mrclab compare optic-glitch --transport mrc,one-path");
  compare->callback([options, &result] { result.code = compare_command(*options); });
}

}  // namespace mrclab::lab
