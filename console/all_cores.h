#pragma once
// What reads and judges captures runs on the cores that this process may use (analysis/ has no threads
// of its own).

#include <algorithm>
#include <memory>
#include <thread>

#include "analysis/capture/side_by_side.h"
#include "netio/system/thread_crew.h"

namespace mrclab::lab {

/// Beyond so many none of them has anything to do.
inline constexpr unsigned kMostThreads = 64;

/// Empty, which is one after the other, for a single thread.
inline analysis::SideBySide on_threads(unsigned threads) {
  if (threads < 2) return {};
  const auto crew = std::make_shared<netio::ThreadCrew>(std::min(threads, kMostThreads));
  return [crew](size_t count, const std::function<void(size_t)>& work) { crew->run(count, work); };
}
inline analysis::SideBySide on_all_cores() {
  return on_threads(std::thread::hardware_concurrency());
}

}  // namespace mrclab::lab
