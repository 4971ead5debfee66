#pragma once
// Bytes of held sockets: taken from the real one when they have arrived in fabric time, and no more of them.

#include "verbs/held/sockets.h"

namespace mrclab::verbs::held {

/// recvmsg() of a socket: data, addresses; no control messages. `flags`: MSG_DONTWAIT, MSG_PEEK, MSG_WAITALL.
Outcome receive(int fd, File& file, msghdr& message, int flags);
/// sendmsg() of a socket. `flags`: MSG_DONTWAIT, MSG_NOSIGNAL.
Outcome send(int fd, File& file, const msghdr& message, int flags);
/// FIONREAD.
int bytes_arrived(int fd, File& file);

/// read() of what is no socket: waits for events and for what other threads write; real otherwise.
Outcome await_readable(int fd, File& file);

}  // namespace mrclab::verbs::held
