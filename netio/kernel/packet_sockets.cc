#include "netio/kernel/packet_sockets.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <vector>

#include "netio/kernel/file_descriptor.h"
#include "netio/kernel/system_error.h"

namespace mrclab::netio {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxSocketBuffer = (1 << 30) - 1;  // the kernel doubles it, into an int

/// The numbers of its open descriptors that are sockets of any kind.
std::vector<int> socket_numbers(pid_t process) {
  const fs::path folder = fmt::format("/proc/{}/fd", process);
  std::vector<int> numbers;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed); !failed && at != fs::directory_iterator();
       at.increment(failed)) {
    std::error_code closed_meanwhile;
    const std::string target = fs::read_symlink(at->path(), closed_meanwhile).string();
    if (closed_meanwhile || !target.starts_with("socket:")) continue;
    const std::string name = at->path().filename();
    int number = -1;
    std::from_chars(name.data(), name.data() + name.size(), number);
    numbers.push_back(number);
  }
  if (failed) throw SystemError("read " + folder.string(), failed.value());
  return numbers;
}

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
  for (const int number : socket_numbers(child.pid())) {
    const FileDescriptor socket(
        static_cast<int>(::syscall(SYS_pidfd_getfd, child.pidfd(), number, 0)));
    if (!socket && errno == EBADF) continue;  // closed meanwhile
    check_system_call(fmt::format("pidfd_getfd {} of {}", number, child.name()), socket.get());
    if (!is_packet_socket(socket)) continue;
    set_buffer(socket, SO_SNDBUFFORCE, "SO_SNDBUFFORCE", sent);
    set_buffer(socket, SO_RCVBUFFORCE, "SO_RCVBUFFORCE", received);
    ++count;
  }
  return count;
}

}  // namespace mrclab::netio
