#pragma once
// The time stamp counter of a held program. RDTSC and RDTSCP fault (prctl PR_SET_TSC), and the fault is answered with the
// program's fabric time, one cycle per nanosecond; RDTSCP's core number is 0. One read costs this machine about 4 us.
//
// The setting is of a thread; a new thread and a child inherit it, and so does the program that a child executes, whose
// loader would then die at its first RDTSC. So: around fork, exec and whatever starts another program the trap is lifted
// (TscLifted), and a forked child lifts it for good.

#include <cstdint>

namespace mrclab::held {

/// Fabric nanoseconds; may ask the host. Called in a handler, on the alternate stack (signals/own_stack.h) if there is one.
using CycleReader = uint64_t (*)();

/// Takes SIGSEGV and traps this thread's reads. Threads made later inherit the trap. 0, or an errno: ENOTSUP elsewhere than
/// on x86-64.
int trap_tsc(CycleReader cycles);

/// For this thread, whether trap_tsc was called or not.
void set_tsc_trap(bool on);
bool tsc_is_trapped();

/// The trap is lifted while this lives: around what starts another program.
class TscLifted {
 public:
  TscLifted() : was_(tsc_is_trapped()) {
    if (was_) set_tsc_trap(false);
  }
  ~TscLifted() {
    if (was_) set_tsc_trap(true);
  }
  TscLifted(const TscLifted&) = delete;
  TscLifted& operator=(const TscLifted&) = delete;

 private:
  bool was_;
};

}  // namespace mrclab::held
