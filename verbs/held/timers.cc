#include "verbs/held/timers.h"

#include <cstring>

#include "verbs/held/baton.h"
#include "verbs/held/raw.h"

namespace mrclab::verbs::held {
namespace {

constexpr uint64_t kSecondPs = 1'000'000'000'000;

uint64_t ps_of(const timespec& time) {
  return static_cast<uint64_t>(time.tv_sec) * kSecondPs +
         static_cast<uint64_t>(time.tv_nsec) * 1000;
}
timespec timespec_of_ps(uint64_t ps) {
  return {static_cast<time_t>(ps / kSecondPs), static_cast<long>(ps % kSecondPs / 1000)};
}

}  // namespace

void set_timer(File& file, bool absolute, const itimerspec& timer) {
  const uint64_t value = ps_of(timer.it_value);
  file.every_ps = ps_of(timer.it_interval);
  if (value == 0) {
    file.expires_ps = kNever;
  } else if (!absolute) {
    file.expires_ps = now_ps() + value;
  } else {
    // The epoch in picoseconds does not fit into 64 bits.
    const uint64_t at_ns = static_cast<uint64_t>(timer.it_value.tv_sec) * 1'000'000'000 +
                           static_cast<uint64_t>(timer.it_value.tv_nsec);
    const uint64_t epoch_ns = file.of_epoch ? program.hello.epoch_ns : 0;
    file.expires_ps = at_ns <= epoch_ns ? now_ps() : (at_ns - epoch_ns) * 1000;
  }
}

itimerspec timer_left(const File& file) {
  itimerspec left{};
  left.it_interval = timespec_of_ps(file.every_ps);
  if (file.expires_ps != kNever)
    left.it_value = timespec_of_ps(file.expires_ps > now_ps() ? file.expires_ps - now_ps() : 1000);
  return left;
}

Outcome read_timer(int fd, File& file, void* buffer, size_t size) {
  if (size < sizeof(uint64_t)) return refused(EINVAL);
  while (file.expires_ps > now_ps()) {
    if (is_nonblocking(fd)) return refused(EAGAIN);
    Wait wait;
    wait.until_ps = file.expires_ps;
    const Woken woken = block(wait);
    if (woken == Woken::kNotHeld) return {0, true};
    if (woken == Woken::kSignal) return refused(EINTR);
  }
  uint64_t times = 1;
  if (file.every_ps != 0) {
    times += (now_ps() - file.expires_ps) / file.every_ps;
    file.expires_ps += times * file.every_ps;
  } else {
    file.expires_ps = kNever;
  }
  std::memcpy(buffer, &times, sizeof times);
  return {sizeof times};
}

}  // namespace mrclab::verbs::held
