// The page's server in a process that may open nothing more.

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <chrono>
#include <string>

#include "lab/serve/page_server.h"
#include "netio/system/file_descriptor.h"

namespace mrclab::lab {
namespace {

using std::chrono::microseconds;

microseconds processor_time(int whose) {
  rusage used{};
  ::getrusage(whose, &used);
  return std::chrono::seconds(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         microseconds(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

netio::FileDescriptor new_socket() {
  netio::FileDescriptor made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(made);
  return made;
}

void connect_to(const netio::FileDescriptor& socket, uint16_t port) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
}

std::string answer(const netio::FileDescriptor& socket, const std::string& request) {
  REQUIRE(::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(request.size()));
  std::string text;
  char chunk[4096];
  for (ssize_t n; (n = ::recv(socket.get(), chunk, sizeof chunk, 0)) > 0;) {
    text.append(chunk, static_cast<size_t>(n));
  }
  return text;
}

}  // namespace

TEST_CASE("without descriptors the server waits, and serves when there are some again") {
  PageServer server({"127.0.0.1", 0, "token"});
  const netio::FileDescriptor waiting = new_socket();
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  connect_to(waiting, server.port());
  // This thread takes what a busy machine gives to one that spins; the server's takes next to nothing beside it.
  const auto others = [] { return processor_time(RUSAGE_SELF) - processor_time(RUSAGE_THREAD); };
  const auto own_before = processor_time(RUSAGE_THREAD), others_before = others();
  while (processor_time(RUSAGE_THREAD) - own_before < std::chrono::milliseconds(100)) {
  }
  const auto taken = others() - others_before;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(taken < std::chrono::milliseconds(25));
  CHECK(answer(waiting, "GET / HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
                            "\r\nConnection: close\r\n\r\n")
            .starts_with("HTTP/1.1 200"));
}

}  // namespace mrclab::lab
