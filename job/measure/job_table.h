#pragma once
// A job's measures as text for a terminal of 80 columns, in a bounded number of lines.

#include <string>

#include "job/measure/job_measures.h"

namespace mrclab::job {

/// A line a step, or where there are more than so many a line for several that follow each other.
inline constexpr size_t kMaxStepRows = 16;
inline constexpr size_t kMaxGroupRows = 6, kMaxCollectiveRows = 6, kMaxPathRows = 6;
inline constexpr size_t kMaxUnfinishedRows = 4;

/// Head, steps, groups, collectives, critical path and what did not finish: 50 lines at most. `plan` is what was
/// measured.
std::string to_table(const JobMeasures& measures, const PlannedJob& plan);

/// "steps 4, 7-9": of at most so many ranges, then "and N more".
std::string unfinished_text(const JobMeasures& measures, size_t most_ranges = 4);

}  // namespace mrclab::job
