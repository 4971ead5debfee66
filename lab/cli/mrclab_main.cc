// mrclab-cli: the command. The wrapper ./mrclab builds and starts it.

#include "lab/cli/cli.h"

int main(int argc, char** argv) { return mrclab::lab::cli_main(argc, argv); }
