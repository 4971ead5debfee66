#pragma once
// The proof that a thread spins. It is stepped from instruction to instruction; if all its registers recur (general,
// flags, extended state) and every word stored to since holds what it held then, the thread goes round for ever: it has no
// input but its memory. (Where others store to that memory only while it stands still, which is what held time means.)
// Nothing is assumed of what a loop looks like, so when the stepping begins does not matter, as long as what follows from
// the proof happens at one and the same place of the loop: at the least state of the period. States are compared by the
// address of the instruction first (so that is mostly the top of the loop), then by registers, in an order in which only
// what differs between two states counts: an address that both have does not, and two addresses in one piece of memory
// compare alike wherever that lies. So the place is the same in every run, whatever the environment made of the stack.
//
// The anchor that states are compared with moves at steps 1, 2, 4, 8, ... (Brent's method), so a period up to half of the
// steps is found. Not proven: a loop that counts; one with instructions that are not modelled (instruction.h).
//
// Pure but for reading the memory that the thread stored to: no signals, no clock. Lives in zeroed memory, allocates nothing.

#include <ucontext.h>

#include <cstdint>

#include "verbs/held/spin/instruction.h"
#include "verbs/held/spin/machine_state.h"
#include "verbs/held/spin/word_log.h"

namespace mrclab::held {

class SpinProof {
 public:
  /// As the field sheet has it: a loop that comes round needs tens of steps, so one that did not in these computes.
  static constexpr uint32_t kMostSteps = 20'000;

  enum class Verdict : uint8_t {
    kStep,   ///< undecided: one more instruction
    kSpins,  ///< proven, and the thread stands at the place of its loop where an event is to pass
    kComputes,  ///< no recurrence within the steps
    kCalls,     ///< the next instruction asks the kernel or the clock
    kUnknown,   ///< the next instruction, or the state, is not modelled
  };

  /// A proof of at most `steps` (<= kMostSteps) begins with the state that step() is given next.
  void begin(uint32_t steps, const ExtendedLayout& layout);
  /// The thread stands before the instruction at rip of `context`, one step on from the last call.
  Verdict step(const ucontext_t& context);
  /// After kSpins an event has passed, at this same state: the proof begins anew, with all its steps.
  Verdict event_passed(const ucontext_t& context);

  uint32_t steps() const { return steps_; }
  /// The least address of the loop that the last instructions went round in; 0 if they did not. Valid after kComputes.
  uint64_t loop_address() const;

 private:
  using Key = MachineState::Key;

  enum class Phase : uint8_t {
    kSeek,  ///< for a recurrence
    kSurvey,  ///< of a proven period, because states that are alike but for the extended state are its least
    kWalk,  ///< to the least state
  };

  void set_anchor();
  Verdict foresee(const ucontext_t& context);
  Verdict recurred();
  Verdict survey();
  Verdict walk_to(uint32_t place);
  bool rotation_less(uint32_t one, uint32_t other) const;

  const ExtendedLayout* layout_;
  uint32_t limit_, steps_, since_anchor_, next_anchor_;
  Phase phase_;
  uint32_t period_, at_;  // at_: steps behind the anchor, once a period is proven
  uint32_t least_;        // where in the period an event is to pass
  Instruction last_;
  uint64_t last_rdi_;
  uint64_t last_rip_;
  MachineState anchor_, now_, least_state_;
  WordLog words_;
  Key trace_[kMostSteps + 1];  // since the anchor
};

}  // namespace mrclab::held
