#pragma once
// IPv4 addresses, neighbours and routes: as few as a network needs that is beside the fabric. What the fabric itself has is
// IPv6 (route.h).

#include <cstdint>
#include <optional>
#include <string>

#include "fabric/topology/topology.h"
#include "netio/kernel/link.h"

namespace mrclab::netio {

/// "10.255.0.1" of an address in host order.
std::string ipv4_text(uint32_t address);

struct Ipv4Prefix {
  uint32_t address = 0;  ///< host order
  uint8_t length = 32;
};
std::string prefix_text(const Ipv4Prefix& prefix);

/// Requests are sent in order, with a bounded number in flight; an error names the request.
class Ipv4Batch {
 public:
  explicit Ipv4Batch(NamespaceNetlink& netlink) : netlink_(netlink) {}

  /// Adds an address, without the route to its network that the kernel would add.
  void address(const std::string& dev, const Ipv4Prefix& prefix);
  /// Adds a permanent neighbour entry, so that the kernel never asks for it on the wire.
  void neighbour(const std::string& dev, uint32_t address, const MacAddress& mac);
  /// Adds or replaces a route: through the neighbour `via`, which is on the link whatever its address is, or to whoever has the
  /// address on the link.
  void route(const std::string& dev, const Ipv4Prefix& to,
             std::optional<uint32_t> via = std::nullopt);
  /// Waits until the kernel has taken all; throws the first refusal as SystemError.
  void flush() { netlink_.flush(); }

 private:
  NamespaceNetlink& netlink_;
};

}  // namespace mrclab::netio
