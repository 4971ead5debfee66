#pragma once
// What reads and judges captures runs on the cores that this process may use (analysis/ has no threads
// of its own).

#include <algorithm>
#include <thread>

#include "analysis/capture/side_by_side.h"
#include "netio/kernel/parallel.h"

namespace mrclab::lab {

/// Beyond so many none of them has anything to do.
inline constexpr unsigned kMostThreads = 64;

/// Empty, which is one after the other, for a single thread.
inline analysis::SideBySide on_threads(unsigned threads) {
  if (threads < 2) return {};
  return [threads](size_t count, const std::function<void(size_t)>& work) {
    netio::in_parallel(count, std::min(threads, kMostThreads), work);
  };
}
inline analysis::SideBySide on_all_cores() {
  return on_threads(std::thread::hardware_concurrency());
}

}  // namespace mrclab::lab
