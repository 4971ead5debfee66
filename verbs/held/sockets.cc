#include "verbs/held/sockets.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <cstring>

#include "verbs/held/baton.h"
#include "verbs/held/raw.h"
#include "verbs/protocol/management_address.h"

namespace mrclab::verbs::held {
namespace {

// Ports that nobody asked for by number. The kernel would draw them.
constexpr uint16_t kFirstPort = 40'000;
constexpr uint16_t kPorts = 16'000;
constexpr uint16_t kPortsOfProgram = 1'000;  ///< programs of one host begin apart
uint16_t ports_given;

uint32_t own_address() { return management_address(program.hello.host_number); }

/// The host's own address is meant by no address and by those of the loopback.
uint32_t in_lab(uint32_t address) {
  return address == INADDR_ANY || (address >> 24) == 127 ? own_address() : address;
}

sockaddr_in internet(uint32_t address, uint16_t port) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_addr.s_addr = htonl(address);
  result.sin_port = htons(port);
  return result;
}

long bind_really(int fd, uint32_t address, uint16_t port) {
  const sockaddr_in real = internet(address, port);
  return raw(SYS_bind, fd, word(&real), sizeof real);
}

/// Binds to the own address and `port`, or to the next of those that are given if that is 0. A negative errno if not.
long bind_here(int fd, File& file, uint16_t port) {
  long result = -EADDRINUSE;
  if (port != 0) {
    result = bind_really(fd, own_address(), port);
  } else {
    for (int tries = 0; tries < kPorts && result == -EADDRINUSE; ++tries) {
      port = static_cast<uint16_t>(
          kFirstPort + (program.hello.program * kPortsOfProgram + ports_given++) % kPorts);
      result = bind_really(fd, own_address(), port);
    }
  }
  if (result != 0) return result;
  file.phase = Phase::kBound;
  file.address = own_address();
  file.port = port;
  return 0;
}

bool is_internet(const sockaddr* address, socklen_t size) {
  return address != nullptr && size >= sizeof(sockaddr_in) && address->sa_family == AF_INET;
}

void await_file(int fd, short events) {
  pollfd file{fd, events, 0};
  raw(SYS_ppoll, word(&file), 1, 0, 0, 8);
}

/// The real connection behind one that the management network has accepted: the other end listens already.
long connect_really(int fd, const File& file) {
  const sockaddr_in to = internet(file.peer_address, file.peer_port);
  long result;
  do {
    result = raw(SYS_connect, fd, word(&to), sizeof to);
    if (result == -EINPROGRESS || result == -EALREADY || result == -EINTR) await_file(fd, POLLOUT);
  } while (result == -EINPROGRESS || result == -EALREADY || result == -EINTR);
  return result == -EISCONN ? 0 : result;
}

/// From the real socket, the connection of `address`:`port`; others wait in `early`. A negative errno if none comes.
long take_connection(int fd, File& file, uint32_t address, uint16_t port, int flags) {
  for (uint32_t i = 0; i < file.early_count; ++i) {
    if (file.early[i].address != address || file.early[i].port != port) continue;
    const int taken = file.early[i].fd;
    file.early[i] = file.early[--file.early_count];
    raw(SYS_fcntl, taken, F_SETFL, (flags & SOCK_NONBLOCK) != 0 ? O_NONBLOCK : 0);
    raw(SYS_fcntl, taken, F_SETFD, (flags & SOCK_CLOEXEC) != 0 ? FD_CLOEXEC : 0);
    return taken;
  }
  while (file.early_count < kMaxBacklog) {
    sockaddr_in from{};
    socklen_t size = sizeof from;
    const long taken = raw(SYS_accept4, fd, word(&from), word(&size), flags);
    if (taken == -EAGAIN) await_file(fd, POLLIN);
    if (taken == -EAGAIN || taken == -EINTR || taken == -ECONNABORTED) continue;
    if (taken < 0) return taken;
    if (ntohl(from.sin_addr.s_addr) == address && ntohs(from.sin_port) == port) return taken;
    file.early[file.early_count++] = {static_cast<int>(taken), ntohl(from.sin_addr.s_addr),
                                      ntohs(from.sin_port)};
  }
  return -ECONNABORTED;
}

void at_once(int fd) {
  const int on = 1;
  raw(SYS_setsockopt, fd, IPPROTO_TCP, TCP_NODELAY, word(&on), sizeof on);
}

}  // namespace

Outcome refused(int error) { return {failed(error)}; }

int ask(File& file, SocketOp what, uint64_t bytes, SocketReply* reply) {
  struct {
    RequestHeader header;
    SocketRequest socket;
  } request{};
  struct {
    ReplyHeader header;
    SocketReply socket;
  } answer{};
  request.header.op = Op::kSocket;
  request.header.size = sizeof request;
  request.socket.what = what;
  request.socket.socket = file.number;
  request.socket.bytes = bytes;
  const bool connects = what == SocketOp::kConnect;
  request.socket.address = connects ? file.peer_address : file.address;
  request.socket.port = connects ? file.peer_port : file.port;
  request.socket.local_port = file.port;
  const int status = transact(&request, &answer, sizeof answer, nullptr);
  if (reply != nullptr) *reply = answer.socket;
  return status;
}

Outcome bind_socket(int fd, File& file, const sockaddr* address, socklen_t size) {
  if (!is_internet(address, size)) return refused(EINVAL);
  const auto* const wanted = reinterpret_cast<const sockaddr_in*>(address);
  if (in_lab(ntohl(wanted->sin_addr.s_addr)) != own_address()) return refused(EADDRNOTAVAIL);
  if (file.phase != Phase::kFresh) return refused(EINVAL);
  return {returned(bind_here(fd, file, ntohs(wanted->sin_port)))};
}

Outcome listen_socket(int fd, File& file, int backlog) {
  if (file.phase == Phase::kListening) return {0};
  if (file.phase == Phase::kFresh) {
    const long bound = bind_here(fd, file, 0);
    if (bound != 0) return {returned(bound)};
  }
  if (file.phase != Phase::kBound) return refused(EINVAL);
  const long result = raw(SYS_listen, fd, kMaxBacklog);
  if (result != 0) return {returned(result)};
  const uint64_t may_wait = backlog < 1 ? 1 : static_cast<uint64_t>(backlog);
  const int status = ask(file, SocketOp::kListen, may_wait < kMaxBacklog ? may_wait : kMaxBacklog);
  if (status != 0) return refused(status);
  file.phase = Phase::kListening;
  return {0};
}

int connect_state(int fd, File& file) {
  if (file.phase == Phase::kConnected) return 0;
  if (file.phase != Phase::kConnecting) return ENOTCONN;
  const int status = ask(file, SocketOp::kReceive, 0);
  if (status == EINPROGRESS) return EINPROGRESS;
  if (status != 0 && status != EAGAIN) {
    file.phase = Phase::kRefused;
    return status;
  }
  const long result = connect_really(fd, file);
  if (result != 0) {
    file.phase = Phase::kRefused;
    return static_cast<int>(-result);
  }
  at_once(fd);
  file.phase = Phase::kConnected;
  ask(file, SocketOp::kConnected, 0);
  return 0;
}

Outcome connect_socket(int fd, File& file, const sockaddr* address, socklen_t size) {
  if (!is_internet(address, size)) return refused(EAFNOSUPPORT);
  if (file.phase == Phase::kConnected || file.phase == Phase::kListening) return refused(EISCONN);
  if (file.phase != Phase::kConnecting) {
    const auto* const wanted = reinterpret_cast<const sockaddr_in*>(address);
    const uint32_t to = in_lab(ntohl(wanted->sin_addr.s_addr));
    if (managed_host(to) == UINT32_MAX) {
      not_held(__builtin_return_address(0), "connects to something that is no host of its lab");
      return {0, true};
    }
    if (file.phase == Phase::kFresh) {
      const long bound = bind_here(fd, file, 0);
      if (bound != 0) return {returned(bound)};
    }
    file.peer_address = to;
    file.peer_port = ntohs(wanted->sin_port);
    const int status = ask(file, SocketOp::kConnect, 0);
    if (status != 0) return refused(status);
    file.phase = Phase::kConnecting;
    if (is_nonblocking(fd)) return refused(EINPROGRESS);
  } else if (is_nonblocking(fd)) {
    const int state = connect_state(fd, file);
    return state == 0 ? Outcome{0} : refused(state == EINPROGRESS ? EALREADY : state);
  }
  Wait wait;
  wait.socket_count = 1;
  wait.sockets[0] = file.number;
  if (file.write_ps != 0) wait.until_ps = now_ps() + file.write_ps;
  for (;;) {
    const int state = connect_state(fd, file);
    if (state == 0) return {0};
    if (state != EINPROGRESS) return refused(state);
    const Woken woken = block(wait);
    if (woken == Woken::kNotHeld) return {0, true};
    if (woken == Woken::kSignal) return refused(EINTR);
    if (woken == Woken::kTime) return refused(EINPROGRESS);
  }
}

Outcome accept_socket(int fd, File& file, sockaddr* address, socklen_t* size, int flags) {
  if (file.phase != Phase::kListening) return refused(EINVAL);
  Wait wait;
  wait.socket_count = 1;
  wait.sockets[0] = file.number;
  if (file.read_ps != 0) wait.until_ps = now_ps() + file.read_ps;
  while (ask(file, SocketOp::kAccept, 0) != 0) {
    if (!held()) return {0, true};
    if (is_nonblocking(fd)) return refused(EAGAIN);
    const Woken woken = block(wait);
    if (woken == Woken::kNotHeld) return {0, true};
    if (woken == Woken::kSignal) return refused(EINTR);
    if (woken == Woken::kTime) return refused(EAGAIN);
  }
  // The descriptor first, for the number; the connection itself when it is known whose it is.
  File* const made = add_spare_file();
  if (made == nullptr) return {0, true};
  SocketReply reply{};
  const int status = ask(file, SocketOp::kAccept, made->number, &reply);
  if (status != 0) {
    made->descriptors = 0;
    return refused(status);
  }
  const long taken = take_connection(fd, file, reply.address, reply.port, flags);
  if (taken < 0) {
    close_socket(*made);
    made->descriptors = 0;
    return {returned(taken)};
  }
  at_once(static_cast<int>(taken));
  made->phase = Phase::kConnected;
  made->address = own_address();
  made->port = file.port;
  made->peer_address = reply.address;
  made->peer_port = reply.port;
  give_descriptor(*made, static_cast<int>(taken));
  if (address != nullptr && size != nullptr) {
    const sockaddr_in from = internet(reply.address, reply.port);
    std::memcpy(address, &from, *size < sizeof from ? *size : sizeof from);
    *size = sizeof from;
  }
  return {taken};
}

Outcome shutdown_socket(int fd, File& file, int how) {
  if (file.phase != Phase::kConnected) return refused(ENOTCONN);
  const int status = ask(file, SocketOp::kShutdown, static_cast<uint64_t>(how));
  if (status != 0) return refused(status);
  // What has been sent stands before the end in the real connection, too; that it is closed is known by the server.
  if (how != SHUT_RD) raw(SYS_shutdown, fd, SHUT_WR);
  return {0};
}

void close_socket(File& file) {
  for (uint32_t i = 0; i < file.early_count; ++i) raw(SYS_close, file.early[i].fd);
  file.early_count = 0;
  const bool known = file.phase == Phase::kListening || file.phase == Phase::kConnecting ||
                     file.phase == Phase::kRefused || file.phase == Phase::kConnected;
  if (known && program.standing.load() == Standing::kHeld) ask(file, SocketOp::kClose, 0);
  file.phase = Phase::kFresh;
}

}  // namespace mrclab::verbs::held
