#pragma once
// The rate of an interface that the kernel sends from (forwarding by kernel or Open vSwitch): a token
// bucket with a queue of its own, `tbf`. Our own nodes shape in fabric time and need none.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "netio/kernel/link.h"

namespace mrclab::netio {

struct Shaper {
  uint64_t bytes_per_second = 0;
  uint32_t burst = 0;  ///< bytes; at least the largest frame, or nothing passes
  uint32_t queue = 0;  ///< bytes that wait; more is dropped
  bool operator==(const Shaper&) const = default;
};

/// Puts the shaper on an interface, or another in place of the one that is there. Queued: flush() of
/// `netlink` waits and throws.
void queue_shaper(NamespaceNetlink& netlink, const std::string& device, const Shaper& shaper);

/// A queueing discipline at the root of an interface.
struct InstalledQdisc {
  std::string device;
  std::string kind;              ///< "tbf", "noqueue"
  std::optional<Shaper> shaper;  ///< tbf only; its burst is a little more than was asked for
};
/// The disciplines of all interfaces of a namespace, as the kernel has them.
std::vector<InstalledQdisc> installed_qdiscs(NamespaceNetlink& netlink);

}  // namespace mrclab::netio
