// Making, connecting and closing descriptors.

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdarg>

#include "verbs/held/children.h"
#include "verbs/held/entry.h"
#include "verbs/held/next.h"
#include "verbs/held/raw.h"
#include "verbs/held/ready.h"
#include "verbs/held/sockets.h"
#include "verbs/held/streams.h"

namespace mrclab::verbs::held {
namespace {

/// The held socket behind `fd`; null for what is real, or if this program is not held.
File* held_socket(int fd) {
  if (program.standing.load() != Standing::kHeld) return nullptr;
  File* const file = file_of(fd);
  return file != nullptr && file->kind == Kind::kSocket ? file : nullptr;
}

/// Does `call` for a held socket, the real one else or where it says so.
template <typename Held, typename Real>
long either(int fd, Held call, Real real) {
  if (File* const file = held_socket(fd)) {
    spend_call();
    const Outcome outcome = call(*file);
    if (!outcome.real) return outcome.value;
  }
  return returned(real());
}

uint64_t ps_of(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000'000 +
         static_cast<uint64_t>(time.tv_usec) * 1'000'000;
}

/// After a real call that made `fd`.
long note(long fd, Kind kind) {
  if (fd >= 0 && !is_borrowed() && held_by_name()) add_file(static_cast<int>(fd), kind);
  return fd;
}

long copied(int from, long to) {
  if (to >= 0 && program.standing.load() == Standing::kHeld && !is_borrowed())
    copy_descriptor(from, static_cast<int>(to));
  return to;
}

}  // namespace
}  // namespace mrclab::verbs::held

using namespace mrclab::verbs::held;

MRCLAB_EXPORT int socket(int domain, int type, int protocol) noexcept {
  const Entry entry;
  const int kind = type & 0xF;
  if (domain == AF_INET6 && held()) return failed(EAFNOSUPPORT);  // the management network has IPv4
  const long fd = returned(raw(SYS_socket, domain, type, protocol));
  if (domain == AF_INET && (kind == SOCK_STREAM || kind == SOCK_DGRAM) && held()) {
    spend_call();
    note(fd, kind == SOCK_STREAM ? Kind::kSocket : Kind::kDatagram);
  }
  return static_cast<int>(fd);
}

MRCLAB_EXPORT int socketpair(int domain, int type, int protocol, int* pair) noexcept {
  const Entry entry;
  const long result = returned(raw(SYS_socketpair, domain, type, protocol, word(pair)));
  if (result == 0) {
    note(pair[0], Kind::kLocal);
    note(pair[1], Kind::kLocal);
  }
  return static_cast<int>(result);
}

MRCLAB_EXPORT int bind(int fd, const sockaddr* address, socklen_t size) noexcept {
  const Entry entry;
  return static_cast<int>(either(
      fd, [&](File& file) { return bind_socket(fd, file, address, size); },
      [&] { return raw(SYS_bind, fd, word(address), size); }));
}

MRCLAB_EXPORT int listen(int fd, int backlog) noexcept {
  const Entry entry;
  return static_cast<int>(either(
      fd, [&](File& file) { return listen_socket(fd, file, backlog); },
      [&] { return raw(SYS_listen, fd, backlog); }));
}

MRCLAB_EXPORT int connect(int fd, const sockaddr* address, socklen_t size) {
  const Entry entry;
  return static_cast<int>(either(
      fd, [&](File& file) { return connect_socket(fd, file, address, size); },
      [&] { return raw(SYS_connect, fd, word(address), size); }));
}

MRCLAB_EXPORT int accept4(int fd, sockaddr* address, socklen_t* size, int flags) {
  const Entry entry;
  return static_cast<int>(either(
      fd, [&](File& file) { return accept_socket(fd, file, address, size, flags); },
      [&] { return raw(SYS_accept4, fd, word(address), word(size), flags); }));
}

MRCLAB_EXPORT int accept(int fd, sockaddr* address, socklen_t* size) {
  const Entry entry;
  return accept4(fd, address, size, 0);
}

MRCLAB_EXPORT int shutdown(int fd, int how) noexcept {
  const Entry entry;
  return static_cast<int>(either(
      fd, [&](File& file) { return shutdown_socket(fd, file, how); },
      [&] { return raw(SYS_shutdown, fd, how); }));
}

MRCLAB_EXPORT int getpeername(int fd, sockaddr* address, socklen_t* size) noexcept {
  const Entry entry;
  // A connection that was not waited for becomes real when somebody looks.
  if (File* const file = held_socket(fd)) connect_state(fd, *file);
  return static_cast<int>(returned(raw(SYS_getpeername, fd, word(address), word(size))));
}

MRCLAB_EXPORT int getsockopt(int fd, int level, int name, void* value, socklen_t* size) noexcept {
  const Entry entry;
  if (level == SOL_SOCKET && name == SO_ERROR && size != nullptr && *size >= sizeof(int)) {
    File* const file = held_socket(fd);
    if (file != nullptr && file->phase == Phase::kConnecting) {
      const int state = connect_state(fd, *file);
      *static_cast<int*>(value) = state == EINPROGRESS ? 0 : state;
      *size = sizeof(int);
      return 0;
    }
    if (file != nullptr && file->phase == Phase::kRefused) {
      *static_cast<int*>(value) = ECONNREFUSED;
      *size = sizeof(int);
      file->phase = Phase::kBound;
      return 0;
    }
  }
  return static_cast<int>(returned(raw(SYS_getsockopt, fd, level, name, word(value), word(size))));
}

MRCLAB_EXPORT int setsockopt(int fd, int level, int name, const void* value,
                             socklen_t size) noexcept {
  const Entry entry;
  File* const file = held_socket(fd);
  if (file != nullptr && level == SOL_SOCKET && size >= sizeof(timeval) &&
      (name == SO_RCVTIMEO || name == SO_SNDTIMEO)) {
    (name == SO_RCVTIMEO ? file->read_ps : file->write_ps) =
        ps_of(*static_cast<const timeval*>(value));
    return 0;
  }
  return static_cast<int>(returned(raw(SYS_setsockopt, fd, level, name, word(value), size)));
}

MRCLAB_EXPORT int close(int fd) {
  const Entry entry;
  if (file_of(fd) != nullptr && !is_borrowed()) {
    if (held()) spend_call();
    forget_interest(fd);
    drop_descriptor(fd);
  }
  return static_cast<int>(returned(raw(SYS_close, fd)));
}

MRCLAB_EXPORT int dup(int fd) noexcept {
  const Entry entry;
  return static_cast<int>(copied(fd, returned(raw(SYS_dup, fd))));
}

MRCLAB_EXPORT int dup3(int from, int to, int flags) noexcept {
  const Entry entry;
  if (from != to && !is_borrowed()) drop_descriptor(to);
  return static_cast<int>(copied(from, returned(raw(SYS_dup3, from, to, flags))));
}

MRCLAB_EXPORT int dup2(int from, int to) noexcept {
  const Entry entry;
  if (from == to) return raw(SYS_fcntl, from, F_GETFD) < 0 ? failed(EBADF) : to;
  return dup3(from, to, 0);
}

MRCLAB_EXPORT int fcntl(int fd, int command, ...) {
  const Entry entry;
  va_list arguments;
  va_start(arguments, command);
  const long argument = va_arg(arguments, long);
  va_end(arguments);
  const long result = returned(raw(SYS_fcntl, fd, command, argument));
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) copied(fd, result);
  return static_cast<int>(result);
}

MRCLAB_EXPORT int fcntl64(int fd, int command, ...) {
  const Entry entry;
  va_list arguments;
  va_start(arguments, command);
  const long argument = va_arg(arguments, long);
  va_end(arguments);
  return fcntl(fd, command, argument);
}

MRCLAB_EXPORT int ioctl(int fd, unsigned long request, ...) noexcept {
  const Entry entry;
  va_list arguments;
  va_start(arguments, request);
  const long argument = va_arg(arguments, long);
  va_end(arguments);
  if (request == FIONREAD) {
    if (File* const file = held_socket(fd)) {
      *reinterpret_cast<int*>(argument) = bytes_arrived(fd, *file);
      return 0;
    }
  }
  return static_cast<int>(returned(raw(SYS_ioctl, fd, static_cast<long>(request), argument)));
}

MRCLAB_EXPORT int pipe2(int* ends, int flags) noexcept {
  const Entry entry;
  const long result = returned(raw(SYS_pipe2, word(ends), flags));
  if (result == 0) {
    note(ends[0], Kind::kLocal);
    note(ends[1], Kind::kLocal);
  }
  return static_cast<int>(result);
}

MRCLAB_EXPORT int pipe(int* ends) noexcept { return pipe2(ends, 0); }

MRCLAB_EXPORT int eventfd(unsigned value, int flags) noexcept {
  const Entry entry;
  return static_cast<int>(note(returned(raw(SYS_eventfd2, value, flags)), Kind::kLocal));
}
