#include "verbs/held/signals/guarded_read.h"

// One instruction reads; its address and that behind it are known by name. The fault of a string move leaves in rcx what
// was not copied.
asm(R"(
  .text
  .p2align 4
  .globl mrclab_guarded_copy
  .hidden mrclab_guarded_copy
  .type mrclab_guarded_copy, @function
mrclab_guarded_copy:
  .cfi_startproc
  movq %rdx, %rcx
  .globl mrclab_guarded_copy_reads
  .hidden mrclab_guarded_copy_reads
mrclab_guarded_copy_reads:
  rep movsb
  .globl mrclab_guarded_copy_ends
  .hidden mrclab_guarded_copy_ends
mrclab_guarded_copy_ends:
  movq %rcx, %rax
  ret
  .cfi_endproc
  .size mrclab_guarded_copy, . - mrclab_guarded_copy
)");

extern "C" {
uint64_t mrclab_guarded_copy(void* to, const void* from, size_t size);  // bytes left
extern const char mrclab_guarded_copy_reads[];
extern const char mrclab_guarded_copy_ends[];
}

namespace mrclab::held {

bool guarded_read(void* to, uint64_t from, size_t size) {
  return mrclab_guarded_copy(to, reinterpret_cast<const void*>(from), size) == 0;
}

uint64_t guarded_read_resumes(uint64_t rip) {
  return rip == reinterpret_cast<uint64_t>(mrclab_guarded_copy_reads)
             ? reinterpret_cast<uint64_t>(mrclab_guarded_copy_ends)
             : 0;
}

}  // namespace mrclab::held
