#pragma once
// System calls without the C library. Handlers of signals use these: libmrclab-held.so itself interposes the functions of
// that name, and errno is the program's.

#include <sys/syscall.h>

#include <cstdint>

namespace mrclab::held {

/// What the kernel returns: -errno on failure.
inline int64_t raw_call(int64_t number, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0,
                        uint64_t d = 0, uint64_t e = 0, uint64_t f = 0) {
#if defined(__x86_64__)
  int64_t result = number;
  register uint64_t r10 asm("r10") = d;
  register uint64_t r8 asm("r8") = e;
  register uint64_t r9 asm("r9") = f;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
#else
  (void)number, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
  return -38;  // ENOSYS: the rooms that use this are for x86-64
#endif
}

inline uint64_t raw_address(const volatile void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

/// The kernel's set of signals, which is what a frame of a signal has: 64 bits, though sigset_t has 1,024.
using SignalMask = uint64_t;
constexpr SignalMask mask_of(int signal) { return SignalMask{1} << (signal - 1); }

inline constexpr int kMaskBlock = 0, kMaskUnblock = 1, kMaskSet = 2;
/// The mask before.
inline SignalMask raw_mask(int how, SignalMask mask) {
  SignalMask before = 0;
  raw_call(SYS_rt_sigprocmask, static_cast<uint64_t>(how), raw_address(&mask), raw_address(&before),
           sizeof(mask));
  return before;
}

/// What this thread has used of a processor, in nanoseconds: for bounds, never for what a program sees. Unlike time itself
/// it stands still while others have the processor.
inline uint64_t raw_thread_ns() {
  int64_t time[2] = {0, 0};  // seconds and nanoseconds
  raw_call(SYS_clock_gettime, 3 /* CLOCK_THREAD_CPUTIME_ID */, raw_address(time));
  return static_cast<uint64_t>(time[0]) * 1'000'000'000 + static_cast<uint64_t>(time[1]);
}

/// This machine's time, in nanoseconds: likewise for bounds alone.
inline uint64_t raw_time_ns() {
  int64_t time[2] = {0, 0};
  raw_call(SYS_clock_gettime, 1 /* CLOCK_MONOTONIC */, raw_address(time));
  return static_cast<uint64_t>(time[0]) * 1'000'000'000 + static_cast<uint64_t>(time[1]);
}

}  // namespace mrclab::held
