#pragma once
// A job's measures for programs: as JSON, and as CSV with a row a step. Times are picoseconds of fabric time, counted from
// the job's start; what is not known is null, or empty.

#include <nlohmann/json.hpp>
#include <string>

#include "job/measure/job_measures.h"

namespace mrclab::job {

/// Parts of a critical path beyond so many, the longest, are one: "others".
inline constexpr size_t kMaxExportedParts = 32;

/// {name, ranks, warmup, finished, jct_ps, ideal_jct_ps, jct_ratio, step_ps{mean, p50, p99, max}, straggler, path[],
/// exposed{GROUP: {...}}, collectives[], steps[]}
nlohmann::ordered_json to_json(const JobMeasures& measures);
/// With a head; a column a group for its exposed time.
std::string to_csv(const JobMeasures& measures);

}  // namespace mrclab::job
