#include "verbs/held/spin/spin.h"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>

#include "verbs/held/signals/guarded_read.h"
#include "verbs/held/signals/own_stack.h"
#include "verbs/held/spin/stepping.h"
#include "verbs/held/tsc/faults.h"

namespace mrclab::held {

__attribute__((tls_model("initial-exec"))) __thread ThreadCalls thread_calls;

namespace {

// The first attempt is short, since most threads that do not call compute: a loop that waits comes round within tens of
// instructions. Each that failed doubles the steps of the next, and is followed by four times what it took, so that a
// thread that computes loses a fifth of its time. (A step takes 2 us on an idle machine, and 18 us under a busy hypervisor.)
constexpr uint32_t kFirstSteps = 128;
constexpr uint64_t kPauseTimes = 4;
constexpr uint64_t kMostPauseNs = 500'000'000;
constexpr uint64_t kMostPauseInsideNs = 3'000'000;
// No proof begins in the last part of a thread's patience: the longest takes a second on a busy machine.
constexpr uint64_t kPartsOfPatience = 4;

SpinUser user;
SpinOptions options;
ExtendedLayout layout;
std::atomic<bool> started{false};
std::atomic<bool> stopped{false};
std::atomic<uint64_t> count_of[6];  // as in SpinCounts
enum Counted { kTicks, kProofs, kSteps, kEvents, kComputing, kNotFollowed };
void add(Counted what, uint64_t number = 1) {
  count_of[what].fetch_add(number, std::memory_order_relaxed);
}

__attribute__((tls_model("initial-exec"))) __thread WatchedThread* watched;

void arm(const WatchedThread& thread, uint64_t after_ns) {
  const int64_t times[4] = {0, 0, static_cast<int64_t>(after_ns / 1'000'000'000),
                            static_cast<int64_t>(after_ns % 1'000'000'000)};  // interval, first
  raw_call(SYS_timer_settime, static_cast<uint64_t>(thread.timer), 0, raw_address(times), 0);
}

void restart(WatchedThread& thread) {
  thread.seen_calls = thread_calls.count;
  thread.quiet_since_ns = raw_thread_ns();
  thread.quiet_since_time_ns = raw_time_ns();
  thread.pause_ns = options.tick_ns;
  thread.budget = kFirstSteps;
  thread.last_loop = 0;
  thread.last_verdict = SpinProof::Verdict::kStep;
}

/// After an attempt without a proof: the next is later and longer.
void back_off(WatchedThread& thread) {
  const uint64_t pause = (raw_thread_ns() - thread.began_ns) * kPauseTimes;
  thread.pause_ns = pause < options.tick_ns ? options.tick_ns : pause;
  if (thread.pause_ns > kMostPauseNs) thread.pause_ns = kMostPauseNs;
  thread.budget =
      thread.budget < SpinProof::kMostSteps / 2 ? 2 * thread.budget : SpinProof::kMostSteps;
}

uint64_t rip_of(const ucontext_t* context) {
  return static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RIP]);
}

/// It sleeps in the kernel by a call that is not the library's: restarted there, or interrupted.
bool waits_in_kernel(const ucontext_t* context) {
  uint8_t code[4] = {};
  if (!guarded_read(code, rip_of(context) - 2, sizeof(code))) return false;
  if (code[2] == 0x0f && code[3] == 0x05) return true;
  return code[0] == 0x0f && code[1] == 0x05 && context->uc_mcontext.gregs[REG_RAX] == -EINTR;
}

void give_up(WatchedThread& thread, uint64_t address, const char* why) {
  thread.given_up = true;
  user.not_held(address, why);
}

/// Of its patience; 0: none.
uint64_t time_left(const WatchedThread& thread) {
  const uint64_t quiet = raw_time_ns() - thread.quiet_since_time_ns;
  return quiet < options.patience_ns ? options.patience_ns - quiet : 0;
}

/// The next tick: after its pause, and not behind the end of its patience.
void arm_next(const WatchedThread& thread) {
  const uint64_t left = time_left(thread);
  const uint64_t latest = left > options.tick_ns ? left : options.tick_ns;
  arm(thread, thread.pause_ns < latest ? thread.pause_ns : latest);
}

/// Whether it was quiet for too long.
bool bound_passed(WatchedThread& thread, const ucontext_t* context) {
  if (raw_thread_ns() - thread.quiet_since_ns < options.bound_ns && time_left(thread) > 0) {
    return false;
  }
  using enum SpinProof::Verdict;
  if (!decoder_present()) {
    give_up(thread, rip_of(context), "makes no call, and this build cannot decode instructions");
  } else if (thread.last_loop != 0) {
    give_up(thread, thread.last_loop,
            "goes round in a loop that counts or computes, without a call");
  } else if (thread.last_verdict == kUnknown) {
    give_up(thread, rip_of(context),
            "executes an instruction that cannot be followed, without a call");
  } else if (thread.last_verdict == kCalls) {
    give_up(thread, rip_of(context), "asks the kernel by calls that are not held");
  } else {
    give_up(thread, rip_of(context), "computes without a call");
  }
  return true;
}

/// Whether a signal for the program waits until the handler returns to `mask`.
bool signal_waits(SignalMask mask) {
  SignalMask waiting = 0;
  raw_call(SYS_rt_sigpending, raw_address(&waiting), sizeof(waiting));
  return (waiting & ~mask & ~mask_of(kTickSignal)) != 0;
}

/// A proven spin: an event passes. True: the proof goes on.
bool pass_one(WatchedThread& thread, ucontext_t* context, SpinProof::Verdict& verdict) {
  const bool held = user.pass_event();
  add(kEvents);
  restart(thread);
  if (!held) {
    thread.given_up = true;
    return false;
  }
  // An alarm of the program's time above all is delivered here and not somewhere in the loop.
  if (signal_waits(thread.mask_before)) return false;
  thread.began_ns = raw_thread_ns();
  verdict = thread.proof.event_passed(*context);
  return verdict == SpinProof::Verdict::kStep;
}

/// What follows from `verdict` at the state of `context`. True: the thread goes on stepping.
bool decide(WatchedThread& thread, ucontext_t* context, SpinProof::Verdict verdict) {
  using enum SpinProof::Verdict;
  if (verdict == kSpins) {
    add(kProofs);
    if (pass_one(thread, context, verdict)) return true;
    if (verdict == kSpins)
      return false;  // it ended for another reason, and nothing is known of its next step
  }
  if (verdict == kStep) return true;
  thread.last_verdict = verdict;
  thread.last_loop = verdict == kComputes ? thread.proof.loop_address() : 0;
  if (verdict == kComputes) add(kComputing);
  if (verdict == kUnknown) add(kNotFollowed);
  // What asks the kernel may spin by it: it is looked at again soon, and at no cost.
  if (verdict != kCalls) back_off(thread);
  return false;
}

bool on_tick(siginfo_t* info, ucontext_t* context) {
  WatchedThread* thread = watched;
  if (info->si_code != SI_TIMER) return false;
  if (thread == nullptr || thread->given_up) return true;  // of a timer that is gone
  if (stopped.load(std::memory_order_relaxed)) {
    thread->given_up = true;
    return true;
  }
  add(kTicks);
  if (thread_calls.stepped != 0) return true;
  if (thread_calls.inside != 0 || thread_calls.count != thread->seen_calls) {
    // In the library it mostly waits for the host: ticks that find it there come less and less often.
    const uint64_t pause = thread_calls.inside != 0 ? 2 * thread->pause_ns : 0;
    restart(*thread);
    if (pause > thread->pause_ns)
      thread->pause_ns = pause < kMostPauseInsideNs ? pause : kMostPauseInsideNs;
    arm(*thread, thread->pause_ns);
    return true;
  }
  if (signal_waits(mask_in(
          context))) {  // the kernel delivers a timer's signal before one of the whole process
    arm(*thread, thread->pause_ns);
    return true;
  }
  if (waits_in_kernel(context)) {
    thread->pause_ns = thread->pause_ns < kMostPauseNs / 2 ? 2 * thread->pause_ns : kMostPauseNs;
    arm(*thread, thread->pause_ns);
    return true;
  }
  if (bound_passed(*thread, context)) return true;
  if (decoder_present() && time_left(*thread) > options.patience_ns / kPartsOfPatience) {
    thread->began_ns = raw_thread_ns();
    thread->proof.begin(thread->budget, layout);
    if (decide(*thread, context, thread->proof.step(*context))) {
      begin_steps(context, *thread);
      return true;
    }
  }
  if (!thread->given_up) arm_next(*thread);
  return true;
}

void end_proof(WatchedThread& thread, ucontext_t* context) {
  add(kSteps, thread.proof.steps());
  end_steps(context, thread);
  if (!thread.given_up) arm_next(thread);
}

/// A fault that is the program's: its handler runs without steps, and may never come back.
void on_foreign_fault(ucontext_t* context) {
  WatchedThread* thread = watched;
  if (thread == nullptr || thread_calls.stepped == 0) return;
  ++thread_calls.count;
  restart(*thread);
  end_proof(*thread, context);
}

bool on_other_fault(siginfo_t*, ucontext_t* context) {
  on_foreign_fault(context);
  return false;
}

bool on_trap(siginfo_t* info, ucontext_t* context) {
  WatchedThread* thread = watched;
  if (thread == nullptr || thread_calls.stepped == 0) return false;
  if (!is_step(*info, *context)) {
    on_foreign_fault(context);
    return false;
  }
  if (thread_calls.inside != 0 || thread_calls.count != thread->seen_calls) {
    restart(*thread);
    end_proof(*thread, context);
    return true;
  }
  if (!decide(*thread, context, thread->proof.step(*context))) end_proof(*thread, context);
  return true;
}

}  // namespace

bool can_prove() { return decoder_present(); }

int start_proving(const SpinUser& wanted, const SpinOptions& chosen) {
#if defined(__x86_64__)
  if (started.exchange(true)) return EALREADY;
  user = wanted;
  options = chosen;
  layout = ask_extended_layout();
  int status = own_faults(&on_foreign_fault);
  if (status == 0) status = own_signal(SIGTRAP, &on_trap);
  for (const int fault : {SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGABRT}) {
    if (status == 0) status = own_signal(fault, &on_other_fault);
  }
  if (status == 0) status = own_signal(kTickSignal, &on_tick);
  return status;
#else
  (void)wanted, (void)chosen;
  return ENOTSUP;
#endif
}

int watch_thread() {
  if (!started.load() || watched != nullptr) return EINVAL;
  const int stack = make_own_stack();
  if (stack != 0) return stack;
  const int64_t memory = raw_call(SYS_mmap, 0, sizeof(WatchedThread), PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, static_cast<uint64_t>(-1));
  if (memory < 0) return static_cast<int>(-memory);
  auto* thread = reinterpret_cast<WatchedThread*>(memory);
  // The first decoding binds the decoder's functions, which a handler must not do.
  ucontext_t nowhere{};
  nowhere.uc_mcontext.gregs[REG_RIP] = static_cast<int64_t>(raw_address(&user.pass_event));
  next_instruction(nowhere);

  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = kTickSignal;
  event._sigev_un._tid = static_cast<int32_t>(raw_call(SYS_gettid));
  const int64_t status = raw_call(SYS_timer_create, 1 /* CLOCK_MONOTONIC */, raw_address(&event),
                                  raw_address(&thread->timer));
  if (status < 0) {
    raw_call(SYS_munmap, static_cast<uint64_t>(memory), sizeof(WatchedThread));
    return static_cast<int>(-status);
  }
  raw_mask(kMaskUnblock, mask_of(kTickSignal) | mask_of(SIGTRAP) | mask_of(SIGSEGV));
  restart(*thread);
  watched = thread;
  arm(*thread, thread->pause_ns);
  return 0;
}

void stop_proving() {
  stopped.store(true);
  if (watched != nullptr) arm(*watched, 0);
}

void leave_thread() {
  WatchedThread* thread = watched;
  if (thread == nullptr) return;
  // Inside, so that no proof is under way.
  enter_call();
  const SignalMask before = raw_mask(kMaskBlock, mask_of(kTickSignal));
  raw_call(SYS_timer_delete, static_cast<uint64_t>(thread->timer));
  watched = nullptr;
  raw_mask(kMaskSet, before);
  leave_call();
  raw_call(SYS_munmap, raw_address(thread), sizeof(WatchedThread));
  drop_own_stack();
}

void forget_after_fork() {
  // Its memory goes with the child; the parent may have been in the midst of anything.
  watched = nullptr;
  thread_calls.stepped = 0;
}

SpinCounts spin_counts() {
  SpinCounts counts{};
  uint64_t* to[6] = {&counts.ticks,  &counts.proofs,    &counts.steps,
                     &counts.events, &counts.computing, &counts.unknown};
  for (int i = 0; i < 6; ++i) *to[i] = count_of[i].load(std::memory_order_relaxed);
  return counts;
}

}  // namespace mrclab::held
