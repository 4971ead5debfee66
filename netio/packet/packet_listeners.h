#pragma once
// Does anybody but the lab's daemons look at the packets of a namespace? tcpdump, Wireshark, libpcap, scapy and
// programs with raw sockets of their own all have a packet socket there, which the kernel lists in /proc/net/packet.

#include "netio/kernel/namespace.h"
#include "netio/system/file_descriptor.h"

namespace mrclab::netio {

class PacketListeners {
 public:
  /// `nodes` of ours have a PacketSocket each in this namespace. Throws SystemError.
  explicit PacketListeners(const NetworkNamespace& ns, size_t nodes = 1);

  /// Reads the kernel's list: one system call, some microseconds. A socket is a daemon's if it listens to all interfaces,
  /// to a protocol of PacketSocket's, and each of `nodes` has one of that kind; a list that is too long to be theirs, or
  /// cannot be read, has others. What listens to no protocol only sends.
  bool others() const;

 private:
  size_t nodes_;
  FileDescriptor list_;
};

}  // namespace mrclab::netio
