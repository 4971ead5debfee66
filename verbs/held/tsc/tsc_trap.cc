#include "verbs/held/tsc/tsc_trap.h"

#include <sys/prctl.h>

#include <atomic>
#include <cerrno>

#include "verbs/held/signals/guarded_read.h"
#include "verbs/held/signals/own_signals.h"
#include "verbs/held/tsc/cpuid_answers.h"
#include "verbs/held/tsc/faults.h"
#include "verbs/held/tsc/replaced_reads.h"
#include "verbs/held/tsc/trapped_instruction.h"

namespace mrclab::held {

namespace {

std::atomic<CycleReader> reader{nullptr};  // null: the processor's own
bool by_replacing = false;
// Where reads are replaced, set_tsc_trap writes this, and the handler then answers this thread's reads with the processor's
// counter. The model of thread-local storage is one for which the handler allocates nothing.
[[gnu::tls_model("initial-exec")]] thread_local bool lifted = false;
std::atomic<FaultObserver> observer{nullptr};

#if defined(__x86_64__)
constexpr int64_t kGeneralProtection =
    13;  // the trap number of RDTSC and CPUID where they are forbidden

/// As many bytes at `address` as can be read, up to the longest instruction.
unsigned read_code(uint8_t (&bytes)[15], uint64_t address) {
  if (guarded_read(bytes, address, sizeof(bytes))) return sizeof(bytes);
  const auto left_in_page = static_cast<unsigned>(4096 - (address & 4095));
  return left_in_page < sizeof(bytes) && guarded_read(bytes, address, left_in_page) ? left_in_page
                                                                                    : 0;
}

bool answer(ucontext_t* context) {
  auto& registers = context->uc_mcontext.gregs;
  uint8_t bytes[15] = {};
  const auto rip = static_cast<uint64_t>(registers[REG_RIP]);
  const unsigned known = read_code(bytes, rip);
  for (unsigned i = 0; i < known; ++i) {
    if (is_replaced(rip + i)) bytes[i] = 0x0f;
  }
  const TrappedInstruction found = trapped_instruction(bytes, known);
  switch (found.what) {
    case Trapped::kNone: return false;
    case Trapped::kCpuid: {
      const CpuidAnswer result = answered_cpuid(static_cast<uint32_t>(registers[REG_RAX]),
                                                static_cast<uint32_t>(registers[REG_RCX]));
      registers[REG_RAX] = result.eax;
      registers[REG_RBX] = result.ebx;
      registers[REG_RCX] = result.ecx;
      registers[REG_RDX] = result.edx;
      break;
    }
    case Trapped::kRdtscp: registers[REG_RCX] = 0; [[fallthrough]];
    case Trapped::kRdtsc: {
      const CycleReader read = reader.load(std::memory_order_acquire);
      const uint64_t cycles = read == nullptr || lifted ? real_tsc() : read();
      registers[REG_RAX] = static_cast<int64_t>(cycles & 0xffffffff);
      registers[REG_RDX] = static_cast<int64_t>(cycles >> 32);
      break;
    }
  }
  registers[REG_RIP] = static_cast<int64_t>(rip + found.length);
  return true;
}

bool on_fault(siginfo_t* info, ucontext_t* context) {
  auto& registers = context->uc_mcontext.gregs;
  if (info->si_code > 0) {
    const uint64_t resumes = guarded_read_resumes(static_cast<uint64_t>(registers[REG_RIP]));
    if (resumes != 0) {
      registers[REG_RIP] = static_cast<int64_t>(resumes);
      return true;
    }
    if (registers[REG_TRAPNO] == kGeneralProtection && answer(context)) return true;
  }
  const FaultObserver observe = observer.load(std::memory_order_acquire);
  if (observe != nullptr) observe(context);
  return false;
}
#endif

}  // namespace

int own_faults(FaultObserver observe) {
#if defined(__x86_64__)
  if (observe != nullptr) observer.store(observe, std::memory_order_release);
  const int status = own_signal(SIGSEGV, &on_fault);
  return status == EALREADY ? 0 : status;
#else
  (void)observe;
  return ENOTSUP;
#endif
}

#if defined(__x86_64__)
volatile bool trial_answered;

uint64_t answer_trial() {
  trial_answered = true;
  return 0;
}

/// Some virtual machines' kernels take PR_SET_TSC, and their processors go on answering.
bool processor_traps() {
  if (!tsc_is_trapped()) return false;
  const CycleReader after = reader.exchange(&answer_trial, std::memory_order_acq_rel);
  trial_answered = false;
  __builtin_ia32_rdtsc();
  reader.store(after, std::memory_order_release);
  return trial_answered;
}
#endif

int trap_tsc(CycleReader cycles, InstructionLength length, TscWay way) {
#if defined(__x86_64__)
  reader.store(cycles, std::memory_order_release);
  const int status = own_faults(nullptr);
  if (status != 0) return status;
  if (way == TscWay::kBest) {
    set_tsc_trap(true);
    if (processor_traps()) return 0;
    set_tsc_trap(false);
  }
  const int replaced = replace_tsc_reads(length);
  by_replacing = replaced == 0;
  lifted = false;
  return replaced;
#else
  (void)cycles, (void)length, (void)way;
  return ENOTSUP;
#endif
}

void set_tsc_trap(bool on) {
  lifted = !on;
  if (!by_replacing) raw_call(SYS_prctl, PR_SET_TSC, on ? PR_TSC_SIGSEGV : PR_TSC_ENABLE);
}

bool tsc_is_trapped() {
  if (by_replacing) return !lifted;
  int mode = PR_TSC_ENABLE;
  raw_call(SYS_prctl, PR_GET_TSC, raw_address(&mode));
  return mode == PR_TSC_SIGSEGV;
}

void forget_tsc_trap() {
  set_tsc_trap(false);
  reader.store(nullptr, std::memory_order_release);
}

}  // namespace mrclab::held
