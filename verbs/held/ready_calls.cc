// poll, select, epoll and timers as descriptors.

#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/timerfd.h>

#include "verbs/held/children.h"
#include "verbs/held/entry.h"
#include "verbs/held/next.h"
#include "verbs/held/raw.h"
#include "verbs/held/ready.h"
#include "verbs/held/timers.h"

namespace mrclab::verbs::held {
namespace {

/// A signal mask for the time of a wait.
class MaskFor {
 public:
  explicit MaskFor(const sigset_t* mask) : set_(mask != nullptr) {
    if (set_) raw(SYS_rt_sigprocmask, SIG_SETMASK, word(mask), word(&before_), 8);
  }
  ~MaskFor() {
    if (set_) raw(SYS_rt_sigprocmask, SIG_SETMASK, word(&before_), 0, 8);
  }

 private:
  bool set_;
  sigset_t before_;
};

/// False: to be done by the real call.
bool poll_held(pollfd* files, nfds_t count, uint64_t until_ps, long& result) {
  if (!held()) return false;
  if (count > kMaxLooks) {
    not_held(__builtin_return_address(0), "polls more descriptors than can be held");
    return false;
  }
  if (are_outside(files, static_cast<uint32_t>(count), until_ps)) return false;
  spend_call();
  const Outcome outcome = await_any(files, static_cast<uint32_t>(count), until_ps);
  result = outcome.value;
  return !outcome.real;
}

/// select() by poll(). False: to be done by the real call.
bool select_held(int count, fd_set* read, fd_set* write, fd_set* except, uint64_t until_ps,
                 long& result) {
  if (!held()) return false;
  pollfd files[kMaxLooks];
  uint32_t used = 0;
  for (int fd = 0; fd < count && fd < FD_SETSIZE; ++fd) {
    short events = 0;
    if (read != nullptr && FD_ISSET(fd, read)) events |= POLLIN;
    if (write != nullptr && FD_ISSET(fd, write)) events |= POLLOUT;
    if (except != nullptr && FD_ISSET(fd, except)) events |= POLLPRI;
    if (events == 0) continue;
    if (used == kMaxLooks) {
      not_held(__builtin_return_address(0), "selects more descriptors than can be held");
      return false;
    }
    files[used++] = {fd, events, 0};
  }
  if (!poll_held(files, used, until_ps, result)) return false;
  if (result < 0) return true;
  result = 0;
  for (uint32_t i = 0; i < used; ++i) {
    const pollfd& file = files[i];
    const auto keep = [&](fd_set* set, short asked, int found) {
      if (set == nullptr || (file.events & asked) == 0) return;
      if ((file.revents & found) != 0)
        ++result;
      else
        FD_CLR(file.fd, set);
    };
    keep(read, POLLIN, POLLIN | POLLHUP | POLLERR);
    keep(write, POLLOUT, POLLOUT | POLLERR);
    keep(except, POLLPRI, POLLPRI);
  }
  return true;
}

bool epoll_held(int fd, epoll_event* events, int room, uint64_t until_ps, long& result) {
  if (!held()) return false;
  File* const file = file_of(fd);
  if (file == nullptr || file->kind != Kind::kEpoll || room <= 0) return false;
  spend_call();
  Event found[kMaxInterests];
  const auto most = static_cast<uint32_t>(room);
  const Outcome outcome =
      await_epoll(*file, found, most < kMaxInterests ? most : kMaxInterests, until_ps);
  if (outcome.real) return false;
  for (long i = 0; i < outcome.value; ++i) {
    events[i].events = found[i].events;
    events[i].data.u64 = found[i].data;
  }
  result = outcome.value;
  return true;
}

}  // namespace
}  // namespace mrclab::verbs::held

using namespace mrclab::verbs::held;

MRCLAB_EXPORT int poll(pollfd* files, nfds_t count, int timeout) {
  const Entry entry;
  long result = 0;
  if (poll_held(files, count, until_of_ms(timeout), result)) return static_cast<int>(result);
  timespec limit{timeout / 1000, static_cast<long>(timeout % 1000) * 1'000'000};
  return static_cast<int>(returned(
      raw(SYS_ppoll, word(files), static_cast<long>(count), timeout < 0 ? 0 : word(&limit), 0, 8)));
}

MRCLAB_EXPORT int __poll_chk(pollfd* files, nfds_t count, int timeout, size_t room) {
  const Entry entry;
  if (room / sizeof(pollfd) < count) __builtin_trap();
  return poll(files, count, timeout);
}

MRCLAB_EXPORT int ppoll(pollfd* files, nfds_t count, const timespec* timeout,
                        const sigset_t* mask) {
  const Entry entry;
  long result = 0;
  {
    const MaskFor masked(mask);
    if (poll_held(files, count, until_of(timeout), result)) return static_cast<int>(result);
  }
  timespec limit{};
  if (timeout != nullptr) limit = *timeout;
  return static_cast<int>(returned(raw(SYS_ppoll, word(files), static_cast<long>(count),
                                       timeout == nullptr ? 0 : word(&limit), word(mask), 8)));
}

MRCLAB_EXPORT int __ppoll_chk(pollfd* files, nfds_t count, const timespec* timeout,
                              const sigset_t* mask, size_t room) {
  const Entry entry;
  if (room / sizeof(pollfd) < count) __builtin_trap();
  return ppoll(files, count, timeout, mask);
}

MRCLAB_EXPORT int pselect(int count, fd_set* read, fd_set* write, fd_set* except,
                          const timespec* timeout, const sigset_t* mask) {
  const Entry entry;
  long result = 0;
  {
    const MaskFor masked(mask);
    if (select_held(count, read, write, except, until_of(timeout), result))
      return static_cast<int>(result);
  }
  MRCLAB_NEXT(pselect);
  return real(count, read, write, except, timeout, mask);
}

MRCLAB_EXPORT int select(int count, fd_set* read, fd_set* write, fd_set* except, timeval* timeout) {
  const Entry entry;
  timespec limit{};
  if (timeout != nullptr) limit = {timeout->tv_sec, timeout->tv_usec * 1000};
  long result = 0;
  if (select_held(count, read, write, except, until_of(timeout == nullptr ? nullptr : &limit),
                  result))
    return static_cast<int>(result);
  MRCLAB_NEXT(select);
  return real(count, read, write, except, timeout);
}

MRCLAB_EXPORT int epoll_create1(int flags) noexcept {
  const Entry entry;
  const long fd = returned(raw(SYS_epoll_create1, flags));
  if (fd >= 0 && !is_borrowed() && held()) add_file(static_cast<int>(fd), Kind::kEpoll);
  return static_cast<int>(fd);
}

MRCLAB_EXPORT int epoll_create(int size) noexcept {
  const Entry entry;
  return size <= 0 ? failed(EINVAL) : epoll_create1(0);
}

MRCLAB_EXPORT int epoll_ctl(int fd, int operation, int of, epoll_event* event) noexcept {
  const Entry entry;
  const long result = returned(raw(SYS_epoll_ctl, fd, operation, of, word(event)));
  File* const file = held() ? file_of(fd) : nullptr;
  if (result < 0 || file == nullptr || file->kind != Kind::kEpoll) return static_cast<int>(result);
  const int error = change_interest(*file, operation, of, event == nullptr ? 0 : event->events,
                                    event == nullptr ? 0 : event->data.u64);
  if (error == ENOSPC)
    not_held(__builtin_return_address(0), "has an epoll of too many descriptors");
  return 0;
}

MRCLAB_EXPORT int epoll_pwait(int fd, epoll_event* events, int room, int timeout,
                              const sigset_t* mask) {
  const Entry entry;
  long result = 0;
  {
    const MaskFor masked(mask);
    if (epoll_held(fd, events, room, until_of_ms(timeout), result)) return static_cast<int>(result);
  }
  return static_cast<int>(
      returned(raw(SYS_epoll_pwait, fd, word(events), room, timeout, word(mask), 8)));
}

MRCLAB_EXPORT int epoll_wait(int fd, epoll_event* events, int room, int timeout) {
  const Entry entry;
  return epoll_pwait(fd, events, room, timeout, nullptr);
}

MRCLAB_EXPORT int timerfd_create(clockid_t clock, int flags) noexcept {
  const Entry entry;
  const long fd = returned(raw(SYS_timerfd_create, clock, flags));
  if (fd >= 0 && !is_borrowed() && held()) {
    File* const file = add_file(static_cast<int>(fd), Kind::kTimer);
    if (file != nullptr) file->of_epoch = clock == CLOCK_REALTIME;
  }
  return static_cast<int>(fd);
}

MRCLAB_EXPORT int timerfd_settime(int fd, int flags, const itimerspec* timer,
                                  itimerspec* old) noexcept {
  const Entry entry;
  File* const file = held() ? file_of(fd) : nullptr;
  if (file == nullptr || file->kind != Kind::kTimer)
    return static_cast<int>(returned(raw(SYS_timerfd_settime, fd, flags, word(timer), word(old))));
  if (old != nullptr) *old = timer_left(*file);
  set_timer(*file, (flags & TFD_TIMER_ABSTIME) != 0, *timer);
  return 0;
}

MRCLAB_EXPORT int timerfd_gettime(int fd, itimerspec* timer) noexcept {
  const Entry entry;
  File* const file = held() ? file_of(fd) : nullptr;
  if (file == nullptr || file->kind != Kind::kTimer)
    return static_cast<int>(returned(raw(SYS_timerfd_gettime, fd, word(timer))));
  *timer = timer_left(*file);
  return 0;
}
