#pragma once
// CPUID of a held program, so that it behaves alike on every core and in every run: no RDRAND and RDSEED (a program that
// asks then takes getrandom), no RDPID, no transactions, no waiting by the time stamp counter, core number 0, and a
// counter of 1 GHz. CPUID faults where the processor and the kernel can do that (arch_prctl ARCH_SET_CPUID); the kernel
// undoes it at exec by itself.
//
// Not undone: what the C library and others asked before, at their start.

#include <cstdint>

namespace mrclab::held {

struct CpuidAnswer {
  uint32_t eax, ebx, ecx, edx;
};

/// Makes this thread's CPUID fault; false: not here, and the program sees the processor as it is. The faults come to
/// tsc_trap.h, so only after trap_tsc().
bool trap_cpuid();
/// For a forked child.
void lift_cpuid_trap();

/// What the program is told: the processor's answer, less what is above.
CpuidAnswer answered_cpuid(uint32_t leaf, uint32_t subleaf);
/// That rule alone.
CpuidAnswer without_chance(uint32_t leaf, uint32_t subleaf, CpuidAnswer real);

}  // namespace mrclab::held
