#pragma once
// TCP of a held program with other held programs of its lab. A byte is written into the real socket when it is sent, and
// read from it when the management network says that it has arrived. Functions whose names are those of system calls
// return what these return, with errno; each is for a file of kind kSocket and for a program that is held, or was when
// it was called.

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "verbs/held/descriptors.h"

namespace mrclab::verbs::held {

/// What a call came to. `real`: do the real call instead, the program is not held.
struct Outcome {
  long value;
  bool real = false;
};
Outcome refused(int error);

/// One SocketRequest. The reply's status.
int ask(File& file, SocketOp what, uint64_t bytes, SocketReply* reply = nullptr);

Outcome bind_socket(int fd, File& file, const sockaddr* address, socklen_t size);
Outcome listen_socket(int fd, File& file, int backlog);
Outcome connect_socket(int fd, File& file, const sockaddr* address, socklen_t size);
Outcome accept_socket(int fd, File& file, sockaddr* address, socklen_t* size, int flags);
/// Of a connect that did not wait: 0 when it stands, EINPROGRESS, or why it failed.
int connect_state(int fd, File& file);
Outcome shutdown_socket(int fd, File& file, int how);

}  // namespace mrclab::verbs::held
