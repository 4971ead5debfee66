#include "verbs/held/signals/own_stack.h"

#include <signal.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdint>

#include "verbs/held/signals/raw_calls.h"

namespace mrclab::held {

namespace {

constexpr size_t kGuardBytes = 4096;
constexpr size_t kLeastBytes =
    2048;  // MINSIGSTKSZ of x86-64, which today's C library asks the kernel for

struct OwnStack {
  char* memory;    // guard page first; null: this thread has none
  stack_t wanted;  // by the program
};
// Initial-exec: a handler must not be the first to touch a variable that the loader has yet to make.
__attribute__((tls_model("initial-exec"))) __thread OwnStack own_stack;

int raw_stack(const stack_t* stack, stack_t* before) {
  return static_cast<int>(-raw_call(SYS_sigaltstack, raw_address(stack), raw_address(before)));
}

int keep_stack(const stack_t* stack, stack_t* before) {
  const stack_t old = own_stack.wanted;
  if (stack != nullptr) {
    if ((stack->ss_flags & ~(SS_DISABLE | SS_ONSTACK)) != 0) return EINVAL;
    const bool on = (stack->ss_flags & SS_DISABLE) == 0;
    if (on && stack->ss_size < kLeastBytes) return ENOMEM;
    own_stack.wanted =
        on ? stack_t{stack->ss_sp, 0, stack->ss_size} : stack_t{nullptr, SS_DISABLE, 0};
  }
  if (before != nullptr) *before = old;
  return 0;
}

}  // namespace

int make_own_stack() {
  if (own_stack.memory != nullptr) return 0;
  const int64_t memory =
      raw_call(SYS_mmap, 0, kGuardBytes + kOwnStackBytes, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, static_cast<uint64_t>(-1));
  if (memory < 0) return static_cast<int>(-memory);
  raw_call(SYS_mprotect, static_cast<uint64_t>(memory), kGuardBytes, PROT_NONE);
  auto* begin = reinterpret_cast<char*>(memory);
  const stack_t ours{begin + kGuardBytes, 0, kOwnStackBytes};
  const int status = raw_stack(&ours, &own_stack.wanted);
  if (status != 0) {
    raw_call(SYS_munmap, static_cast<uint64_t>(memory), kGuardBytes + kOwnStackBytes);
    return status;
  }
  own_stack.memory = begin;
  return 0;
}

void drop_own_stack() {
  if (own_stack.memory == nullptr || raw_stack(&own_stack.wanted, nullptr) != 0) return;
  raw_call(SYS_munmap, raw_address(own_stack.memory), kGuardBytes + kOwnStackBytes);
  own_stack.memory = nullptr;
}

}  // namespace mrclab::held

extern "C" __attribute__((visibility("default"))) int sigaltstack(const stack_t* stack,
                                                                  stack_t* before) noexcept {
  using namespace mrclab::held;
  const int status =
      own_stack.memory != nullptr ? keep_stack(stack, before) : raw_stack(stack, before);
  if (status == 0) return 0;
  errno = status;
  return -1;
}
