#pragma once
// A numbering of processes for one command and all that it starts: it has the same numbers in every run, and the kernel
// ends all of it at once with whoever started it.

namespace mrclab::netio {

/// To be called in a child that is about to become another program (ChildOptions::before_exec). It returns in a
/// grandchild, which is process 2 of a space of its own; the child itself stays, without descriptors, and ends as the
/// grandchild does: with its exit code, or 128 + the signal that ended it. SIGTERM is for the group: the child ignores
/// it. When the child is killed, everything in the space is. Throws SystemError.
void enter_process_space();

}  // namespace mrclab::netio
