#pragma once
// Somebody who listens at an interface, as libpcap does it.

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <vector>

#include "fabric/packet/bundle.h"
#include "netio/kernel/namespace.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/system_error.h"

namespace mrclab::netio::test {

/// Asks for all packets of an interface, which is promiscuous until the socket dies, or asks for them no more.
inline void set_promiscuous(const FileDescriptor& socket, const NetworkNamespace& ns,
                            const char* interface, bool on) {
  packet_mreq wanted{};
  wanted.mr_ifindex = static_cast<int>(ns.run_in([&] { return ::if_nametoindex(interface); }));
  wanted.mr_type = PACKET_MR_PROMISC;
  check_system_call(
      "ask for all packets",
      ::setsockopt(socket.get(), SOL_PACKET, on ? PACKET_ADD_MEMBERSHIP : PACKET_DROP_MEMBERSHIP,
                   &wanted, sizeof wanted));
}

/// Receives nothing yet.
inline FileDescriptor packet_socket(const NetworkNamespace& ns) {
  return ns.run_in([] {
    return FileDescriptor(check_system_call("open a packet socket",
                                            ::socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0)));
  });
}

inline FileDescriptor promiscuous_socket(const NetworkNamespace& ns, const char* interface) {
  FileDescriptor socket = packet_socket(ns);
  set_promiscuous(socket, ns, interface, true);
  return socket;
}

/// From now on it receives the packets of the interface, those that leave, too.
inline void begin_to_listen(const FileDescriptor& socket, const NetworkNamespace& ns,
                            const char* interface) {
  const int room = 16 << 20;
  check_system_call("make room",
                    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room));
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(ns.run_in([&] { return ::if_nametoindex(interface); }));
  check_system_call("listen",
                    ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
}

/// As `tcpdump` does it.
inline FileDescriptor listening_socket(const NetworkNamespace& ns, const char* interface) {
  FileDescriptor socket = promiscuous_socket(ns, interface);
  begin_to_listen(socket, ns, interface);
  return socket;
}

/// As `tcpdump -p` does it, of which the kernel reports nothing.
inline FileDescriptor unnoticed_socket(const NetworkNamespace& ns, const char* interface) {
  FileDescriptor socket = packet_socket(ns);
  begin_to_listen(socket, ns, interface);
  return socket;
}

struct Heard {
  int frames = 0, bundles = 0;
};

/// What waits in a listening socket.
inline Heard all_heard(const FileDescriptor& socket) {
  Heard heard;
  std::vector<uint8_t> room(64 << 10);
  for (ssize_t size; (size = ::recv(socket.get(), room.data(), room.size(), 0)) > 0;) {
    ++heard.frames;
    heard.bundles += is_bundle(std::span(room).first(static_cast<size_t>(size))) ? 1 : 0;
  }
  return heard;
}

}  // namespace mrclab::netio::test
