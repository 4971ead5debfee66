#pragma once
// What a host reports of a job at the end of a run.

#include <cstdint>

#include "job/measure/op_times_file.h"

namespace mrclab::endpoint {

struct JobReport {
  uint32_t workload = 0;  ///< index in the scenario's list
  job::RankTimes rank;    ///< as far as it came
};

}  // namespace mrclab::endpoint
