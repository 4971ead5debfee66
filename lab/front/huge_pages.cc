#include "lab/front/huge_pages.h"

#include <stdlib.h>
#include <unistd.h>

namespace mrclab::lab {
namespace {

constexpr const char* kTunables = "GLIBC_TUNABLES";
/// hugetlb=1: madvise(MADV_HUGEPAGE); the heap grows by 64 MiB, since in small steps no page of 2 MiB fits.
/// What is freed stays for what is allocated next, up to 256 MiB: the kernel clears each page that it gives again.
constexpr const char* kHugePages =
    "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864:glibc.malloc.mmap_threshold=33554432:"
    "glibc.malloc.trim_threshold=268435456";
/// It says that the setting is ours, also where the system took kTunables away.
constexpr const char* kAsked = "MRCLAB_HUGE_PAGES";

}  // namespace

void ask_for_huge_pages() {
  if (::getenv(kTunables) != nullptr) return;
  if (::setenv(kTunables, kHugePages, 1) == 0) ::setenv(kAsked, "1", 1);
}

bool take_huge_pages() {
  if (::getenv(kAsked) == nullptr) return false;
  ::unsetenv(kAsked);
  ::unsetenv(kTunables);
  return true;
}

void start_with_huge_pages(char** argv) {
  if (take_huge_pages() || ::getenv(kTunables) != nullptr) return;
  ask_for_huge_pages();
  ::execv("/proc/self/exe", argv);
  take_huge_pages();
}

}  // namespace mrclab::lab
