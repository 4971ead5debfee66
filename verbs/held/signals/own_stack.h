#pragma once
// A stack of the library's own for each thread: what the rest of libmrclab-held.so does in a handler (messages to the
// host) needs more room than an alternate stack of 8 KiB or the stack of a coroutine has left.

#include <cstddef>

namespace mrclab::held {

inline constexpr size_t kOwnStackBytes = 256 * 1024;

/// Makes this thread's stack, with a page below it that faults. Not from a handler. 0 or an errno.
int make_own_stack();
/// Gives it back; not while it is in use.
void drop_own_stack();

/// Calls `function(argument)` on this thread's own stack; on the current one where there is none or where it is in use.
void run_on_own_stack(void (*function)(void*), void* argument);

}  // namespace mrclab::held
