#pragma once
// The packet sockets of another process. Open vSwitch sends for all ports through one, whose buffer is
// the machine's default: a couple of hundred kilobytes, which is less than one port's shaper holds back,
// and a frame for any other port is then refused.

#include <cstddef>

#include "netio/child_process.h"

namespace mrclab::netio {

/// How many AF_PACKET sockets a child has. Each of them may from now on hold `bytes` of frames that were
/// sent and that no interface has taken yet, as the kernel counts them: with what it keeps beside a
/// frame. At most 1 GiB. Needs Linux 5.6 and the rights over the child; throws SystemError.
size_t set_packet_send_buffers(const ChildProcess& child, size_t bytes);

}  // namespace mrclab::netio
