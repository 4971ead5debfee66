// Calls of the kind that are rarely seen: what can be had by others is done by them, the rest ends being held, by name,
// and not in a hang.

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "verbs/held/entry.h"
#include "verbs/held/next.h"
#include "verbs/held/raw.h"
#include "verbs/held/streams.h"

namespace mrclab::verbs::held {
namespace {

bool is_held_socket(int fd) {
  if (program.standing.load() != Standing::kHeld) return false;
  const File* const file = file_of(fd);
  return file != nullptr && file->kind == Kind::kSocket;
}

int descriptor_of(void* cookie) { return static_cast<int>(reinterpret_cast<intptr_t>(cookie)); }
ssize_t read_cookie(void* cookie, char* buffer, size_t size) {
  return ::read(descriptor_of(cookie), buffer, size);
}
ssize_t write_cookie(void* cookie, const char* buffer, size_t size) {
  const ssize_t sent = ::write(descriptor_of(cookie), buffer, size);
  return sent < 0 ? 0 : sent;
}
int close_cookie(void* cookie) { return ::close(descriptor_of(cookie)); }

}  // namespace
}  // namespace mrclab::verbs::held

using namespace mrclab::verbs::held;

/// Streams of the C library read past the functions of that name.
MRCLAB_EXPORT FILE* fdopen(int fd, const char* mode) noexcept {
  const Entry entry;
  if (is_held_socket(fd))
    return fopencookie(reinterpret_cast<void*>(static_cast<intptr_t>(fd)), mode,
                       {read_cookie, write_cookie, nullptr, close_cookie});
  MRCLAB_NEXT(fdopen);
  return real(fd, mode);
}

MRCLAB_EXPORT ssize_t sendfile(int to, int from, off_t* offset, size_t size) noexcept {
  const Entry entry;
  if (!is_held_socket(to))
    return returned(raw(SYS_sendfile, to, from, word(offset), static_cast<long>(size)));
  char buffer[16 * 1024];
  const size_t part = size < sizeof buffer ? size : sizeof buffer;
  const long got = offset == nullptr
                       ? raw(SYS_read, from, word(buffer), static_cast<long>(part))
                       : raw(SYS_pread64, from, word(buffer), static_cast<long>(part), *offset);
  if (got <= 0) return returned(got);
  const ssize_t sent = ::write(to, buffer, static_cast<size_t>(got));
  if (sent > 0 && offset != nullptr) *offset += sent;
  if (sent >= 0 && sent < got && offset == nullptr) raw(SYS_lseek, from, sent - got, SEEK_CUR);
  return sent;
}

MRCLAB_EXPORT ssize_t sendfile64(int to, int from, off64_t* offset, size_t size) noexcept {
  return sendfile(to, from, offset, size);
}

MRCLAB_EXPORT int sendmmsg(int fd, mmsghdr* messages, unsigned count, int flags) {
  const Entry entry;
  if (!is_held_socket(fd))
    return static_cast<int>(returned(raw(SYS_sendmmsg, fd, word(messages), count, flags)));
  unsigned done = 0;
  for (; done < count; ++done) {
    const ssize_t sent = ::sendmsg(fd, &messages[done].msg_hdr, flags);
    if (sent < 0) break;
    messages[done].msg_len = static_cast<unsigned>(sent);
  }
  return done > 0 || count == 0 ? static_cast<int>(done) : -1;
}

MRCLAB_EXPORT int recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags,
                           timespec* timeout) {
  const Entry entry;
  if (!is_held_socket(fd) || count == 0)
    return static_cast<int>(
        returned(raw(SYS_recvmmsg, fd, word(messages), count, flags, word(timeout))));
  const ssize_t got = ::recvmsg(fd, &messages[0].msg_hdr, flags & ~MSG_WAITFORONE);
  if (got < 0) return -1;
  messages[0].msg_len = static_cast<unsigned>(got);
  return 1;
}

MRCLAB_EXPORT ssize_t splice(int from, off64_t* from_offset, int to, off64_t* to_offset,
                             size_t size, unsigned flags) {
  const Entry entry;
  if (is_held_socket(from) || is_held_socket(to))
    not_held(__builtin_return_address(0), "moves bytes of a socket by splice");
  return returned(raw(SYS_splice, from, word(from_offset), to, word(to_offset),
                      static_cast<long>(size), flags));
}

MRCLAB_EXPORT int timer_create(clockid_t clock, sigevent* event, timer_t* timer) noexcept {
  const Entry entry;
  if (program.standing.load() == Standing::kHeld)
    not_held(__builtin_return_address(0), "measures time by timer_create");
  MRCLAB_NEXT(timer_create);
  return real(clock, event, timer);
}
