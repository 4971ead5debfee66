#include "netio/system/process_sockets.h"

#include <fmt/format.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <charconv>
#include <filesystem>
#include <string>

#include "netio/system/file_descriptor.h"
#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

std::vector<FileDescriptor> sockets_of(const ChildProcess& child) {
  std::vector<FileDescriptor> sockets;
  for (const int number : socket_numbers(child.pid())) {
    FileDescriptor socket(static_cast<int>(::syscall(SYS_pidfd_getfd, child.pidfd(), number, 0)));
    if (!socket && errno == EBADF) continue;  // closed meanwhile
    check_system_call(fmt::format("pidfd_getfd {} of {}", number, child.name()), socket.get());
    sockets.push_back(std::move(socket));
  }
  return sockets;
}

std::set<uint32_t> netlink_ports_of(const ChildProcess& child) {
  std::set<uint32_t> ports;
  if (child.ended()) return ports;
  for (const FileDescriptor& socket : sockets_of(child)) {
    sockaddr_nl address{};
    socklen_t size = sizeof address;
    const bool named =
        ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0;
    if (named && address.nl_family == AF_NETLINK && address.nl_pid != 0) {
      ports.insert(address.nl_pid);
    }
  }
  return ports;
}

}  // namespace mrclab::netio
