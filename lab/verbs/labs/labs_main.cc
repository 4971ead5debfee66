// mrclab-labs: labs that stay, what is done inside them, and what this machine can do.

#include "lab/verbs/cli.h"

int main(int argc, char** argv) {
  return mrclab::lab::cli_main(argc, argv, [](CLI::App& app, mrclab::lab::CliResult& result) {
    mrclab::lab::add_lab_verbs(app, result);
    mrclab::lab::add_inspect_verb(app, result);
    mrclab::lab::add_top_verb(app, result);
    mrclab::lab::add_fault_verbs(app, result);
    mrclab::lab::add_clock_verb(app, result);
    mrclab::lab::add_node_verbs(app, result);
    mrclab::lab::add_capture_verb(app, result);
    mrclab::lab::add_conform_verb(app, result);
    mrclab::lab::add_doctor_verb(app, result);
  });
}
