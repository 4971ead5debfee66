#include "job/measure/intervals.h"

#include <algorithm>

namespace mrclab::job {

Intervals joined(Intervals intervals) {
  std::erase_if(intervals, [](const Interval& one) { return one.begin >= one.end; });
  std::sort(intervals.begin(), intervals.end());
  Intervals result;
  for (const Interval& one : intervals) {
    if (!result.empty() && one.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, one.end);
    } else {
      result.push_back(one);
    }
  }
  return result;
}

Intervals without(std::span<const Interval> from, std::span<const Interval> less) {
  Intervals result;
  size_t next = 0;
  for (Interval rest : from) {
    while (next < less.size() && less[next].end <= rest.begin) ++next;
    for (size_t i = next; i < less.size() && less[i].begin < rest.end; ++i) {
      if (less[i].begin > rest.begin) result.push_back({rest.begin, less[i].begin});
      rest.begin = std::max(rest.begin, less[i].end);
    }
    if (rest.begin < rest.end) result.push_back(rest);
  }
  return result;
}

}  // namespace mrclab::job
