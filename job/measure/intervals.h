#pragma once
// Sets of instants, as intervals that do not touch, in order.

#include <span>
#include <vector>

#include "fabric/base/units.h"

namespace mrclab::job {

/// From `begin` until just before `end`.
struct Interval {
  FabricTime begin, end;
  auto operator<=>(const Interval&) const = default;
};
using Intervals = std::vector<Interval>;

/// The union, of intervals in any order; empty ones are left out.
Intervals joined(Intervals intervals);
/// What is in `from` and not in `less`; both joined.
Intervals without(std::span<const Interval> from, std::span<const Interval> less);

}  // namespace mrclab::job
