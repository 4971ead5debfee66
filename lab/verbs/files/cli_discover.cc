// discover: which port is cabled to which, by what neighbours send each other, and what is not as planned.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "analysis/orchestrator/orchestrator_text.h"
#include "console/json_print.h"
#include "fabric/topology/fabric_file.h"
#include "lab/persistent/lab_cabling.h"
#include "lab/verbs/cli.h"
#include "live/bringup/lab_record.h"
#include "plan/cabling_view.h"
#include "scenario/spec/scenario.h"
#include "scenario/spec/shipped_files.h"

namespace mrclab::lab {
namespace {

struct DiscoverOptions {
  std::string what;
  bool links = false, json = false;
};

FabricShape shape_named(const std::string& what) {
  const YamlValue file = read_yaml_file(find_fabric_or_scenario(what));
  const bool scenario = file.is_map() && file.get("fabric").has_value();
  return scenario ? load_scenario(what).fabric : parse_fabric(file);
}

/// A lab that is up, or the start of a fabric, simulated.
analysis::OrchestratorResult discovered(const std::string& what) {
  const LabPaths paths;
  const bool like_a_path = what.find('/') != std::string::npos || what.ends_with(".yaml");
  const auto record = like_a_path ? std::nullopt : read_record(paths, what);
  if (!record) return discover_fabric(shape_named(what));
  const auto folder = paths.lab_directory(record->lab);
  return discover_lab(read_fabric_file(folder / "fabric.yaml"), *record);
}

int discover_command(const DiscoverOptions& options) {
  const analysis::OrchestratorResult result = discovered(options.what);
  if (options.json) {
    fmt::print("{}\n", printed(analysis::to_json(result), "discover"));
  } else {
    fmt::print("{}\n", analysis::summary_of(result));
    for (const std::string& line : analysis::lines_of(result)) fmt::print("{}\n", line);
    for (size_t i = 0; options.links && i < result.heard.size(); ++i) {
      fmt::print("{}  {}\n", result.heard[i].a, result.heard[i].b);
    }
  }
  return result.found.empty() ? 0 : 1;
}

}  // namespace

void add_discover_verb(CLI::App& app, CliResult& result) {
  auto options = std::make_shared<DiscoverOptions>();  // shared with the callback
  CLI::App* verb = add_verb(app, "discover");
  verb->add_option("WHAT", options->what,
                   "a lab that is up, whose switches are asked; or a fabric or a scenario, whose "
                   "start is simulated")
      ->required();
  verb->add_flag("--links", options->links, "every link that was heard, too");
  verb->add_flag("--json", options->json, "as JSON");
  verb->footer(
      "Exit code 0: all is as planned; 1: it is not.\n"
      "Example: mrclab discover octet\n"
      "         mrclab discover miscabled --links");
  verb->callback([options, &result] { result.code = discover_command(*options); });
}

}  // namespace mrclab::lab
