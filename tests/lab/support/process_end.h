#pragma once
// Waiting for the end of a process that is not our child.

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>

#include "netio/system/file_descriptor.h"
#include "tests/lab/support/sandbox.h"

namespace mrclab::test {

/// Waits until the process has ended, also where its parent has not noticed yet. False if it has not ended within the
/// tests' patience.
inline bool process_ends(pid_t pid) {
  const netio::FileDescriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return true;  // the number belongs to no process any more
  pollfd ended{process.get(), POLLIN, 0};
  const auto patience = std::chrono::milliseconds(lab::kTestPatience);
  return ::poll(&ended, 1, static_cast<int>(patience.count())) == 1;
}

}  // namespace mrclab::test
