#pragma once
// What one watched thread has between ticks, and how its frames are made to step. For spin.cc.

#include <signal.h>
#include <ucontext.h>

#include <cstdint>

#include "verbs/held/signals/own_signals.h"
#include "verbs/held/spin/call_count.h"
#include "verbs/held/spin/spin_proof.h"

namespace mrclab::held {

struct WatchedThread {
  SpinProof proof;
  uint64_t seen_calls;           ///< at the last tick
  uint64_t quiet_since_ns;       ///< of its processor time
  uint64_t quiet_since_time_ns;  ///< of this machine's time
  uint64_t began_ns;             ///< this proof, of its processor time
  uint64_t pause_ns;             ///< until the next tick
  uint32_t budget;               ///< steps of the next proof
  int32_t timer;
  bool given_up;           ///< not held: nothing more is done
  SignalMask mask_before;  ///< of the program, while it is stepped
  uint64_t last_loop;      ///< where it counted at the last attempt, or 0
  SpinProof::Verdict last_verdict;
};

inline constexpr uint64_t kTrapFlag = 0x100;

/// Whether a SIGTRAP of a thread that is stepped is its step. Linux takes a debug exception whose DR6 says nothing for the
/// instruction INT1 (exc_debug_user in its arch/x86/kernel/traps.c) and reports a breakpoint; some hypervisors lose DR6 when
/// they are busy. No INT1 is ever stepped: `instruction` does not know it.
inline bool is_step(const siginfo_t& info, const ucontext_t& context) {
  constexpr int kTrace = 2, kBreakpoint = 1;  // TRAP_TRACE, TRAP_BRKPT
  constexpr int64_t kDebugException = 1;      // INT3 is 3
  if (info.si_code == kTrace) return true;
  return info.si_code == kBreakpoint && context.uc_mcontext.gregs[REG_TRAPNO] == kDebugException;
}

/// From the next instruction on the thread that returns to `context` traps at each; other signals wait until end_steps().
inline void begin_steps(ucontext_t* context, WatchedThread& thread) {
  // Faults that an instruction makes must find the program's handlers: blocked, they would end it.
  constexpr SignalMask kFaults = mask_of(SIGTRAP) | mask_of(SIGSEGV) | mask_of(SIGBUS) |
                                 mask_of(SIGFPE) | mask_of(SIGILL) | mask_of(SIGSYS);
  thread.mask_before = mask_in(context);
  mask_in(context) = (thread.mask_before | ~kFaults) & ~(mask_of(SIGTRAP) | mask_of(SIGSEGV));
  context->uc_mcontext.gregs[REG_EFL] |= kTrapFlag;
  thread_calls.stepped = 1;
}

inline void end_steps(ucontext_t* context, WatchedThread& thread) {
  mask_in(context) = thread.mask_before;
  context->uc_mcontext.gregs[REG_EFL] &= ~static_cast<int64_t>(kTrapFlag);
  thread_calls.stepped = 0;
}

}  // namespace mrclab::held
