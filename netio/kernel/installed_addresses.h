#pragma once
// The addresses that the kernel has in a namespace, of IPv4 and IPv6, read back.

#include <set>
#include <string>

#include "netio/kernel/link.h"

namespace mrclab::netio {

struct InstalledAddress {
  uint32_t ifindex = 0;
  std::string text;  ///< "fd00::1/128"
  auto operator<=>(const InstalledAddress&) const = default;
};

/// Those of all interfaces, also of such as are down.
std::set<InstalledAddress> installed_addresses(NamespaceNetlink& netlink);

}  // namespace mrclab::netio
