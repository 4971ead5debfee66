#pragma once
// What a host reports of a job at the end of a run.

#include <cstdint>
#include <vector>

#include "job/attempt/turn.h"
#include "job/measure/op_times_file.h"

namespace mrclab::endpoint {

/// Of a rank in one attempt of its job, or of the job's launcher.
struct JobReport {
  uint32_t workload = 0;     ///< index in the scenario's list
  uint32_t attempt = 0;      ///< 0: the first
  bool of_launcher = false;  ///< `turns` then, and no rank
  job::RankTimes rank = {};  ///< as far as it came
  std::vector<job::JobTurn> turns = {};
};

}  // namespace mrclab::endpoint
