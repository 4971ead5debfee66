#include "verbs/held/ready.h"

#include <sys/epoll.h>

#include "verbs/held/baton.h"
#include "verbs/held/children.h"
#include "verbs/held/raw.h"

namespace mrclab::verbs::held {
namespace {

/// Looks in a row that found nothing and did not want to wait: what they cost grows, or a loop of them gets nowhere.
thread_local uint32_t vain_looks;

short really(int fd, short events) {
  pollfd one{fd, events, 0};
  return poll_now(&one, 1) > 0 ? one.revents : short{0};
}

short look_at_socket(int fd, File& file, short events) {
  if (file.phase == Phase::kListening) {
    return ask(file, SocketOp::kAccept, 0) == 0 ? static_cast<short>(events & POLLIN) : short{0};
  }
  if (file.phase == Phase::kConnecting) {
    const int state = connect_state(fd, file);
    if (state == EINPROGRESS) return 0;
    if (state != 0) return static_cast<short>(POLLERR | POLLHUP | (events & (POLLIN | POLLOUT)));
  }
  if (file.phase != Phase::kConnected) return static_cast<short>(POLLHUP | (events & POLLOUT));
  short found = 0;
  if ((events & (POLLIN | POLLRDHUP)) != 0) {
    SocketReply reply{};
    if (ask(file, SocketOp::kReceive, 0, &reply) != EAGAIN) {
      found |= static_cast<short>(events & (POLLIN | POLLRDNORM));
      if (reply.closed != 0) found |= static_cast<short>(events & POLLRDHUP);
    }
  }
  if ((events & POLLOUT) != 0) {
    if (file.no_room) file.no_room = ask(file, SocketOp::kSent, 0) == EAGAIN;
    if (!file.no_room) found |= static_cast<short>(events & (POLLOUT | POLLWRNORM));
  }
  return found;
}

short look_at_epoll(const File& epoll) {
  for (uint32_t i = 0; i < epoll.interest_count; ++i) {
    const Interest& interest = epoll.interests[i];
    const File* const file = file_of(interest.fd);
    if (interest.fd < 0 || (file != nullptr && file->kind == Kind::kEpoll)) continue;
    if (look_at(interest.fd, static_cast<short>(interest.events & 0x3FFF)) != 0) return POLLIN;
  }
  return 0;
}

/// Adds what `fd` can be waited for by. False: too much for one wait.
bool add_to(Wait& wait, pollfd* real, int fd, short events) {
  File* const file = file_of(fd);
  if (file == nullptr || file->kind == Kind::kEvents || file->kind == Kind::kLocal) {
    if (wait.file_count == kMaxLooks) return false;
    real[wait.file_count++] = {fd, events, 0};
  } else if (file->kind == Kind::kSocket) {
    if (wait.socket_count == kMaxWaited) return false;
    wait.sockets[wait.socket_count++] = file->number;
  } else if (file->kind == Kind::kTimer) {
    if (file->expires_ps < wait.until_ps) wait.until_ps = file->expires_ps;
  } else if (file->kind == Kind::kEpoll) {
    for (uint32_t i = 0; i < file->interest_count; ++i) {
      const Interest& one = file->interests[i];
      const File* const inner = file_of(one.fd);
      if (one.fd < 0 || (inner != nullptr && inner->kind == Kind::kEpoll)) continue;
      if (!add_to(wait, real, one.fd, static_cast<short>(one.events & 0x3FFF))) return false;
    }
  }
  return true;
}

/// A descriptor whose bytes come from outside the program while fabric time stands: a terminal, a child's pipe.
bool comes_from_outside(int fd) {
  const File* const file = file_of(fd);
  if (file == nullptr) return fd >= 0;
  return file->kind == Kind::kLocal && has_children();
}

/// What await_any and await_epoll have in common: `look` counts what is ready, `add` says what to wait for.
template <typename Look, typename Add>
Outcome await(Look look, Add add, uint64_t until_ps) {
  const uint64_t began_ps = now_ps();
  for (;;) {
    const int ready = look();
    if (!held()) return {0, true};
    if (ready > 0) {
      vain_looks = 0;
      return {ready};
    }
    const bool only_looks = until_ps <= began_ps;
    if (!only_looks && now_ps() >= until_ps) return {0};
    pollfd real[kMaxLooks];
    Wait wait;
    wait.files = real;
    wait.cancels = true;
    wait.until_ps = only_looks ? now_ps() + growing_ps(vain_looks++) : until_ps;
    if (!add(wait, real)) {
      not_held(__builtin_return_address(0), "waits for more descriptors than can be held");
      return {0, true};
    }
    const Woken woken = block(wait);
    if (woken == Woken::kNotHeld) return {0, true};
    if (woken == Woken::kSignal && !only_looks) return refused(EINTR);
    if (only_looks) return {look()};
  }
}

}  // namespace

short look_at(int fd, short events) {
  File* const file = file_of(fd);
  if (file == nullptr) return really(fd, events);
  switch (file->kind) {
    case Kind::kSocket: return look_at_socket(fd, *file, events);
    case Kind::kTimer:
      return file->expires_ps <= now_ps() ? static_cast<short>(events & POLLIN) : short{0};
    case Kind::kEpoll: return look_at_epoll(*file);
    default: return really(fd, events);
  }
}

bool are_outside(const pollfd* files, uint32_t count, uint64_t until_ps) {
  bool any = false;
  for (uint32_t i = 0; i < count; ++i) {
    if (files[i].fd < 0) continue;
    if (!comes_from_outside(files[i].fd)) return false;
    any = any || until_ps == kNever || file_of(files[i].fd) != nullptr;
  }
  return any;
}

Outcome await_any(pollfd* files, uint32_t count, uint64_t until_ps) {
  const auto look = [&] {
    int ready = 0;
    for (uint32_t i = 0; i < count; ++i) {
      files[i].revents = files[i].fd < 0 ? short{0} : look_at(files[i].fd, files[i].events);
      if (files[i].revents != 0) ++ready;
    }
    return ready;
  };
  const auto add = [&](Wait& wait, pollfd* real) {
    for (uint32_t i = 0; i < count; ++i)
      if (files[i].fd >= 0 && !add_to(wait, real, files[i].fd, files[i].events)) return false;
    return true;
  };
  return await(look, add, until_ps);
}

uint64_t until_of_ms(int timeout) {
  return timeout < 0 ? kNever : now_ps() + static_cast<uint64_t>(timeout) * 1'000'000'000;
}

uint64_t until_of(const timespec* timeout) {
  if (timeout == nullptr || timeout->tv_sec > 1'000'000) return kNever;
  if (timeout->tv_sec < 0) return now_ps();
  return now_ps() + static_cast<uint64_t>(timeout->tv_sec) * 1'000'000'000'000 +
         static_cast<uint64_t>(timeout->tv_nsec) * 1000;
}

int change_interest(File& epoll, int operation, int fd, uint32_t events, uint64_t data) {
  Interest* place = nullptr;
  Interest* found = nullptr;
  for (uint32_t i = 0; i < epoll.interest_count; ++i) {
    if (epoll.interests[i].fd == fd) found = &epoll.interests[i];
    if (epoll.interests[i].fd < 0 && place == nullptr) place = &epoll.interests[i];
  }
  if (operation == EPOLL_CTL_ADD) {
    if (found != nullptr) return EEXIST;
    if (place == nullptr) {
      if (epoll.interest_count == kMaxInterests) return ENOSPC;
      place = &epoll.interests[epoll.interest_count++];
    }
    *place = {fd, events, data, false};
    return 0;
  }
  if (found == nullptr) return ENOENT;
  if (operation == EPOLL_CTL_DEL) found->fd = -1;
  if (operation == EPOLL_CTL_MOD) *found = {fd, events, data, false};
  return 0;
}

Outcome await_epoll(File& epoll, Event* events, uint32_t room, uint64_t until_ps) {
  const auto look = [&] {
    uint32_t ready = 0;
    for (uint32_t i = 0; i < epoll.interest_count && ready < room; ++i) {
      Interest& one = epoll.interests[i];
      const uint32_t asked = one.events & 0x3FFF;
      if (one.fd < 0 || (one.events & EPOLLONESHOT && asked == 0)) continue;
      short found = look_at(one.fd, static_cast<short>(asked));
      if ((one.events & EPOLLET) != 0) {
        // Room is an edge once; what has arrived stays one until it is read, which drains it where edges matter.
        const bool told = one.told_of_room;
        one.told_of_room = (found & POLLOUT) != 0;
        if (told) found = static_cast<short>(found & ~POLLOUT);
      }
      if (found == 0) continue;
      events[ready++] = {static_cast<uint32_t>(static_cast<uint16_t>(found)), one.data};
      if ((one.events & EPOLLONESHOT) != 0) one.events = EPOLLONESHOT;
    }
    return static_cast<int>(ready);
  };
  const auto add = [&](Wait& wait, pollfd* real) {
    for (uint32_t i = 0; i < epoll.interest_count; ++i) {
      const Interest& one = epoll.interests[i];
      if (one.fd >= 0 && !add_to(wait, real, one.fd, static_cast<short>(one.events & 0x3FFF)))
        return false;
    }
    return true;
  };
  return await(look, add, until_ps);
}

}  // namespace mrclab::verbs::held
