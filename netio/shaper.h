#pragma once
// The rate of an interface that the kernel sends from (forwarding by kernel or Open vSwitch): a token
// bucket with a queue of its own, `tbf`. Our own nodes shape in fabric time and need none.

#include <cstdint>
#include <string>

#include "netio/link.h"

namespace mrclab::netio {

struct Shaper {
  uint64_t bytes_per_second = 0;
  uint32_t burst = 0;  ///< bytes; at least the largest frame, or nothing passes
  uint32_t queue = 0;  ///< bytes that wait; more is dropped
};

/// Puts the shaper on an interface, or another in place of the one that is there. Queued: flush() of
/// `netlink` waits and throws.
void queue_shaper(NamespaceNetlink& netlink, const std::string& device, const Shaper& shaper);

}  // namespace mrclab::netio
