#pragma once
// What a job came to, as JSON and in a few words.

#include <nlohmann/json.hpp>
#include <string>

#include "analysis/measure/job_result.h"

namespace mrclab::analysis {

/// More steps than these are counted in `steps_left_out`.
inline constexpr size_t kMaxStepsWritten = 2'000;

nlohmann::ordered_json to_json(const JobResult& job);

/// The times of steps behind the warm-up that ended; of all that ended where there are none behind it.
struct JobTimes {
  uint32_t first = 0;  ///< the first step that counts
  size_t steps = 0;
  FabricTime mean, p50, p99;
  FabricTime compute, exposed, bubble;  ///< means of the same steps
  FabricTime ideal;                     ///< likewise; zero: not known of all of them
};
JobTimes times_of(const JobResult& job);

/// What ended an attempt, and how the job went on.
std::string turn_text(const JobResult& job, const JobTurn& turn);

/// "llama: 8 ranks, 20 of 20 steps, done at 2.31ms"; what ended it, or is not known of it
std::string headline(const JobResult& job);

}  // namespace mrclab::analysis
