#pragma once
// Where the threads of a world wait for each other, twice in each window. Windows take a few milliseconds and
// threads are ready at nearly the same time, so a thread that waits looks again for a while, and lets others have
// its core in between, before it sleeps: on a virtual machine waking it took up to a millisecond.

#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>

namespace mrclab::lab {

template <class AtEnd>
class WindowBarrier {
 public:
  /// The last of `threads` to arrive calls `at_end`, which must not throw, before any of them goes on.
  WindowBarrier(size_t threads, AtEnd at_end)
      : threads_(static_cast<uint32_t>(threads)), at_end_(std::move(at_end)) {}
  WindowBarrier(const WindowBarrier&) = delete;
  WindowBarrier& operator=(const WindowBarrier&) = delete;

  void arrive_and_wait() {
    const uint32_t meeting = meeting_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      arrived_.store(0, std::memory_order_relaxed);
      at_end_();
      meeting_.store(meeting + 1, std::memory_order_release);
      meeting_.notify_all();
      return;
    }
    for (int look = 0; look < kLooks; ++look) {
      if (meeting_.load(std::memory_order_acquire) != meeting) return;
      std::this_thread::yield();
    }
    meeting_.wait(meeting, std::memory_order_acquire);
  }

 private:
  static constexpr int kLooks = 2000;  ///< about a millisecond where no other thread uses the core
  uint32_t threads_;
  AtEnd at_end_;
  std::atomic<uint32_t> arrived_ = 0;
  std::atomic<uint32_t> meeting_ = 0;  ///< their number; it may wrap
};

}  // namespace mrclab::lab
