#pragma once
// Signals that the library needs for itself, while the program may still have handlers of its own for the same numbers:
// SIGSEGV (trapped instructions), SIGTRAP (single steps), one real-time signal (ticks), the other faults that may end a
// step, and SIGABRT, by which programs end themselves. What the program installs for these is kept, given back when it asks, and called for every signal that is not
// the library's.
//
// The exported sigaction, signal and their elder kin see to that, and sigprocmask and pthread_sigmask take these
// out of what a program blocks: a trapped instruction under a blocked SIGSEGV would end the program.

#include <signal.h>
#include <ucontext.h>

#include "verbs/held/signals/raw_calls.h"

namespace mrclab::held {

/// The signal of ticks: near the end of the real-time signals, which others count from SIGRTMIN up.
inline constexpr int kTickSignal = 62;
/// Blocked while the program's handler of SIGSEGV runs: where the kernel would have blocked SIGSEGV itself, so that a
/// fault in that handler ends the program as it would without the library. Saved and restored with a mask, as is right.
inline constexpr int kInHandlerSignal = 63;

/// True: it was the library's, and the thread goes on with `context`. Called with all other signals blocked, errno saved.
using OwnHandler = bool (*)(siginfo_t* info, ucontext_t* context);

/// From now on `signal` (one of these: SIGSEGV, SIGTRAP, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGABRT, kTickSignal) comes to `handler` first. 0 or an errno; EALREADY if it is owned.
int own_signal(int signal, OwnHandler handler);

/// Is called before an owned signal that the program gave itself ends it by the standard action.
using EndObserver = void (*)();
void observe_end(EndObserver observe);

/// The mask that `context` returns to; of the kernel's size, as the frame has it.
inline SignalMask& mask_in(ucontext_t* context) {
  return *reinterpret_cast<SignalMask*>(&context->uc_sigmask);
}

}  // namespace mrclab::held
