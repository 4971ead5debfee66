#include "netio/kernel/packet_sockets.h"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

int buffer(const FileDescriptor& socket, int option) {
  int size = 0;
  socklen_t length = sizeof size;
  check_system_call("getsockopt", ::getsockopt(socket.get(), SOL_SOCKET, option, &size, &length));
  return size;
}

FileDescriptor open_socket(int domain) {
  return FileDescriptor(
      check_system_call("open a socket", ::socket(domain, SOCK_DGRAM | SOCK_CLOEXEC, 0)));
}

}  // namespace

TEST_SUITE("root: packets") {
  TEST_CASE("the packet sockets of a child hold what they are told to, its other sockets do not") {
    const FileDescriptor packets = open_socket(AF_PACKET), other = open_socket(AF_UNIX);
    const int sent = buffer(other, SO_SNDBUF), received = buffer(other, SO_RCVBUF);
    ChildOptions options;
    options.argv = {"sleep", "1000"};
    options.descriptors = {{packets.get(), 3}, {other.get(), 4}};
    ChildProcess child = ChildProcess::spawn(options);
    CHECK(set_packet_buffers(child, 50'000'000, 4'000'000) == 1);
    CHECK(buffer(packets, SO_SNDBUF) == 100'000'000);  // the kernel doubles it
    CHECK(buffer(packets, SO_RCVBUF) == 8'000'000);
    CHECK(buffer(other, SO_SNDBUF) == sent);
    CHECK(buffer(other, SO_RCVBUF) == received);
    CHECK(set_packet_buffers(child, size_t{1} << 40, 1000) == 1);  // what no int holds is cut
    CHECK(buffer(packets, SO_SNDBUF) > 2'000'000'000);

    child.stop(std::chrono::seconds(1));
    CHECK_THROWS_AS(set_packet_buffers(child, 1000, 1000), SystemError);
  }
}

}  // namespace mrclab::netio
