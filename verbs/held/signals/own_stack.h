#pragma once
// The alternate stack of signals, which the library has for itself: frames of ticks and steps that lay on the program's
// stack would overwrite what lies below its stack pointer, and what a loop leaves there is part of what has to recur. Its
// room is enough for what the rest of the library does in a handler (messages to the host), too, and for a program's own
// handlers. What the program asks of sigaltstack() is kept and given back, and not used.

#include <cstddef>

namespace mrclab::held {

inline constexpr size_t kOwnStackBytes = 512 * 1024;

/// Makes and sets this thread's, with a page below it that faults. Not from a handler. 0 or an errno.
int make_own_stack();
/// Sets what the program has asked for, and gives the memory back. Not from a handler.
void drop_own_stack();

}  // namespace mrclab::held
