#pragma once
// Bounds the lines that a daemon logs, whose number depends on what neighbours send. A burst, as a whole table that
// comes in, is written; a neighbour that never stops fills no disk.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace mrclab::lab {

class LineBudget {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// Some 2 MB at once, and then 40 MB a day (our choice).
  static constexpr uint64_t kBurst = 50'000;
  static constexpr std::chrono::milliseconds kForOne{100};

  explicit LineBudget(Time now) : refilled_(now) {}

  /// May one more line be written? If not, it counts as left out.
  bool may_write_line(Time now) {
    const auto lines = static_cast<uint64_t>((now - refilled_) / kForOne);
    left_ = std::min(kBurst, left_ + lines);
    refilled_ += kForOne * lines;
    if (left_ == 0) {
      ++left_out_;
      return false;
    }
    --left_;
    return true;
  }
  /// How many were left out since this was last asked.
  uint64_t take_left_out() { return std::exchange(left_out_, 0); }

 private:
  Time refilled_;
  uint64_t left_ = kBurst, left_out_ = 0;
};

}  // namespace mrclab::lab
