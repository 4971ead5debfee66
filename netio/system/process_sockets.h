#pragma once
// The sockets that a child process has open, as descriptors of this process that name the same sockets.

#include <cstdint>
#include <set>
#include <vector>

#include "netio/system/child_process.h"

namespace mrclab::netio {

/// Those that it closes meanwhile are left out. Throws SystemError when its descriptors cannot be listed.
std::vector<FileDescriptor> sockets_of(const ChildProcess& child);

/// The netlink ports of its sockets: the kernel names who asked for a change by them (change_watch.h).
/// None for a process that has ended.
std::set<uint32_t> netlink_ports_of(const ChildProcess& child);

}  // namespace mrclab::netio
