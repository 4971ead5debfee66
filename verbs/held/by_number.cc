// syscall(): what programs ask the kernel for past the C library's functions. Futexes above all, by which std::atomic
// waits.

#include <linux/futex.h>
#include <time.h>
#include <unistd.h>

#include <cstdarg>

#include "verbs/held/baton.h"
#include "verbs/held/entry.h"
#include "verbs/held/locks.h"
#include "verbs/held/next.h"
#include "verbs/held/raw.h"
#include "verbs/held/ready.h"

namespace mrclab::verbs::held {
namespace {

/// FUTEX_WAIT and FUTEX_WAKE and their bitset kin, among the program's threads. False: for the kernel.
bool futex(const long* a, long& result) {
  auto* const at = reinterpret_cast<std::atomic<uint32_t>*>(a[0]);
  const long operation = a[1] & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
  if (operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET) {
    result = wake(at, static_cast<uint32_t>(a[2]));
    return result > 0;  // else who waits may be another process
  }
  if (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET) return false;
  if (at->load() != static_cast<uint32_t>(a[2])) {
    result = -EAGAIN;
    return true;
  }
  const auto* const limit = reinterpret_cast<const timespec*>(a[3]);
  Wait wait;
  wait.object = at;
  if (limit != nullptr)
    wait.until_ps = operation == FUTEX_WAIT ? until_of(limit) : until_of_clock(*limit);
  switch (block(wait)) {
    case Woken::kReady: result = 0; return true;
    case Woken::kTime: result = -ETIMEDOUT; return true;
    case Woken::kSignal: result = -EINTR; return true;
    case Woken::kNotHeld: return false;
  }
  return false;
}

}  // namespace
}  // namespace mrclab::verbs::held

using namespace mrclab::verbs::held;

MRCLAB_EXPORT long syscall(long number, ...) noexcept {
  const Entry entry;
  long a[6];
  va_list arguments;
  va_start(arguments, number);
  for (long& argument : a) argument = va_arg(arguments, long);
  va_end(arguments);
  if (program.standing.load(std::memory_order_acquire) == Standing::kHeld) {
    long result = 0;
    switch (number) {
      case SYS_futex:
        if (!has_baton() || !futex(a, result)) break;
        return returned(result);
      case SYS_clock_gettime:
        return clock_gettime(static_cast<clockid_t>(a[0]), reinterpret_cast<timespec*>(a[1]));
      case SYS_nanosleep:
        return nanosleep(reinterpret_cast<timespec*>(a[0]), reinterpret_cast<timespec*>(a[1]));
      case SYS_getpid: return getpid();
      default: break;
    }
  }
  return returned(raw(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}
