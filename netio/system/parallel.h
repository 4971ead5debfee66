#pragma once
// Runs calls side by side: those that wait in the kernel (opening and closing packet rings waits for RCU
// grace periods, 8-24 ms each, and calls that wait together share one), and those that take long.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace mrclab::netio {

/// The calls fn(0) ... fn(count - 1), shared out among the threads that work() on them.
class SharedCalls {
 public:
  /// `fn` lives until wait() returns.
  template <class Fn>
  SharedCalls(size_t count, Fn& fn) : count_(count), call_([&fn](size_t i) { fn(i); }) {}
  /// Makes calls until each has been begun by some thread. A thread that comes later makes none.
  void work() {
    ++working_;
    for (size_t i = next_++; i < count_; i = next_++) {
      try {
        call_(i);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!problem_) problem_ = std::current_exception();
        next_ = count_;
      }
    }
    --working_;
    working_.notify_all();
  }
  /// After work(): returns when no call is being made any more. Throws what the first one threw.
  void wait() {
    for (size_t working = working_; working > 0; working = working_) working_.wait(working);
    const std::lock_guard lock(mutex_);
    if (problem_) std::rethrow_exception(problem_);
  }

 private:
  size_t count_;
  std::function<void(size_t)> call_;
  std::atomic<size_t> next_{0};
  std::atomic<size_t> working_{0};
  std::mutex mutex_;
  std::exception_ptr problem_;
};

/// Calls fn(0) ... fn(count - 1), each once, on at most `threads` threads, of which the caller's is one,
/// and returns when all have. The first exception is rethrown then; calls that had not begun when it was thrown are left
/// out.
template <class Fn>
void in_parallel(size_t count, size_t threads, Fn&& fn) {
  SharedCalls calls(count, fn);
  std::vector<std::jthread> workers;
  for (size_t i = 1; i < std::min(count, threads); ++i) workers.emplace_back([&] { calls.work(); });
  calls.work();
  calls.wait();
}

/// Calls `here` on the caller's thread and `beside` on another, and returns when both have. What `here` threw is rethrown
/// before what `beside` threw. A process that is to end with its parent (PR_SET_PDEATHSIG) is started by `here`: the
/// kernel takes the thread that started it for its parent.
template <class Here, class Beside>
void run_beside(Here&& here, Beside&& beside) {
  std::exception_ptr problem;
  {
    const std::jthread other([&] {
      try {
        beside();
      } catch (...) {
        problem = std::current_exception();
      }
    });
    here();
  }
  if (problem) std::rethrow_exception(problem);
}

}  // namespace mrclab::netio
