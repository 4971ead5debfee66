#include "netio/rpc/line_channel.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <stdexcept>

namespace mrclab::netio {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kSendLimit{10'000};  // for a peer that does not read
constexpr milliseconds kRetry{20};  // between attempts to connect to a server that is not up yet

milliseconds until(Clock::time_point end) {
  const auto left = std::chrono::ceil<milliseconds>(end - Clock::now());
  return left < milliseconds::zero() ? milliseconds::zero() : left;
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Addresses resolve(const std::string& host, uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (error != 0) {
    throw std::invalid_argument("cannot resolve \"" + host + "\": " + ::gai_strerror(error));
  }
  return Addresses(list);
}

bool wait_for(int fd, short events, milliseconds limit) {
  pollfd watched{fd, events, 0};
  const auto end = Clock::now() + limit;
  while (true) {
    const int ready = ::poll(&watched, 1, static_cast<int>(until(end).count()));
    if (ready >= 0) return ready > 0;
    if (errno != EINTR) throw SystemError("wait for a socket", errno);
  }
}

FileDescriptor open_socket(const addrinfo& where) {
  return FileDescriptor(
      check_system_call("open a TCP socket",
                        ::socket(where.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
}

/// A connected socket; empty if no program listens there (yet).
FileDescriptor try_connect(const addrinfo& where, milliseconds limit) {
  FileDescriptor fd = open_socket(where);
  if (::connect(fd.get(), where.ai_addr, where.ai_addrlen) == 0) return fd;
  if (errno != EINPROGRESS || !wait_for(fd.get(), POLLOUT, limit)) return {};
  int error = 0;
  socklen_t size = sizeof error;
  check_system_call("ask a socket", ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size));
  return error == 0 ? std::move(fd) : FileDescriptor{};
}

void set_no_delay(const FileDescriptor& fd) {
  const int on = 1;
  check_system_call("set TCP_NODELAY",
                    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
}

}  // namespace

LineChannel LineChannel::accept(const std::string& address, uint16_t port, milliseconds limit) {
  const Addresses where = resolve(address, port, AI_PASSIVE | AI_NUMERICHOST);
  const FileDescriptor listener = open_socket(*where);
  const int on = 1;
  check_system_call("reuse an address",
                    ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
  check_system_call("bind port " + std::to_string(port),
                    ::bind(listener.get(), where->ai_addr, where->ai_addrlen));
  check_system_call("listen", ::listen(listener.get(), 1));
  if (!wait_for(listener.get(), POLLIN, limit)) {
    throw SystemError("wait for a peer on port " + std::to_string(port), ETIMEDOUT);
  }
  FileDescriptor fd(check_system_call(
      "accept a peer", ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)));
  set_no_delay(fd);
  return LineChannel(std::move(fd));
}

LineChannel LineChannel::connect(const std::string& host, uint16_t port, milliseconds limit) {
  const Addresses list = resolve(host, port, 0);
  const auto end = Clock::now() + limit;
  do {
    for (const addrinfo* where = list.get(); where != nullptr; where = where->ai_next) {
      FileDescriptor fd = try_connect(*where, until(end));
      if (!fd) continue;
      set_no_delay(fd);
      return LineChannel(std::move(fd));
    }
    ::poll(nullptr, 0, static_cast<int>(kRetry.count()));
  } while (Clock::now() < end);
  throw SystemError("connect to " + host + " port " + std::to_string(port), ETIMEDOUT);
}

void LineChannel::send(const std::string& line) {
  const std::string text = line + "\n";
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = ::send(fd_.get(), text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (n > 0) {
      done += static_cast<size_t>(n);
    } else if (errno == EAGAIN) {
      if (!wait_for(fd_.get(), POLLOUT, kSendLimit)) {
        throw SystemError("send to the peer", ETIMEDOUT);
      }
    } else if (errno != EINTR) {
      throw SystemError("send to the peer", errno);
    }
  }
}

/// False if nothing came within `limit`.
bool LineChannel::read_some(milliseconds limit) {
  if (!wait_for(fd_.get(), POLLIN, limit)) return false;
  std::array<char, 4096> chunk{};
  const ssize_t n = ::recv(fd_.get(), chunk.data(), chunk.size(), 0);
  if (n > 0) {
    buffer_.append(chunk.data(), static_cast<size_t>(n));
  } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
    closed_ = true;
  }
  return true;
}

bool LineChannel::ready() {
  while (!closed_ && buffer_.find('\n') == std::string::npos && buffer_.size() <= kMaxLineBytes) {
    if (!read_some(milliseconds::zero())) return false;
  }
  return true;
}

std::string LineChannel::receive(milliseconds limit) {
  const auto end = Clock::now() + limit;
  while (true) {
    const size_t line_end = buffer_.find('\n');
    if (line_end > kMaxLineBytes && buffer_.size() > kMaxLineBytes) {
      throw SystemError("read what the peer says", EMSGSIZE);
    }
    if (line_end != std::string::npos) {
      std::string line = buffer_.substr(0, line_end);
      buffer_.erase(0, line_end + 1);
      return line;
    }
    if (closed_) throw SystemError("read what the peer says", ECONNRESET);
    if (!read_some(until(end))) throw SystemError("wait for what the peer says", ETIMEDOUT);
  }
}

}  // namespace mrclab::netio
