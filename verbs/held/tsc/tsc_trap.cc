#include "verbs/held/tsc/tsc_trap.h"

#include <sys/prctl.h>

#include <atomic>
#include <cerrno>

#include "verbs/held/signals/guarded_read.h"
#include "verbs/held/signals/own_signals.h"
#include "verbs/held/tsc/cpuid_answers.h"
#include "verbs/held/tsc/faults.h"
#include "verbs/held/tsc/trapped_instruction.h"

namespace mrclab::held {

namespace {

std::atomic<CycleReader> reader{nullptr};
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
  const TrappedInstruction found = trapped_instruction(bytes, read_code(bytes, rip));
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
      const uint64_t cycles = read == nullptr ? 0 : read();
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

int trap_tsc(CycleReader cycles) {
  reader.store(cycles, std::memory_order_release);
  const int status = own_faults(nullptr);
  if (status != 0) return status;
  set_tsc_trap(true);
  return tsc_is_trapped() ? 0 : ENOTSUP;
}

void set_tsc_trap(bool on) { raw_call(SYS_prctl, PR_SET_TSC, on ? PR_TSC_SIGSEGV : PR_TSC_ENABLE); }

bool tsc_is_trapped() {
  int mode = PR_TSC_ENABLE;
  raw_call(SYS_prctl, PR_GET_TSC, raw_address(&mode));
  return mode == PR_TSC_SIGSEGV;
}

}  // namespace mrclab::held
