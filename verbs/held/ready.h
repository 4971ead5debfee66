#pragma once
// What poll(), select() and epoll_wait() of a held program come to: for sockets by the management network, for timers by
// fabric time, for all else by a real poll that does not wait.

#include <poll.h>

#include "verbs/held/sockets.h"

namespace mrclab::verbs::held {

/// Descriptors that one call waits for.
inline constexpr uint32_t kMaxLooks = 256;

/// All of `files` get what they get from outside the program while fabric time stands: a terminal, the pipe of a child.
/// To be polled really, at no cost. Whoever waits for a terminal with a timeout waits in fabric time, though.
bool are_outside(const pollfd* files, uint32_t count, uint64_t until_ps);
/// As poll() does: fills in `revents`, waits until one is ready or `until_ps`. `real`: the program is not held any longer.
Outcome await_any(pollfd* files, uint32_t count, uint64_t until_ps);
/// What is ready of one descriptor now, of POLL bits.
short look_at(int fd, short events);

/// timeout of poll() and epoll_wait() in milliseconds, of ppoll(), as an instant of fabric time.
uint64_t until_of_ms(int timeout);
uint64_t until_of(const timespec* timeout);

/// epoll, by what the program asked for (the real one has the same descriptors, and is asked when held no longer).
int change_interest(File& epoll, int operation, int fd, uint32_t events, uint64_t data);
struct Event {
  uint32_t events;
  uint64_t data;
};
Outcome await_epoll(File& epoll, Event* events, uint32_t room, uint64_t until_ps);

}  // namespace mrclab::verbs::held
