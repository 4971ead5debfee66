#pragma once
// CPU time, which waiting for a busy machine is not part of.

#include <time.h>

namespace mrclab::lab {

/// CPU seconds of the calling thread, user and system.
inline double thread_cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace mrclab::lab
