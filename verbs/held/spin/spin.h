#pragma once
// Ticks and steps: finds the threads that spin, and lets events of their host pass for them.
//
// Each thread that is watched gets a timer of this machine's time. If it came to a tick without a call (enter_call) since
// the last, it is stepped (trap flag, SIGTRAP) until spin_proof.h knows. Proven: `pass_event` is called, which has exactly
// one event of the host pass, and the stepping goes on. Nothing that a program sees depends on when ticks fall. Who
// computes is left alone for longer and longer; who neither calls nor can be proven for `bound_ns` is reported once.

#include <cstdint>

#include "verbs/held/spin/call_count.h"

namespace mrclab::held {

struct SpinUser {
  /// One event of the host passes; the program's memory may be another afterwards. False: this program is not held any
  /// longer, and nothing more is proven. In a handler on the alternate stack (signals/own_stack.h), all signals blocked
  /// that can be: one that is sent to the thread meanwhile is delivered at this very place of its loop.
  bool (*pass_event)();
  /// The thread cannot be held: it goes round at `address` (or stands there), and `why` says what it does, a phrase
  /// without a full stop that lives for ever. Called at most once per thread, then it is not watched any longer.
  void (*not_held)(uint64_t address, const char* why);
};

struct SpinOptions {
  uint64_t tick_ns = 200'000;
  /// Of the thread's processor time without a call and without proof: none of it passes while the thread waits or others
  /// have the processor.
  uint64_t bound_ns = 4'000'000'000;
  /// Likewise of this machine's time: less than the 5 s after which the host gives a program up, which does not know
  /// where it is. Not looked at while the thread waits in the kernel.
  uint64_t patience_ns = 4'500'000'000;
};

/// Takes SIGTRAP and the signal of ticks, once per process. 0; ENOTSUP: not an x86-64; another errno. Without Zydis threads
/// are watched but never proven.
int start_proving(const SpinUser& user, const SpinOptions& options);
/// Whether a spin can be proven here at all.
bool can_prove();

/// Watches this thread from now on, or no longer. Not in a handler. 0 or an errno.
int watch_thread();
void leave_thread();
/// The program is held no longer: no thread is watched any more. In a handler, too. The calling thread gets no tick any
/// more, another one at most one.
void stop_proving();
/// In a forked child, which has no timers: nothing is watched.
void forget_after_fork();

/// For tests and for who tells an operator: of all threads since start_proving.
struct SpinCounts {
  uint64_t ticks, proofs, steps, events, computing, unknown;
};
SpinCounts spin_counts();

}  // namespace mrclab::held
