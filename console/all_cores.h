#pragma once
// What reads and judges captures runs on the cores that this process may use (analysis/ has no threads
// of its own).

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "analysis/capture/side_by_side.h"
#include "netio/system/thread_crew.h"

namespace mrclab::lab {

/// Beyond so many none of them has anything to do.
inline constexpr unsigned kMostThreads = 64;

/// Threads that are made when there is something to do for several of them: most runs are small, and each thread takes a
/// heap of its own.
class LateCrew {
 public:
  explicit LateCrew(unsigned threads) : threads_(threads) {}
  void run(size_t count, const std::function<void(size_t)>& work) {
    if (count < 2) {
      for (size_t i = 0; i < count; ++i) work(i);
      return;
    }
    std::call_once(made_, [this] { crew_.emplace(threads_); });
    crew_->run(count, work);
  }

 private:
  unsigned threads_;
  std::once_flag made_;
  std::optional<netio::ThreadCrew> crew_;
};

/// Empty, which is one after the other, for a single thread.
inline analysis::SideBySide on_threads(unsigned threads) {
  if (threads < 2) return {};
  const auto crew = std::make_shared<LateCrew>(std::min(threads, kMostThreads));  // of all copies
  return [crew](size_t count, const std::function<void(size_t)>& work) { crew->run(count, work); };
}
inline analysis::SideBySide on_all_cores() {
  return on_threads(std::thread::hardware_concurrency());
}

}  // namespace mrclab::lab
