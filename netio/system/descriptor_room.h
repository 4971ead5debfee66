#pragma once
// Room in the table of descriptors before threads fill it. The kernel replaces a table that is full, and in a process
// of several threads it waits for an RCU grace period then (fs/file.c, expand_fdtable): 8 to 20 ms in which all that
// open something wait, for every doubling from 64 on. A single thread waits for nothing.

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>

namespace mrclab::netio {

/// Has the table hold `count` descriptors; not more than the process's limit allows. To be called by a process's only
/// thread. A failure is ignored.
inline void make_room_for_descriptors(size_t count) {
  const int highest = ::fcntl(0, F_DUPFD_CLOEXEC, static_cast<int>(count));
  if (highest >= 0) ::close(highest);
}

}  // namespace mrclab::netio
