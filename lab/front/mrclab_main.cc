// mrclab-cli: the command. It becomes the program that has the verb, as git does; the wrapper ./mrclab builds both.

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <string>

#include "lab/front/huge_pages.h"
#include "lab/front/rank_count.h"
#include "lab/front/verb_rows.h"

namespace {

/// Opens /dev/null in place of standard descriptors that are closed. Otherwise the first file that
/// is opened would take such a number, and get what is printed.
void hold_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    if (::open("/dev/null", O_RDWR) != fd) ::abort();
  }
}

/// All ranks run one simulation, so they are the program that has `run`, whatever the verb is. Help, versions and
/// mistakes are answered by the one that writes manuals.
std::string_view program_for(std::string_view verb) {
  if (mrclab::lab::is_one_of_many()) verb = "run";
  const mrclab::lab::VerbRow* const row = mrclab::lab::find_verb_row(verb);
  return (row != nullptr ? row : mrclab::lab::find_verb_row("man"))->program;
}

/// By its own path: beside a link there may be nothing.
std::string program_folder() {
  char path[4096];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  const std::string_view program(path, length < 0 ? 0 : static_cast<size_t>(length));
  return std::string(program.substr(0, program.rfind('/') + 1));
}

}  // namespace

int main(int argc, char** argv) {
  hold_standard_descriptors();
  const std::string_view verb = mrclab::lab::verb_in({argv + 1, argv + argc});
  const std::string_view program = program_for(verb);
  // These ask a lab for something and wait for it: they have nothing in memory to speak of.
  if (program != "mrclab-labs") mrclab::lab::ask_for_huge_pages();
  const std::string path = program_folder().append(program);
  ::execv(path.c_str(), argv);
  if (errno != ENOENT) {
    ::fprintf(stderr, "mrclab: cannot start %s: %s\n", path.c_str(), ::strerror(errno));
  } else {
    ::fprintf(stderr, "mrclab: found no %s: expected what `./mrclab %.*s` or ninja builds\n",
              path.c_str(), static_cast<int>(verb.size()), verb.data());
  }
  return 3;
}
