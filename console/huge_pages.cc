#include "console/huge_pages.h"

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

namespace mrclab::lab {
namespace {

constexpr const char* kTunables = "GLIBC_TUNABLES";
/// hugetlb=1: madvise(MADV_HUGEPAGE); the heap grows by 64 MiB, since in small steps no page of 2 MiB fits.
constexpr const char* kHugePages = "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864";
/// Marks the second start, also where the system took kTunables away.
constexpr const char* kStartedAgain = "MRCLAB_STARTED_AGAIN";

}  // namespace

void start_with_huge_pages(char** argv) {
  if (::getenv(kStartedAgain) != nullptr) {
    ::unsetenv(kStartedAgain);
    ::unsetenv(kTunables);
    return;
  }
  if (::getenv(kTunables) != nullptr) return;
  if (::setenv(kTunables, kHugePages, 1) == 0 && ::setenv(kStartedAgain, "1", 1) == 0) {
    // By its own path: the name of the process would be that of a link.
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (!error) ::execv(program.c_str(), argv);
  }
  ::unsetenv(kStartedAgain);
  ::unsetenv(kTunables);
}

}  // namespace mrclab::lab
