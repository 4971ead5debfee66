#include "netio/kernel/loopback_network.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>
#include <exception>
#include <thread>

#include "netio/system/file_descriptor.h"
#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

ifreq request_for(const char* name) {
  ifreq request{};
  std::strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
  return request;
}

sockaddr ipv4(uint32_t address) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_addr.s_addr = htonl(address);
  sockaddr out;
  std::memcpy(&out, &in, sizeof out);
  return out;
}

/// On loopback an address makes all of its network local (fib_add_ifaddr of the kernel): one is enough.
void set_up(uint32_t address, uint8_t bits) {
  const FileDescriptor control(
      check_system_call("make a socket", ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)));
  ifreq up = request_for("lo");
  up.ifr_flags = IFF_UP | IFF_LOOPBACK | IFF_RUNNING;
  check_system_call("set loopback up", ::ioctl(control.get(), SIOCSIFFLAGS, &up));
  ifreq own = request_for("lo:0");
  own.ifr_addr = ipv4(address);
  check_system_call("give loopback an address", ::ioctl(control.get(), SIOCSIFADDR, &own));
  own.ifr_netmask = ipv4(~uint32_t{0} << (32 - bits));
  check_system_call("give loopback a network", ::ioctl(control.get(), SIOCSIFNETMASK, &own));
}

}  // namespace

NetworkNamespace make_loopback_network(uint32_t address, uint8_t bits) {
  FileDescriptor made;
  std::exception_ptr failure;
  // unshare() is of the thread that calls it, and this one ends with it.
  std::thread([&] {
    try {
      check_system_call("make a network namespace", ::unshare(CLONE_NEWNET));
      set_up(address, bits);
      made = FileDescriptor::open("/proc/thread-self/ns/net", O_RDONLY);
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
  return NetworkNamespace::from_descriptor(std::move(made), "management");
}

}  // namespace mrclab::netio
