// mrclab-cli: the command. The wrapper ./mrclab builds and starts it.

#include <algorithm>
#include <string_view>

#include "console/huge_pages.h"
#include "lab/verbs/cli.h"

namespace {

/// These ask for something and wait for it, so they are done sooner without a second start (25 ms).
constexpr std::string_view kNeedLittleMemory[] = {
    "up",         "down",    "ls",        "exec",   "shell",  "inspect",   "top",      "fault",
    "heal",       "clock",   "draw",      "doctor", "schema", "transport", "validate", "man",
    "completion", "version", "--version", "-V",     "--help", "-h"};

bool needs_little_memory(std::string_view verb) {
  return std::find(std::begin(kNeedLittleMemory), std::end(kNeedLittleMemory), verb) !=
         std::end(kNeedLittleMemory);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && !needs_little_memory(argv[1])) mrclab::lab::start_with_huge_pages(argv);
  return mrclab::lab::cli_main(argc, argv);
}
