#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "console/json_print.h"
#include "console/progress.h"
#include "lab/verbs/cli.h"
#include "recorded/diff/run_diff.h"
#include "recorded/folder/run_folder.h"

namespace mrclab::lab {
namespace {

struct DiffOptions {
  std::vector<std::string> runs;
  size_t context = 4;
  bool as_json = false;
};

}  // namespace

void add_diff_verb(CLI::App& app, CliResult& result) {
  auto options = std::make_shared<DiffOptions>();  // shared with the callback
  CLI::App* diff = add_verb(app, "diff");
  diff->add_option("RUN", options->runs, "two run folders, or latest")->required()->expected(2);
  diff->add_option("--context", options->context, "records before it that are shown")
      ->check(CLI::Range(0, 10'000))
      ->capture_default_str();
  diff->add_flag("--json", options->as_json, "as JSON");
  diff->footer(
      "Exit code 0: the same history; 1: it differs.\n"
      "Example: mrclab diff runs/20260101-120000-link-flap latest");
  diff->callback([options, &result] {
    const RunDiff difference = while_ticking(
        "comparing", evidence_text(options->runs[0]) + " and " + evidence_text(options->runs[1]),
        [&] { return diff_runs(options->runs[0], options->runs[1], options->context); });
    fmt::print(
        "{}", options->as_json ? printed(to_json(difference), "diff") + "\n" : to_text(difference));
    result.code = difference.same ? 0 : 1;
  });
}

}  // namespace mrclab::lab
