#include "job/plan/compute_time.h"

#include <algorithm>

namespace mrclab::job {

FabricTime compute_time(const JobSpec& spec, uint64_t, FabricTime time, const ComputePlace&) {
  return std::max(time / spec.scale, kPicosecond);
}

}  // namespace mrclab::job
