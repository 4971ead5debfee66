#pragma once
// The kernel's vDSO reads the time stamp counter by itself; trapped, it would return the last tick for ever, silently. So
// its entries are overwritten with jumps into the library: for callers that do not come through the interposed
// functions of the same names (the C library's own, Go, static code). The pages are this process's copy.

#include <sys/types.h>
#include <cstdint>
#include <span>

namespace mrclab::held {

/// Signatures as in vdso(7); they return 0 or -errno, and replace __vdso_clock_gettime, __vdso_gettimeofday and
/// __vdso_time. After fork they run in the child, too.
struct VdsoAnswers {
  int (*clock_gettime)(int clock, void* timespec);
  int (*gettimeofday)(void* timeval, void* timezone);
  int64_t (*time)(int64_t* result);
};

/// 0; ENOENT: this process has no vDSO (or none with these entries), which is as good; else an errno: the pages are
/// sealed, and reads of the clock that come by that way are stale.
int patch_vdso(const VdsoAnswers& answers);

/// Where entry `name` of the ELF image at `image` (at most `size` bytes, believed in nothing) begins and how many bytes
/// it has; {0, 0}: none.
struct VdsoEntry {
  uint64_t offset, bytes;
};
VdsoEntry find_vdso_entry(std::span<const uint8_t> image, const char* name);

}  // namespace mrclab::held
