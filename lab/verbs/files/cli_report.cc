#include <CLI/CLI.hpp>
#include <memory>

#include "lab/verbs/cli.h"
#include "recorded/run/run_report.h"

namespace mrclab::lab {

void add_report_verb(CLI::App& app, CliResult& result) {
  auto options = std::make_shared<ReportOptions>();  // shared with the callback
  CLI::App* report = add_verb(app, "report");
  report->add_option("RUN", options->run, "a run folder, or latest")->required();
  report->add_option("--compare", options->compare, "another run folder: both side by side");
  report->add_option("--out", options->out, "where the page goes; default: into RUN");
  report->add_flag("--json", options->json, "print the page's data as JSON");
  report->footer(
      "The page is one file that opens without a network.\n"
      "Example: mrclab report runs/20260101-120000-link-flap --compare latest");
  report->callback([options, &result] { result.code = report_command(*options); });
}

}  // namespace mrclab::lab
