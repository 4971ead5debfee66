#include <CLI/CLI.hpp>
#include <memory>

#include "lab/verbs/cli.h"
#include "recorded/run/run_list.h"

namespace mrclab::lab {

void add_runs_verb(CLI::App& app, CliResult& result) {
  auto options = std::make_shared<RunListOptions>();  // shared with the callback
  CLI::App* runs = add_verb(app, "runs");
  runs->add_option("FOLDER", options->folder, "where they are")->default_str("runs");
  runs->add_option("--keep", options->keep, "choose all but the newest so many");
  runs->add_option("--older", options->older_days, "choose those older than so many days")
      ->check(CLI::Range(0u, 100'000u));
  runs->add_flag("--delete", options->erase, "delete what is chosen; else it is only listed");
  runs->add_flag("--json", options->json, "as JSON");
  runs->footer(
      "Only folders that a run made are listed and deleted, never what a link leads to.\n"
      "Example: mrclab runs\n"
      "         mrclab runs --keep 20 --delete");
  runs->callback([options, &result] { result.code = runs_command(*options); });
}

}  // namespace mrclab::lab
