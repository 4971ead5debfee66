#pragma once
// System calls past the C library. What this library replaces (read, poll, clock_gettime, syscall itself) must not be
// called by its own code, and in a signal handler nothing else is safe.

#include <poll.h>
#include <sys/syscall.h>
#include <time.h>

#include <cerrno>
#include <cstdint>

namespace mrclab::verbs::held {

/// The kernel's answer as it is: a negative errno if it failed.
inline long raw(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                long f = 0) {
#if defined(__x86_64__)
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc 0"
               : "+r"(x0)
               : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
               : "memory");
  return x0;
#else
#error "held programs need the system calls of this processor in raw.h"
#endif
}

template <typename T>
long word(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

/// Counts the files that are ready now, as poll() does. Where a tick (spin/spin.h) is due, the kernel answers EINTR, whether
/// files are ready or not, so this asks again. A caller that took EINTR for "ready" would block in a real read, and one that
/// took it for "not ready" would let fabric time pass.
inline long poll_now(pollfd* files, uint32_t count) {
  timespec zero{};
  long ready;
  do {
    ready = raw(SYS_ppoll, word(files), count, word(&zero), 0, 8);
  } while (ready == -EINTR);
  return ready;
}

/// As the C library returns it: -1 and errno.
inline long returned(long result) {
  if (result >= 0 || result < -4095) return result;
  errno = static_cast<int>(-result);
  return -1;
}
inline int failed(int error) {
  errno = error;
  return -1;
}

}  // namespace mrclab::verbs::held
