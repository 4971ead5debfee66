#pragma once
// Runs calls side by side: those that wait in the kernel (opening and closing packet rings waits for RCU
// grace periods, 8-24 ms each, and calls that wait together share one), and those that take long.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace mrclab::netio {

/// Calls fn(0) ... fn(count - 1), each once, on at most `threads` threads, of which the caller's is one,
/// and returns when all have. The first exception is rethrown then; calls that had not begun when it was thrown are left
/// out.
template <class Fn>
void in_parallel(size_t count, size_t threads, Fn&& fn) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr problem;
  const auto work = [&] {
    for (size_t i = next++; i < count; i = next++) {
      try {
        fn(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!problem) problem = std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> workers;
    for (size_t i = 1; i < std::min(count, threads); ++i) workers.emplace_back(work);
    work();
  }
  if (problem) std::rethrow_exception(problem);
}

}  // namespace mrclab::netio
