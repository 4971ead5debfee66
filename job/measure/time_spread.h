#pragma once
// Times of the same thing, many times over.

#include <algorithm>
#include <vector>

#include "fabric/base/units.h"

namespace mrclab::job {

/// By nearest rank: so many percent of the times are no longer. All zero of no times.
struct TimeSpread {
  FabricTime mean, p50, p99, max;  ///< mean rounded down to a picosecond
};

inline TimeSpread spread_of(std::vector<FabricTime> times) {
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  const auto at_rank = [&](size_t percent) {
    return times[std::max<size_t>((times.size() * percent + 99) / 100, 1) - 1];
  };
  __int128 sum = 0;
  for (const FabricTime t : times) sum += t.ps();
  return {FabricTime::from_ps(static_cast<int64_t>(sum / static_cast<__int128>(times.size()))),
          at_rank(50), at_rank(99), times.back()};
}

}  // namespace mrclab::job
