#pragma once
// The packet sockets of another process. Open vSwitch sends for all ports through one, and receives
// through one for each port. Their buffers are the machine's default, a couple of hundred kilobytes:
// less than one port's shaper holds back, so that a frame for any other port is refused, and less than
// the sixteen frames of one big ping, so that the last three find no room.

#include <cstddef>

#include "netio/system/child_process.h"

namespace mrclab::netio {

/// Lets each AF_PACKET socket of a child hold `sent` bytes of frames that no interface has taken
/// yet, and `received` bytes of frames that the child has not read; the kernel's overhead per frame
/// counts. At most 1 GiB each. Returns how many such sockets the child has. Needs Linux 5.6 and the
/// rights over the child; throws SystemError.
size_t set_packet_buffers(const ChildProcess& child, size_t sent, size_t received);

}  // namespace mrclab::netio
