#include "verbs/held/tsc/cpuid_answers.h"

#include "verbs/held/signals/raw_calls.h"

namespace mrclab::held {

namespace {

constexpr uint64_t kArchGetCpuid = 0x1011, kArchSetCpuid = 0x1012;  // <asm/prctl.h>
constexpr uint32_t kHertz = 1'000'000'000;

constexpr uint32_t bit(unsigned number) { return uint32_t{1} << number; }

CpuidAnswer asked_here(uint32_t leaf, uint32_t subleaf) {
  CpuidAnswer result{leaf, 0, subleaf, 0};
#if defined(__x86_64__)
  asm volatile("cpuid" : "+a"(result.eax), "=b"(result.ebx), "+c"(result.ecx), "=d"(result.edx));
#endif
  return result;
}

}  // namespace

bool trap_cpuid() {
#if defined(__x86_64__)
  return raw_call(SYS_arch_prctl, kArchSetCpuid, 0) == 0;
#else
  return false;
#endif
}

void lift_cpuid_trap() {
#if defined(__x86_64__)
  raw_call(SYS_arch_prctl, kArchSetCpuid, 1);
#endif
}

CpuidAnswer answered_cpuid(uint32_t leaf, uint32_t subleaf) {
  lift_cpuid_trap();
  const CpuidAnswer real = asked_here(leaf, subleaf);
  trap_cpuid();
  return without_chance(leaf, subleaf, real);
}

// Bits and leaves: Intel SDM, volume 2A, CPUID; AMD64 APM, volume 3, appendix E.
CpuidAnswer without_chance(uint32_t leaf, uint32_t subleaf, CpuidAnswer real) {
  switch (leaf) {
    case 0x01:
      real.ebx &= 0x00ffffff;  // initial APIC ID
      real.ecx &= ~bit(30);    // RDRAND
      break;
    case 0x07:
      if (subleaf == 0) {
        real.ebx &= ~(bit(4) | bit(11) | bit(18));  // HLE, RTM, RDSEED
        real.ecx &= ~(bit(5) | bit(22));            // WAITPKG, RDPID
      }
      break;
    case 0x0b:
    case 0x1f: real.edx = 0; break;                   // x2APIC ID
    case 0x15: real = {1, 1, kHertz, 0}; break;       // counter = ecx x ebx / eax
    case 0x16: real.eax = kHertz / 1'000'000; break;  // base frequency, MHz
    case 0x8000001e: real.eax = 0; break;             // extended APIC ID
    default: break;
  }
  return real;
}

}  // namespace mrclab::held
