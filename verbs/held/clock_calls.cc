// Clocks of a held program: those of fabric time.

#include <sys/resource.h>
#include <sys/time.h>
#include <sys/timeb.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include "verbs/held/entry.h"
#include "verbs/held/next.h"
#include "verbs/held/program.h"
#include "verbs/held/raw.h"

namespace mrclab::verbs::held {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

timespec timespec_of(uint64_t ns) {
  return {static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)};
}
timeval timeval_of(uint64_t ns) {
  return {static_cast<time_t>(ns / kSecond), static_cast<suseconds_t>(ns % kSecond / 1000)};
}

/// Attaches, and states whether the clocks are the fabric's, or go on from where they were.
bool has_own_clock() { return held() || program.was_held; }

/// One read of a clock.
uint64_t read_ns() {
  spend(program.hello.cost_clock_ps);
  return program_ns();
}

/// Computing takes no fabric time of its own: what a program used up is all that passed while it did not wait.
uint64_t processor_ns() {
  const uint64_t ns = read_ns();
  const uint64_t idle = (program.attached_ps + program.waited_ps) / 1000;
  return ns > idle ? ns - idle : 0;
}

/// Nanoseconds of a clock of the C library. False: not one of those that are held.
bool clock_ns(clockid_t clock, uint64_t& ns) {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_TAI: ns = program.hello.epoch_ns + read_ns(); return true;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME: ns = read_ns(); return true;
    case CLOCK_PROCESS_CPUTIME_ID:
    case CLOCK_THREAD_CPUTIME_ID: ns = processor_ns(); return true;
    default: return false;
  }
}

}  // namespace
}  // namespace mrclab::verbs::held

using namespace mrclab::verbs::held;

MRCLAB_EXPORT int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const Entry entry;
  uint64_t ns = 0;
  if (has_own_clock() && clock_ns(clock, ns)) {
    *time = timespec_of(ns);
    return 0;
  }
  MRCLAB_NEXT(clock_gettime);
  return real(clock, time);
}

MRCLAB_EXPORT int clock_getres(clockid_t clock, timespec* resolution) noexcept {
  const Entry entry;
  MRCLAB_NEXT(clock_getres);
  const int result = real(clock, resolution);
  if (result == 0 && resolution != nullptr && has_own_clock()) *resolution = {0, 1};
  return result;
}

MRCLAB_EXPORT int gettimeofday(timeval* time, void* zone) noexcept {
  const Entry entry;
  if (has_own_clock()) {
    *time = timeval_of(program.hello.epoch_ns + read_ns());
    if (zone != nullptr) *static_cast<struct timezone*>(zone) = {};
    return 0;
  }
  MRCLAB_NEXT(gettimeofday);
  return real(time, zone);
}

MRCLAB_EXPORT time_t time(time_t* result) noexcept {
  const Entry entry;
  if (has_own_clock()) {
    const auto now = static_cast<time_t>((program.hello.epoch_ns + read_ns()) / kSecond);
    if (result != nullptr) *result = now;
    return now;
  }
  MRCLAB_NEXT(time);
  return real(result);
}

MRCLAB_EXPORT int timespec_get(timespec* time, int base) noexcept {
  const Entry entry;
  if (has_own_clock() && base == TIME_UTC) {
    *time = timespec_of(program.hello.epoch_ns + read_ns());
    return base;
  }
  MRCLAB_NEXT(timespec_get);
  return real(time, base);
}

// Of old programs alone: glibc declares it as deprecated.
MRCLAB_EXPORT int ftime(timeb* time) {
  const Entry entry;
  timeval now{};
  gettimeofday(&now, nullptr);
  *time = {};
  time->time = now.tv_sec;
  time->millitm = static_cast<unsigned short>(now.tv_usec / 1000);
  return 0;
}

MRCLAB_EXPORT clock_t clock() noexcept {
  const Entry entry;
  if (has_own_clock()) return static_cast<clock_t>(processor_ns() / (kSecond / CLOCKS_PER_SEC));
  MRCLAB_NEXT(clock);
  return real();
}

MRCLAB_EXPORT clock_t times(tms* buffer) noexcept {
  const Entry entry;
  if (has_own_clock()) {
    const auto ticks = static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
    if (buffer != nullptr) {
      *buffer = {};
      buffer->tms_utime = static_cast<clock_t>(processor_ns() / (kSecond / ticks));
    }
    return static_cast<clock_t>(read_ns() / (kSecond / ticks));
  }
  MRCLAB_NEXT(times);
  return real(buffer);
}

MRCLAB_EXPORT int getrusage(__rusage_who_t who, rusage* usage) noexcept {
  const Entry entry;
  MRCLAB_NEXT(getrusage);
  const int result = real(who, usage);
  if (result == 0 && who != RUSAGE_CHILDREN && has_own_clock()) {
    // What the kernel counted differs from run to run.
    const long most = usage->ru_maxrss;
    *usage = {};
    usage->ru_maxrss = most;
    usage->ru_utime = timeval_of(processor_ns());
  }
  return result;
}
