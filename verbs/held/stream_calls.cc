// Reading and writing: of sockets at fabric time, of all else really.

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "verbs/held/children.h"
#include "verbs/held/entry.h"
#include "verbs/held/identity.h"
#include "verbs/held/next.h"
#include "verbs/held/raw.h"
#include "verbs/held/streams.h"
#include "verbs/held/timers.h"

namespace mrclab::verbs::held {
namespace {

/// What a read of a descriptor that is not a held socket must wait for first.
Outcome before_read(int fd, File& file) {
  switch (file.kind) {
    case Kind::kEvents:
    case Kind::kLocal: return await_readable(fd, file);
    default: return {0, true};
  }
}

File* of_held(int fd) { return program.standing.load() == Standing::kHeld ? file_of(fd) : nullptr; }

/// recvmsg() and all that are the same. Everything but `message` and `flags` is done by `real`.
template <typename Real>
long read_with(int fd, msghdr& message, int flags, Real real) {
  if (File* const file = of_held(fd)) {
    // How often a child's pipe is read depends on this machine, so it costs nothing.
    if (file->kind != Kind::kLocal || !has_children()) spend_call();
    Outcome outcome{0, true};
    if (file->kind == Kind::kSocket) {
      outcome = receive(fd, *file, message, flags);
    } else if (file->kind == Kind::kRandom && message.msg_iovlen == 1) {
      fill_randomly(message.msg_iov->iov_base, message.msg_iov->iov_len);
      return static_cast<long>(message.msg_iov->iov_len);
    } else if (file->kind == Kind::kTimer && message.msg_iovlen == 1) {
      outcome = read_timer(fd, *file, message.msg_iov->iov_base, message.msg_iov->iov_len);
    } else {
      outcome = before_read(fd, *file);
    }
    if (!outcome.real) return outcome.value;
  }
  return returned(real());
}

template <typename Real>
long write_with(int fd, const msghdr& message, int flags, Real real) {
  if (File* const file = of_held(fd)) {
    if (file->kind == Kind::kSocket) {
      spend_call();
      const Outcome outcome = send(fd, *file, message, flags);
      if (!outcome.real) return outcome.value;
    }
    if (file->kind == Kind::kDatagram)
      not_held(__builtin_return_address(0), "sends datagrams beside the fabric");
  }
  return returned(real());
}

msghdr of_parts(const iovec* parts, int count) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(parts);
  message.msg_iovlen = static_cast<size_t>(count < 0 ? 0 : count);
  return message;
}

}  // namespace
}  // namespace mrclab::verbs::held

using namespace mrclab::verbs::held;

MRCLAB_EXPORT ssize_t read(int fd, void* buffer, size_t size) {
  const Entry entry;
  const iovec part{buffer, size};
  msghdr message = of_parts(&part, 1);
  return read_with(fd, message, 0,
                   [&] { return raw(SYS_read, fd, word(buffer), static_cast<long>(size)); });
}

MRCLAB_EXPORT ssize_t __read_chk(int fd, void* buffer, size_t size, size_t room) {
  const Entry entry;
  if (size > room) __builtin_trap();
  return read(fd, buffer, size);
}

MRCLAB_EXPORT ssize_t readv(int fd, const iovec* parts, int count) {
  const Entry entry;
  msghdr message = of_parts(parts, count);
  return read_with(fd, message, 0, [&] { return raw(SYS_readv, fd, word(parts), count); });
}

MRCLAB_EXPORT ssize_t recvfrom(int fd, void* __restrict buffer, size_t size, int flags,
                               sockaddr* __restrict address, socklen_t* __restrict length) {
  const Entry entry;
  const iovec part{buffer, size};
  msghdr message = of_parts(&part, 1);
  if (length != nullptr && of_held(fd) != nullptr && file_of(fd)->kind == Kind::kSocket)
    *length = 0;  // a connection has no sender's address
  return read_with(fd, message, flags, [&] {
    return raw(SYS_recvfrom, fd, word(buffer), static_cast<long>(size), flags, word(address),
               word(length));
  });
}

MRCLAB_EXPORT ssize_t __recvfrom_chk(int fd, void* __restrict buffer, size_t size, size_t room,
                                     int flags, sockaddr* __restrict address,
                                     socklen_t* __restrict length) {
  const Entry entry;
  if (size > room) __builtin_trap();
  return recvfrom(fd, buffer, size, flags, address, length);
}

MRCLAB_EXPORT ssize_t recv(int fd, void* buffer, size_t size, int flags) {
  const Entry entry;
  return recvfrom(fd, buffer, size, flags, nullptr, nullptr);
}

MRCLAB_EXPORT ssize_t __recv_chk(int fd, void* buffer, size_t size, size_t room, int flags) {
  const Entry entry;
  if (size > room) __builtin_trap();
  return recv(fd, buffer, size, flags);
}

MRCLAB_EXPORT ssize_t recvmsg(int fd, msghdr* message, int flags) {
  const Entry entry;
  File* const file = of_held(fd);
  msghdr other{};
  if (message == nullptr) return returned(raw(SYS_recvmsg, fd, 0, flags));
  if (file == nullptr || file->kind != Kind::kSocket) other = *message;
  return read_with(fd, file == nullptr || file->kind != Kind::kSocket ? other : *message, flags,
                   [&] { return raw(SYS_recvmsg, fd, word(message), flags); });
}

MRCLAB_EXPORT ssize_t write(int fd, const void* buffer, size_t size) {
  const Entry entry;
  const iovec part{const_cast<void*>(buffer), size};
  return write_with(fd, of_parts(&part, 1), 0,
                    [&] { return raw(SYS_write, fd, word(buffer), static_cast<long>(size)); });
}

MRCLAB_EXPORT ssize_t writev(int fd, const iovec* parts, int count) {
  const Entry entry;
  return write_with(fd, of_parts(parts, count), 0,
                    [&] { return raw(SYS_writev, fd, word(parts), count); });
}

MRCLAB_EXPORT ssize_t sendto(int fd, const void* buffer, size_t size, int flags,
                             const sockaddr* address, socklen_t length) {
  const Entry entry;
  const iovec part{const_cast<void*>(buffer), size};
  return write_with(fd, of_parts(&part, 1), flags, [&] {
    return raw(SYS_sendto, fd, word(buffer), static_cast<long>(size), flags, word(address), length);
  });
}

MRCLAB_EXPORT ssize_t send(int fd, const void* buffer, size_t size, int flags) {
  const Entry entry;
  return sendto(fd, buffer, size, flags, nullptr, 0);
}

MRCLAB_EXPORT ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  const Entry entry;
  if (message == nullptr) return returned(raw(SYS_sendmsg, fd, 0, flags));
  return write_with(fd, *message, flags,
                    [&] { return raw(SYS_sendmsg, fd, word(message), flags); });
}
