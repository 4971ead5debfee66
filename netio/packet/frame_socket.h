#pragma once
// Whole Ethernet frames on one interface: sends any bytes, and sees frames as they arrived,
// whichever program or kernel part reads or forwards them, too. For measuring from outside;
// packet_port.h is what the daemons use.
//
// libpcap's ring has its own copy of each frame. A plain packet socket would share the kernel's, and the
// kernel's SRv6 shifts a carrier in place: it would show frames as they leave.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "netio/kernel/namespace.h"

struct pcap;

namespace mrclab::netio {

class FrameSocket {
 public:
  /// Opens an interface of that namespace, which may be down; the calling thread stays in its own.
  /// Throws SystemError.
  FrameSocket(const NetworkNamespace& where, const std::string& device);

  /// Throws SystemError unless the kernel took all of it.
  void send(std::span<const uint8_t> frame) const;
  /// The next frame that arrived, of which up to 2,048 bytes are kept; good until the next call. Empty
  /// if there is none now.
  std::optional<std::span<const uint8_t>> receive() const;

 private:
  struct Close {
    void operator()(pcap* handle) const;
  };
  std::string name_;
  std::unique_ptr<pcap, Close> handle_;
};

}  // namespace mrclab::netio
