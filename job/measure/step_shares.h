#pragma once
// Time of steps by what ranks did in it: computing, exchanging that nothing hides, standing still.

#include <cstdint>
#include <map>
#include <vector>

#include "job/measure/intervals.h"
#include "job/measure/op_spans.h"

namespace mrclab::job {

/// A step that ended, and took time.
struct StepWindow {
  uint32_t step = 0;
  Interval time;
};

/// Sums over the ranks of a job, of one step: up to 1,024 times a step's time, which 64 bits might not hold.
struct StepShares {
  struct Exposed {
    __int128 sum = 0;
    FabricTime most;
    uint32_t most_rank = 0;
  };
  __int128 compute = 0, exposed = 0;
  std::vector<Exposed> by_group;
  std::map<uint32_t, FabricTime>
      waited_for;  ///< by rank: how long others stood still for it, together
};

/// By step. `windows` in order of time, without overlap; `group_of` by operation of the job, below `groups`.
std::vector<StepShares> step_shares(const PlannedJob& plan, const OpSpans& spans,
                                    const std::vector<StepWindow>& windows,
                                    const std::vector<uint32_t>& group_of, size_t groups);

}  // namespace mrclab::job
