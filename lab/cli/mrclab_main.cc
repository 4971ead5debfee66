// mrclab-cli: the command. The wrapper ./mrclab builds and starts it.

#include "lab/cli/cli.h"
#include "lab/console/huge_pages.h"

int main(int argc, char** argv) {
  mrclab::lab::start_with_huge_pages(argv);
  return mrclab::lab::cli_main(argc, argv);
}
