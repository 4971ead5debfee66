#pragma once
// The time stamp counter of a held program. RDTSC and RDTSCP fault (prctl PR_SET_TSC), and the fault is answered with the
// program's fabric time, one cycle per nanosecond; RDTSCP's core number is 0. One read costs this machine about 4 us.
//
// The setting is of a thread; a new thread and a child inherit it, and so does the program that a child executes, whose
// loader would then die at its first RDTSC. So: around fork, exec and whatever starts another program the trap is lifted
// (TscLifted), and a forked child lifts it for good.
//
// Where the processor answers all the same, reads in the program's code are replaced (replaced_reads.h).

#include <cstdint>

#include "verbs/held/tsc/replaced_reads.h"

namespace mrclab::held {

/// Fabric nanoseconds; may ask the host. Called in a handler, on the alternate stack (signals/own_stack.h) if there is one.
using CycleReader = uint64_t (*)();

enum class TscWay : uint8_t {
  kBest,      ///< by the processor, or else by replacing
  kReplaced,  ///< for tests, on processors that would trap
};

/// Takes SIGSEGV and traps this thread's reads. Threads made later inherit the trap. 0, or an errno: ENOTSUP elsewhere than
/// on x86-64, and where the processor does not trap and there is no `length`; those of replace_tsc_reads.
int trap_tsc(CycleReader cycles, InstructionLength length, TscWay way = TscWay::kBest);

/// For this thread, whether trap_tsc was called or not.
void set_tsc_trap(bool on);
bool tsc_is_trapped();
/// For a forked child: its reads, also those of its threads, are the processor's from now on.
void forget_tsc_trap();

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
