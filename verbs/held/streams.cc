#include "verbs/held/streams.h"

#include <poll.h>
#include <signal.h>

#include <cstring>

#include "verbs/held/baton.h"
#include "verbs/held/children.h"
#include "verbs/held/raw.h"

namespace mrclab::verbs::held {
namespace {

constexpr uint32_t kMaxParts = 64;

uint64_t length_of(const msghdr& message) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < message.msg_iovlen; ++i) bytes += message.msg_iov[i].iov_len;
  return bytes;
}

/// The parts of `message` from `skip` on, of at most `bytes`. How many there are.
uint32_t cut(const msghdr& message, uint64_t skip, uint64_t bytes, iovec* parts) {
  uint32_t count = 0;
  for (size_t i = 0; i < message.msg_iovlen && bytes > 0 && count < kMaxParts; ++i) {
    const iovec& part = message.msg_iov[i];
    if (skip >= part.iov_len) {
      skip -= part.iov_len;
      continue;
    }
    const uint64_t left = part.iov_len - skip;
    const uint64_t take = left < bytes ? left : bytes;
    parts[count++] = {static_cast<char*>(part.iov_base) + skip, take};
    bytes -= take;
    skip = 0;
  }
  return count;
}

/// Moves exactly `bytes`, of which the other end's kernel has all or soon will: returns fewer only where it is gone.
uint64_t move(long call, int fd, const msghdr& message, uint64_t skip, uint64_t bytes, int flags) {
  uint64_t moved = 0;
  while (moved < bytes) {
    iovec parts[kMaxParts];
    msghdr piece{};
    piece.msg_iov = parts;
    piece.msg_iovlen = cut(message, skip + moved, bytes - moved, parts);
    const long result = raw(call, fd, word(&piece), flags);
    if (result > 0) moved += static_cast<uint64_t>(result);
    if (result > 0 || result == -EINTR) continue;
    if (result != -EAGAIN) break;
    pollfd file{fd, static_cast<short>(call == SYS_recvmsg ? POLLIN : POLLOUT), 0};
    raw(SYS_ppoll, word(&file), 1, 0, 0, 8);
  }
  return moved;
}

bool restarts(int signal_number) {
  struct sigaction action {};
  return sigaction(signal_number, nullptr, &action) == 0 && (action.sa_flags & SA_RESTART) != 0;
}

/// A connect that was not waited for stands by now, or not yet. 0 or an errno of read and write.
int complete(int fd, File& file) {
  if (file.phase == Phase::kConnected) return 0;
  if (file.phase != Phase::kConnecting) return ENOTCONN;
  const int state = connect_state(fd, file);
  return state == EINPROGRESS ? EAGAIN : state;
}

/// Waits once for `wait`. True: look again. False: `outcome` is what the call came to.
bool wait_once(Wait& wait, uint64_t moved, Outcome& outcome) {
  for (;;) {
    switch (block(wait)) {
      case Woken::kReady: return true;
      case Woken::kTime:
        outcome = moved > 0 ? Outcome{static_cast<long>(moved)} : refused(EAGAIN);
        return false;
      case Woken::kNotHeld:
        outcome = moved > 0 ? Outcome{static_cast<long>(moved)} : Outcome{0, true};
        return false;
      case Woken::kSignal:
        if (restarts(SIGALRM)) continue;
        outcome = moved > 0 ? Outcome{static_cast<long>(moved)} : refused(EINTR);
        return false;
    }
  }
}

}  // namespace

Outcome receive(int fd, File& file, msghdr& message, int flags) {
  const uint64_t wanted = length_of(message);
  Wait wait;
  wait.socket_count = 1;
  wait.sockets[0] = file.number;
  wait.cancels = true;
  if (file.read_ps != 0) wait.until_ps = now_ps() + file.read_ps;
  message.msg_controllen = 0;
  message.msg_flags = 0;
  message.msg_namelen = 0;
  uint64_t got = 0;
  Outcome outcome{0};
  if (wanted == 0) return outcome;
  for (;;) {
    SocketReply reply{};
    int status = complete(fd, file);
    const bool peek = (flags & MSG_PEEK) != 0;
    if (status == 0) status = ask(file, SocketOp::kReceive, peek ? 0 : wanted - got, &reply);
    if (!held()) return got > 0 ? Outcome{static_cast<long>(got)} : Outcome{0, true};
    if (status == 0 && reply.bytes > 0) {
      const uint64_t bytes = reply.bytes < wanted - got ? reply.bytes : wanted - got;
      got += move(SYS_recvmsg, fd, message, got, bytes, peek ? MSG_PEEK | MSG_WAITALL : 0);
      if (got == wanted || peek || (flags & MSG_WAITALL) == 0) return {static_cast<long>(got)};
      continue;
    }
    if (status == 0) return {static_cast<long>(got)};  // the end, or nothing was wanted
    if (status != EAGAIN) return got > 0 ? Outcome{static_cast<long>(got)} : refused(status);
    if ((flags & MSG_DONTWAIT) != 0 || is_nonblocking(fd))
      return got > 0 ? Outcome{static_cast<long>(got)} : refused(EAGAIN);
    if (!wait_once(wait, got, outcome)) return outcome;
  }
}

Outcome send(int fd, File& file, const msghdr& message, int flags) {
  const uint64_t wanted = length_of(message);
  Wait wait;
  wait.socket_count = 1;
  wait.sockets[0] = file.number;
  wait.cancels = true;
  if (file.write_ps != 0) wait.until_ps = now_ps() + file.write_ps;
  uint64_t sent = 0;
  Outcome outcome{0};
  while (sent < wanted) {
    SocketReply reply{};
    int status = complete(fd, file);
    if (status == 0) status = ask(file, SocketOp::kSent, wanted - sent, &reply);
    if (!held()) return sent > 0 ? Outcome{static_cast<long>(sent)} : Outcome{0, true};
    file.no_room = status == EAGAIN;
    if (status == 0 && reply.bytes > 0 && reply.bytes <= wanted - sent) {
      sent += move(SYS_sendmsg, fd, message, sent, reply.bytes, MSG_NOSIGNAL);
      continue;
    }
    if (status == 0) return refused(EPROTO);
    if (status != EAGAIN) {
      if (sent > 0) break;
      if (status == EPIPE && (flags & MSG_NOSIGNAL) == 0)
        raw(SYS_tgkill, program.real_pid, raw(SYS_gettid), SIGPIPE);
      return refused(status);
    }
    if ((flags & MSG_DONTWAIT) != 0 || is_nonblocking(fd))
      return sent > 0 ? Outcome{static_cast<long>(sent)} : refused(EAGAIN);
    if (!wait_once(wait, sent, outcome)) return outcome;
  }
  return {static_cast<long>(sent)};
}

int bytes_arrived(int fd, File& file) {
  SocketReply reply{};
  if (complete(fd, file) != 0 || ask(file, SocketOp::kReceive, 0, &reply) != 0) return 0;
  return static_cast<int>(reply.bytes);
}

Outcome await_readable(int fd, File& file) {
  // A pipe that a child writes into gets its bytes while fabric time stands.
  const bool local = file.kind == Kind::kLocal;
  if (local && (!has_other_threads() || has_children())) return {0, true};
  if (is_nonblocking(fd)) return {0, true};
  pollfd one{fd, POLLIN, 0};
  Wait wait;
  wait.files = &one;
  wait.cancels = true;
  wait.file_count = 1;
  Outcome outcome{0, true};
  while (poll_now(&one, 1) == 0) {
    if (!wait_once(wait, 0, outcome)) return outcome;
  }
  return {0, true};
}

}  // namespace mrclab::verbs::held
