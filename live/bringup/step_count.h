#pragma once
// How far bringing a lab up is: one step of it, and its count where several threads do it.

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string_view>

namespace mrclab::lab {

/// One step of bringing a lab up: what, and how far.
struct BringUpStep {
  std::string_view what;  ///< "namespaces", "links", "addresses and routes"
  size_t done = 0;
  size_t total = 0;
};
using BringUpProgress = std::function<void(const BringUpStep&)>;

class StepCount {
 public:
  StepCount(const BringUpProgress& progress, std::string_view what, size_t total)
      : progress_(progress), step_{what, 0, total} {}
  /// Reports the end of the step, and now and then how far it is. What the report throws ends the step.
  void add(size_t done = 1) {
    const std::lock_guard lock(mutex_);
    step_.done += done;
    const auto now = std::chrono::steady_clock::now();
    if (step_.done < step_.total && now < next_) return;
    next_ = now + kReportEvery;
    if (progress_) progress_(step_);
  }

 private:
  /// More than an eye follows; each report wakes `mrclab up`, which takes a processor for it.
  static constexpr std::chrono::milliseconds kReportEvery{20};

  const BringUpProgress& progress_;
  std::mutex mutex_;
  BringUpStep step_;
  /// When the next report is due. It begins in the past, so that the first call of add() reports.
  std::chrono::steady_clock::time_point next_;
};

}  // namespace mrclab::lab
