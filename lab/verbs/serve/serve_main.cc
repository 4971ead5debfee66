// mrclab-serve: the page, its lessons, and what other tools read.

#include "lab/verbs/cli.h"

int main(int argc, char** argv) {
  return mrclab::lab::cli_main(argc, argv, [](CLI::App& app, mrclab::lab::CliResult& result) {
    mrclab::lab::add_serve_verb(app, result);
    mrclab::lab::add_metrics_verb(app, result);
    mrclab::lab::add_drill_verb(app, result);
    mrclab::lab::add_lesson_verb(app, result);
    mrclab::lab::add_export_verb(app, result);
  });
}
