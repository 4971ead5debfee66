// Sleeping, and SIGALRM, at fabric time.

#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "verbs/held/baton.h"
#include "verbs/held/entry.h"
#include "verbs/held/next.h"
#include "verbs/held/raw.h"
#include "verbs/held/ready.h"

namespace mrclab::verbs::held {
namespace {

constexpr uint64_t kSecondPs = 1'000'000'000'000;
constexpr uint64_t kMaxSeconds =
    10'000'000;  // longer than any run; kNever in picoseconds is 213 days

uint64_t ps_of(int64_t seconds, int64_t nanoseconds) {
  if (static_cast<uint64_t>(seconds) > kMaxSeconds) return kNever / 2;
  return static_cast<uint64_t>(seconds) * kSecondPs + static_cast<uint64_t>(nanoseconds) * 1000;
}

timespec timespec_of_ps(uint64_t ps) {
  return {static_cast<time_t>(ps / kSecondPs), static_cast<long>(ps % kSecondPs / 1000)};
}
timeval timeval_of_ps(uint64_t ps) {
  return {static_cast<time_t>(ps / kSecondPs),
          static_cast<suseconds_t>(ps % kSecondPs / 1'000'000)};
}

bool is_valid(const timespec& time) {
  return time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < 1'000'000'000;
}

/// Sleeps to `until_ps`. 0; EINTR with what is left; the rest of it in this machine's time where the program is held no
/// longer.
int sleep_until(uint64_t until_ps, uint64_t* left_ps) {
  Wait wait;
  wait.until_ps = until_ps;
  wait.cancels = true;
  while (now_ps() < until_ps) {
    const Woken woken = block(wait);
    const uint64_t left = until_ps > now_ps() ? until_ps - now_ps() : 0;
    if (left_ps != nullptr) *left_ps = left;
    if (woken == Woken::kSignal) return EINTR;
    if (woken == Woken::kNotHeld) {
      timespec rest = timespec_of_ps(left);
      return static_cast<int>(-raw(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, word(&rest), 0));
    }
  }
  return 0;
}

int sleep_for(const timespec& time, timespec* left) {
  uint64_t left_ps = 0;
  spend_call();
  const int error = sleep_until(now_ps() + ps_of(time.tv_sec, time.tv_nsec), &left_ps);
  if (error == EINTR && left != nullptr) *left = timespec_of_ps(left_ps);
  return error;
}

uint64_t alarm_left() {
  return program.alarm_ps == kNever || program.alarm_ps < now_ps() ? 0
                                                                   : program.alarm_ps - now_ps();
}

/// Sets SIGALRM; what was left of the one before.
uint64_t set_alarm(uint64_t in_ps, uint64_t every_ps) {
  const uint64_t left = alarm_left();
  program.alarm_ps = in_ps == 0 ? kNever : now_ps() + in_ps;
  program.alarm_every_ps = every_ps;
  return left;
}

/// Waits for a signal of `set`, which is blocked: for alarms, all others come from outside the lab.
int await_signal(const sigset_t* set, siginfo_t* info, uint64_t until_ps) {
  Wait wait;
  wait.until_ps = until_ps;
  for (;;) {
    timespec zero{};
    const long number = raw(SYS_rt_sigtimedwait, word(set), word(info), word(&zero), 8);
    if (number != -EAGAIN) return static_cast<int>(number);
    if (now_ps() >= until_ps) return -EAGAIN;
    const Woken woken = block(wait);
    if (woken == Woken::kNotHeld)
      return static_cast<int>(raw(SYS_rt_sigtimedwait, word(set), word(info), 0, 8));
  }
}

}  // namespace
}  // namespace mrclab::verbs::held

using namespace mrclab::verbs::held;

MRCLAB_EXPORT int nanosleep(const timespec* time, timespec* left) {
  const Entry entry;
  if (held()) {
    if (!is_valid(*time)) return failed(EINVAL);
    const int error = sleep_for(*time, left);
    return error == 0 ? 0 : failed(error);
  }
  return static_cast<int>(returned(raw(SYS_nanosleep, word(time), word(left))));
}

MRCLAB_EXPORT int clock_nanosleep(clockid_t clock, int flags, const timespec* time,
                                  timespec* left) {
  const Entry entry;
  if (held() && (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME)) {
    if (!is_valid(*time)) return EINVAL;
    if ((flags & TIMER_ABSTIME) == 0) return sleep_for(*time, left);
    spend_call();
    const uint64_t epoch_ps = clock == CLOCK_REALTIME ? program.hello.epoch_ns : 0;
    const uint64_t at_ns =
        static_cast<uint64_t>(time->tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time->tv_nsec);
    return at_ns <= epoch_ps ? 0 : sleep_until((at_ns - epoch_ps) * 1000, nullptr);
  }
  return static_cast<int>(-raw(SYS_clock_nanosleep, clock, flags, word(time), word(left)));
}

MRCLAB_EXPORT int usleep(useconds_t microseconds) {
  const Entry entry;
  const timespec time{microseconds / 1'000'000, static_cast<long>(microseconds % 1'000'000) * 1000};
  return nanosleep(&time, nullptr);
}

MRCLAB_EXPORT unsigned sleep(unsigned seconds) {
  const Entry entry;
  const timespec time{seconds, 0};
  timespec left{};
  if (nanosleep(&time, &left) == 0) return 0;
  return static_cast<unsigned>(left.tv_sec + (left.tv_nsec >= 500'000'000 ? 1 : 0));
}

MRCLAB_EXPORT int sched_yield() noexcept {
  const Entry entry;
  if (held()) {
    // Who yields waits for something that others do: time passes for it as for a look that found nothing.
    static thread_local uint32_t in_a_row;
    static thread_local uint64_t last_ps;
    in_a_row = last_ps == now_ps() ? in_a_row + 1 : 0;
    Wait wait;
    wait.spin = true;
    wait.until_ps = now_ps() + growing_ps(in_a_row);
    if (block(wait) != Woken::kNotHeld) {
      last_ps = now_ps();
      return 0;
    }
  }
  return static_cast<int>(returned(raw(SYS_sched_yield)));
}

MRCLAB_EXPORT int pause() {
  const Entry entry;
  if (held()) {
    Wait wait;
    wait.cancels = true;
    Woken woken;
    do {
      woken = block(wait);
    } while (woken != Woken::kSignal && woken != Woken::kNotHeld);
    if (woken == Woken::kSignal) return failed(EINTR);
  }
  return static_cast<int>(returned(raw(SYS_ppoll, 0, 0, 0, 0, 8)));
}

MRCLAB_EXPORT unsigned alarm(unsigned seconds) noexcept {
  const Entry entry;
  if (held()) {
    spend_call();
    const uint64_t left = set_alarm(ps_of(seconds, 0), 0);
    return static_cast<unsigned>((left + kSecondPs - 1) / kSecondPs);
  }
  MRCLAB_NEXT(alarm);
  return real(seconds);
}

MRCLAB_EXPORT int setitimer(__itimer_which_t which, const itimerval* timer,
                            itimerval* old) noexcept {
  const Entry entry;
  if (which == ITIMER_REAL && held() && timer != nullptr) {
    spend_call();
    const uint64_t every = program.alarm_every_ps;
    const uint64_t left =
        set_alarm(ps_of(timer->it_value.tv_sec, timer->it_value.tv_usec * 1000),
                  ps_of(timer->it_interval.tv_sec, timer->it_interval.tv_usec * 1000));
    if (old != nullptr) *old = {timeval_of_ps(every), timeval_of_ps(left)};
    return 0;
  }
  if (which != ITIMER_REAL && held())
    not_held(__builtin_return_address(0), "measures its processor time by setitimer");
  MRCLAB_NEXT(setitimer);
  return real(which, timer, old);
}

MRCLAB_EXPORT int getitimer(__itimer_which_t which, itimerval* timer) noexcept {
  const Entry entry;
  if (which == ITIMER_REAL && held()) {
    const uint64_t left = alarm_left();
    *timer = {timeval_of_ps(program.alarm_every_ps), timeval_of_ps(left)};
    return 0;
  }
  MRCLAB_NEXT(getitimer);
  return real(which, timer);
}

MRCLAB_EXPORT int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  const Entry entry;
  if (held()) {
    spend_call();
    return static_cast<int>(returned(await_signal(set, info, until_of(timeout))));
  }
  return static_cast<int>(
      returned(raw(SYS_rt_sigtimedwait, word(set), word(info), word(timeout), 8)));
}

MRCLAB_EXPORT int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  const Entry entry;
  return sigtimedwait(set, info, nullptr);
}

MRCLAB_EXPORT int sigwait(const sigset_t* set, int* number) {
  const Entry entry;
  int result;
  do {
    result = sigtimedwait(set, nullptr, nullptr);
  } while (result < 0 && errno == EINTR);
  if (result < 0) return errno;
  *number = result;
  return 0;
}

MRCLAB_EXPORT int sigsuspend(const sigset_t* set) {
  const Entry entry;
  if (held() && program.alarm_ps != kNever) {
    sigset_t before;
    raw(SYS_rt_sigprocmask, SIG_SETMASK, word(set), word(&before), 8);
    pause();
    raw(SYS_rt_sigprocmask, SIG_SETMASK, word(&before), 0, 8);
    return failed(EINTR);
  }
  return static_cast<int>(returned(raw(SYS_rt_sigsuspend, word(set), 8)));
}
