// mrclab-sweep: many runs, over seeds, transports or sizes.

#include "lab/verbs/cli.h"

int main(int argc, char** argv) {
  return mrclab::lab::cli_main(argc, argv, [](CLI::App& app, mrclab::lab::CliResult& result) {
    mrclab::lab::add_chaos_verbs(app, result);
    mrclab::lab::add_compare_verb(app, result);
    mrclab::lab::add_twin_verb(app, result);
    mrclab::lab::add_perf_verbs(app, result);
  });
}
