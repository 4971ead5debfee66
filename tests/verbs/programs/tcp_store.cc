#include "tests/verbs/programs/tcp_store.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <stdexcept>

namespace mrclab::test {

namespace {

/// Of each request: a head, the key, the value (only set). Of each answer: the value's length, the value.
struct Head {
  uint32_t set, key_bytes, value_bytes;
};

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

void write_all(int socket, const void* data, size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::send(socket, at, bytes, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("write to the store");
    at += n;
    bytes -= static_cast<size_t>(n);
  }
}

/// False at the end of the stream before the first byte.
bool read_all(int socket, void* data, size_t bytes) {
  char* at = static_cast<char*>(data);
  const size_t all = bytes;
  while (bytes > 0) {
    const ssize_t n = ::recv(socket, at, bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0 && bytes == all) return false;
    if (n <= 0) fail("read from the store");
    at += n;
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

sockaddr_in resolve(const std::string& address, uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(address.c_str(), nullptr, &hints, &found);
  if (error != 0) throw std::runtime_error(address + ": " + ::gai_strerror(error));
  sockaddr_in result{};
  std::memcpy(&result, found->ai_addr, sizeof result);
  ::freeaddrinfo(found);
  result.sin_port = htons(port);
  return result;
}

int connect_to(const sockaddr_in& to, uint32_t seconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  for (;;) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket < 0) fail("socket");
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) {
      const int on = 1;
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      return socket;
    }
    const int error = errno;
    ::close(socket);
    // The server may not listen yet; its host may not be up.
    if (std::chrono::steady_clock::now() > until) {
      errno = error;
      fail("connect to the store");
    }
    ::usleep(10'000);
  }
}

}  // namespace

TcpStore::TcpStore(uint32_t rank, uint32_t size, const std::string& address, uint16_t port,
                   uint32_t seconds)
    : rank_(rank), size_(size) {
  const sockaddr_in to = resolve(address, port);
  if (rank == 0) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(listener_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) fail("bind");
    if (::listen(listener_, static_cast<int>(size)) != 0) fail("listen");
    server_ = std::thread([this] { serve(); });
  }
  socket_ = connect_to(to, seconds);
}

TcpStore::~TcpStore() {
  ::close(socket_);
  if (server_.joinable()) server_.join();
  if (listener_ >= 0) ::close(listener_);
}

void TcpStore::serve() try {
  std::map<std::string, std::vector<char>> values;
  std::list<std::pair<std::string, int>> waiting;
  std::vector<int> sockets;
  const auto answer = [](int socket, const std::vector<char>& value) {
    const auto bytes = static_cast<uint32_t>(value.size());
    write_all(socket, &bytes, sizeof bytes);
    write_all(socket, value.data(), value.size());
  };
  for (uint32_t gone = 0; gone < size_;) {
    std::vector<pollfd> ready;
    for (const int socket : sockets) ready.push_back({socket, POLLIN, 0});
    if (sockets.size() + gone < size_) ready.push_back({listener_, POLLIN, 0});
    if (::poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) fail("poll");
    for (const pollfd& one : ready) {
      if (one.revents == 0) continue;
      if (one.fd == listener_) {
        sockets.push_back(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
        continue;
      }
      Head head{};
      if (!read_all(one.fd, &head, sizeof head)) {
        std::erase(sockets, one.fd);
        ::close(one.fd);
        ++gone;
        continue;
      }
      if (head.key_bytes > kMaxBytes || head.value_bytes > kMaxBytes || values.size() > kMaxKeys) {
        throw std::runtime_error("the store's peer asks for too much");
      }
      std::string key(head.key_bytes, 0);
      std::vector<char> value(head.value_bytes);
      read_all(one.fd, key.data(), key.size());
      if (!value.empty()) read_all(one.fd, value.data(), value.size());
      if (head.set != 0) {
        values[key] = value;
        waiting.remove_if([&](const auto& wait) {
          if (wait.first != key) return false;
          answer(wait.second, value);
          return true;
        });
      } else if (const auto found = values.find(key); found != values.end()) {
        answer(one.fd, found->second);
      } else {
        waiting.emplace_back(key, one.fd);
      }
    }
  }
} catch (const std::exception& error) {
  // Who waits here sees the end of its connection.
  std::fprintf(stderr, "store: %s\n", error.what());
}

void TcpStore::set(const std::string& key, const std::vector<char>& data) {
  const Head head{1, static_cast<uint32_t>(key.size()), static_cast<uint32_t>(data.size())};
  write_all(socket_, &head, sizeof head);
  write_all(socket_, key.data(), key.size());
  write_all(socket_, data.data(), data.size());
}

std::vector<char> TcpStore::get(const std::string& key) {
  const Head head{0, static_cast<uint32_t>(key.size()), 0};
  write_all(socket_, &head, sizeof head);
  write_all(socket_, key.data(), key.size());
  uint32_t bytes = 0;
  if (!read_all(socket_, &bytes, sizeof bytes) || bytes > kMaxBytes) {
    throw std::runtime_error("the store is gone");
  }
  std::vector<char> value(bytes);
  if (bytes > 0) read_all(socket_, value.data(), bytes);
  return value;
}

void TcpStore::wait(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) get(key);
}

void TcpStore::wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) {
  wait(keys);
}

void TcpStore::barrier(const std::string& name) {
  set(name + "/" + std::to_string(rank_), {'1'});
  for (uint32_t rank = 0; rank < size_; ++rank) get(name + "/" + std::to_string(rank));
}

}  // namespace mrclab::test
