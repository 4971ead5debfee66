#include "verbs/held/signals/own_stack.h"

#include <sys/mman.h>
#include <cerrno>

#include <cstdint>

#include "verbs/held/signals/raw_calls.h"

namespace mrclab::held {

namespace {

constexpr size_t kGuardBytes = 4096;

struct OwnStack {
  char* memory;  // guard page first
  bool in_use;
};
// Initial-exec: a handler must not be the first to touch a variable that the loader has yet to make.
__attribute__((tls_model("initial-exec"))) __thread OwnStack own_stack;

}  // namespace

int make_own_stack() {
  if (own_stack.memory != nullptr) return 0;
  const int64_t memory =
      raw_call(SYS_mmap, 0, kGuardBytes + kOwnStackBytes, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, static_cast<uint64_t>(-1));
  if (memory < 0) return static_cast<int>(-memory);
  raw_call(SYS_mprotect, static_cast<uint64_t>(memory), kGuardBytes, PROT_NONE);
  own_stack.memory = reinterpret_cast<char*>(memory);
  return 0;
}

void drop_own_stack() {
  if (own_stack.memory == nullptr || own_stack.in_use) return;
  raw_call(SYS_munmap, raw_address(own_stack.memory), kGuardBytes + kOwnStackBytes);
  own_stack.memory = nullptr;
}

void run_on_own_stack(void (*function)(void*), void* argument) {
#if defined(__x86_64__)
  if (own_stack.memory != nullptr && !own_stack.in_use) {
    own_stack.in_use = true;
    char* top = own_stack.memory + kGuardBytes + kOwnStackBytes;
    // rbx outlives the call, whatever the called function does.
    asm volatile(
        "movq %%rsp, %%rbx\n\t"
        "movq %[top], %%rsp\n\t"
        "call *%[function]\n\t"
        "movq %%rbx, %%rsp"
        : "+D"(argument)
        : [top] "r"(top), [function] "r"(function)
        : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "cc", "memory", "xmm0",
          "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
          "xmm12", "xmm13", "xmm14", "xmm15", "st");
    own_stack.in_use = false;
    return;
  }
#endif
  function(argument);
}

}  // namespace mrclab::held
