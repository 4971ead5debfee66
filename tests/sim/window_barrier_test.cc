// Threads that meet again and again: none goes on before all have come, and one acts for all.

#include "sim/window_barrier.h"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <vector>

using mrclab::lab::WindowBarrier;

TEST_CASE(
    "threads that meet go on together, whoever comes late, also when the others sleep by then") {
  constexpr uint32_t kThreads = 5, kMeetings = 300;
  std::array<std::atomic<uint32_t>, kThreads> came{};
  uint32_t acted = 0;  // by one thread at a time
  std::atomic<bool> together = true;
  WindowBarrier point(kThreads, [&]() noexcept {
    ++acted;
    for (const std::atomic<uint32_t>& times : came)
      if (times != acted) together = false;
  });
  {
    std::vector<std::jthread> threads;
    for (uint32_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        for (uint32_t n = 1; n <= kMeetings; ++n) {
          // Now and then one is so late that the others have given up looking.
          if (n % 100 == i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
          ++came[i];
          point.arrive_and_wait();
          for (const std::atomic<uint32_t>& times : came)
            if (times < n) together = false;
        }
      });
    }
  }
  CHECK(acted == kMeetings);
  CHECK(together);
}
