#pragma once
// Copies of this process: one that tries something which must not touch it, one that works for it, one
// that goes on as this process's sibling, and one that becomes a program of its own and outlives it. A
// process that is forked has one thread.

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "netio/system/file_descriptor.h"

namespace mrclab::netio {

/// Runs `attempt` in a copy, so that its namespaces and its failures stay there. Empty: it worked; else what
/// it threw, or how it ended. Throws SystemError if there is no copy.
std::optional<std::string> try_in_child(const std::function<void()>& attempt);

/// A copy that runs `work` and then ends with exit code 0. It dies with the thread that started it, and
/// ignores the signals of a terminal: its parent decides. The process that starts it waits for it. Throws SystemError.
pid_t fork_worker(const std::function<void()>& work);

/// A copy that is a child of this process's parent, as this process is: the parent waits for it, and it dies
/// with the parent's thread that started this process. In a process group of its own. Returns 0 in the copy,
/// and here its pid. Throws SystemError.
pid_t fork_sibling();

/// Starts a program in a session of its own, so that neither the terminal nor this process can take it
/// along; argv[0] is a path. It has no descriptors but 0, 1 and 2 (/dev/null) and `report` as `report_as`,
/// where it finds `if_not_started` if it cannot be started. Throws SystemError.
void start_detached(std::vector<std::string> argv, const FileDescriptor& report, int report_as,
                    const std::string& if_not_started);

}  // namespace mrclab::netio
