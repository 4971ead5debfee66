#pragma once
// Maps memory for good before it is used in a run.

namespace mrclab::netio {

/// Writes to each page of the rings and large buffers of this process without changing it: to all that it shares with
/// the kernel, and to what is present of memory without a name. A page that is mapped or even locked may still cost
/// its first user an exit to a hypervisor that keeps page tables of its own: 5 to 10 us, which made half of the first
/// 700 ms of a run of 80 nodes. Other threads and the kernel may use the memory meanwhile. Throws SystemError (cannot
/// read /proc/self/maps).
void touch_buffers();

}  // namespace mrclab::netio
