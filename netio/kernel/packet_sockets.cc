#include "netio/kernel/packet_sockets.h"

#include <sys/socket.h>

#include <algorithm>

#include "netio/system/process_sockets.h"
#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

constexpr size_t kMaxSocketBuffer = (1 << 30) - 1;  // the kernel doubles it, into an int

bool is_packet_socket(const FileDescriptor& socket) {
  int domain = 0;
  socklen_t size = sizeof domain;
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
         domain == AF_PACKET;
}

void set_buffer(const FileDescriptor& socket, int option, const char* name, size_t bytes) {
  const int size = static_cast<int>(std::min(bytes, kMaxSocketBuffer));
  check_system_call(name, ::setsockopt(socket.get(), SOL_SOCKET, option, &size, sizeof size));
}

}  // namespace

size_t set_packet_buffers(const ChildProcess& child, size_t sent, size_t received) {
  size_t count = 0;
  for (const FileDescriptor& socket : sockets_of(child)) {
    if (!is_packet_socket(socket)) continue;
    set_buffer(socket, SO_SNDBUFFORCE, "SO_SNDBUFFORCE", sent);
    set_buffer(socket, SO_RCVBUFFORCE, "SO_RCVBUFFORCE", received);
    ++count;
  }
  return count;
}

}  // namespace mrclab::netio
