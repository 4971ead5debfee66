#pragma once
// Calls of a thread into the library: what has called since the last tick does not spin, and what is in the library is not
// stepped.

#include <cstdint>

namespace mrclab::held {

/// What the library and the spin proof know of a thread's calls.
struct ThreadCalls {
  uint64_t count;    ///< calls so far
  uint32_t inside;   ///< depth: the thread is in the library
  uint32_t stepped;  ///< of spin.cc: the trap flag is set
};
// Initial-exec: handlers read it, and must not be the first to make it.
extern __attribute__((tls_model("initial-exec"))) __thread ThreadCalls thread_calls;

/// Around everything that the program calls in the library, also what needs no message: a call that proves that the
/// thread proceeds.
inline void enter_call() {
  ++thread_calls.count;
  ++thread_calls.inside;
  asm volatile("" ::: "memory");
}
inline void leave_call() {
  asm volatile("" ::: "memory");
  --thread_calls.inside;
}
class Call {
 public:
  Call() { enter_call(); }
  ~Call() { leave_call(); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
};

}  // namespace mrclab::held
