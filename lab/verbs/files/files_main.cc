// mrclab-files: run folders, captures, fabrics and scenarios, read and written.

#include "lab/verbs/cli.h"

int main(int argc, char** argv) {
  return mrclab::lab::cli_main(argc, argv, [](CLI::App& app, mrclab::lab::CliResult& result) {
    mrclab::lab::add_diff_verb(app, result);
    mrclab::lab::add_report_verb(app, result);
    mrclab::lab::add_runs_verb(app, result);
    mrclab::lab::add_list_verb(app, result);
    mrclab::lab::add_schema_verb(app, result);
    mrclab::lab::add_draw_verb(app, result);
    mrclab::lab::add_discover_verb(app, result);
    mrclab::lab::add_analyze_verb(app, result);
    mrclab::lab::add_trace_verb(app, result);
    mrclab::lab::add_blame_verb(app, result);
    mrclab::lab::add_transport_verb(app, result);
    mrclab::lab::add_plan_verb(app, result);
    mrclab::lab::add_import_verb(app, result);
    mrclab::lab::add_job_verb(app, result);
    mrclab::lab::add_validate_verb(app, result);
  });
}
