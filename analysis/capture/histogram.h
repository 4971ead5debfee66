#pragma once
// A histogram of non-negative integers with 16 steps per power of two: any quantile to 6 %, in 8 KiB
// whatever is counted (the layout of HdrHistogram, https://hdrhistogram.org).

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace mrclab::analysis {

class LogHistogram {
 public:
  void add(uint64_t value, uint64_t times = 1) {
    buckets_[bucket_of(value)] += times;
    count_ += times;
    sum_ += static_cast<double>(value) * static_cast<double>(times);
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
  }
  void add(const LogHistogram& other) {
    for (size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    sum_ += other.sum_;
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
  }

  uint64_t count() const { return count_; }
  uint64_t min() const { return count_ == 0 ? 0 : min_; }
  uint64_t max() const { return max_; }
  double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

  /// The smallest value that at least `share` (0 to 1) of all values do not exceed, rounded up to
  /// its step.
  uint64_t quantile(double share) const {
    const auto wanted = static_cast<uint64_t>(share * static_cast<double>(count_));
    uint64_t seen = 0;
    for (size_t i = 0; i < kBuckets; ++i) {
      seen += buckets_[i];
      if (seen > 0 && seen >= wanted) return std::clamp(top_of(i), min(), max_);
    }
    return max_;
  }

 private:
  static constexpr unsigned kStepBits = 4;
  static constexpr size_t kSteps = 1u << kStepBits;
  static constexpr size_t kBuckets = (64 - kStepBits + 1) * kSteps;

  static size_t bucket_of(uint64_t value) {
    if (value < kSteps) return value;
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - 1 - kStepBits;
    return (shift + 1) * kSteps + ((value >> shift) & (kSteps - 1));
  }
  static uint64_t top_of(size_t bucket) {
    if (bucket < kSteps) return bucket;
    const auto shift = static_cast<unsigned>(bucket / kSteps - 1);
    return ((kSteps + bucket % kSteps) << shift) + ((uint64_t{1} << shift) - 1);
  }

  std::array<uint64_t, kBuckets> buckets_{};
  uint64_t count_ = 0, min_ = UINT64_MAX, max_ = 0;
  double sum_ = 0;
};

}  // namespace mrclab::analysis
