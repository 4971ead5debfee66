#pragma once
// How this room and those above it use several cores without having threads of their own: whoever calls
// them passes a function that runs independent calls in parallel.

#include <cstddef>
#include <functional>

namespace mrclab::analysis {

/// Runs work(0) to work(count - 1), several at once where that can be, and returns when all are done.
/// The first exception is thrown on then.
using SideBySide = std::function<void(size_t count, const std::function<void(size_t index)>& work)>;

/// By `side_by_side`, or where that is empty one after the other.
inline void run_all(const SideBySide& side_by_side, size_t count,
                    const std::function<void(size_t index)>& work) {
  if (side_by_side && count > 1) return side_by_side(count, work);
  for (size_t i = 0; i < count; ++i) work(i);
}

}  // namespace mrclab::analysis
