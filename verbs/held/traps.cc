#include "verbs/held/traps.h"

#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

#include "verbs/held/baton.h"
#include "verbs/held/program.h"
#include "verbs/held/raw.h"
#include "verbs/held/signals/own_signals.h"
#include "verbs/held/signals/own_stack.h"
#include "verbs/held/spin/instruction.h"
#include "verbs/held/spin/spin.h"
#include "verbs/held/tsc/cpuid_answers.h"
#include "verbs/held/tsc/faults.h"
#include "verbs/held/tsc/tsc_trap.h"
#include "verbs/held/tsc/vdso_patch.h"

namespace mrclab::verbs::held {
namespace {

bool proving;

bool pass_event() {
  Wait wait;
  wait.spin = true;
  block(wait);
  return program.standing.load() == Standing::kHeld;
}

void cannot_be_held(uint64_t address, const char* why) {
  not_held(reinterpret_cast<const void*>(address), why);
}

uint64_t cycles() {
  spend(program.hello.cost_clock_ps);
  return program_ns();
}

// Below the C library: its own functions come here, too, so these must not call it.
int answer_clock(int clock, void* result) {
  const bool realtime =
      clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
  const bool monotonic = clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW ||
                         clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_BOOTTIME;
  if (!realtime && !monotonic) return static_cast<int>(raw(SYS_clock_gettime, clock, word(result)));
  const uint64_t ns = cycles() + (realtime ? program.hello.epoch_ns : 0);
  *static_cast<timespec*>(result) = {static_cast<time_t>(ns / 1'000'000'000),
                                     static_cast<long>(ns % 1'000'000'000)};
  return 0;
}

int answer_time_of_day(void* time, void* zone) {
  const uint64_t ns = cycles() + program.hello.epoch_ns;
  if (time != nullptr)
    *static_cast<timeval*>(time) = {static_cast<time_t>(ns / 1'000'000'000),
                                    static_cast<suseconds_t>(ns % 1'000'000'000 / 1000)};
  if (zone != nullptr) *static_cast<struct timezone*>(zone) = {};
  return 0;
}

int64_t answer_time(int64_t* result) {
  const auto now = static_cast<int64_t>((cycles() + program.hello.epoch_ns) / 1'000'000'000);
  if (result != nullptr) *result = now;
  return now;
}

uint64_t tick_ns() {
  const char* const text = getenv("MRCLAB_HELD_TICK_US");
  const long us = text == nullptr ? 0 : atol(text);
  return us < 10 || us > 1'000'000 ? mrclab::held::SpinOptions{}.tick_ns
                                   : static_cast<uint64_t>(us) * 1000;
}

}  // namespace

void begin_traps() {
  using namespace mrclab::held;
  if (make_own_stack() != 0) return;
  const bool replaces = getenv("MRCLAB_HELD_REPLACE_TSC") != nullptr;  // for tests
  const int trapped = trap_tsc(cycles, decoder_present() ? &instruction_length : nullptr,
                               replaces ? TscWay::kReplaced : TscWay::kBest);
  if (trapped != 0) {
    say("the time stamp counter cannot be trapped here: a program that reads it sees this machine's");
  }
  if (own_faults(nullptr) == 0) trap_cpuid();
  patch_vdso({answer_clock, answer_time_of_day, answer_time});
  observe_end([] { tell_end(); });
  SpinOptions options;
  options.tick_ns = tick_ns();
  proving = start_proving({pass_event, cannot_be_held}, options) == 0 && watch_thread() == 0;
  if (!proving || !can_prove())
    say("spins cannot be proven here: a program that waits for its memory without a call stands still");
}

void stop_ticks() {
  if (proving) mrclab::held::stop_proving();
}

void trap_thread() {
  using namespace mrclab::held;
  if (program.standing.load() != Standing::kHeld) return;
  // The trap of the counter and of CPUID a thread has from the one that made it.
  make_own_stack();
  if (proving) watch_thread();
}

void untrap_thread() {
  if (proving) mrclab::held::leave_thread();
  mrclab::held::drop_own_stack();
}

void untrap_child() {
  if (program.standing.load() == Standing::kUnknown) return;
  mrclab::held::forget_tsc_trap();
  mrclab::held::lift_cpuid_trap();
  if (proving) mrclab::held::forget_after_fork();
  proving = false;
}

}  // namespace mrclab::verbs::held
