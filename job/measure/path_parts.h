#pragma once
// What an end waited for, summed up: the critical path (run/critical_path.h) seen from the rank where it ends.

#include <string>
#include <vector>

#include "job/measure/op_spans.h"
#include "job/plan/planned_job.h"
#include "job/run/critical_path.h"

namespace mrclab::job {

struct PathPart {
  enum class Kind : uint8_t {
    kCompute,   ///< the rank where the path ends computed
    kExchange,  ///< a message of `group` was under way
    kWaitFor,   ///< `rank`, another one, computed, and the path's end waited for it
    kIdle,  ///< nothing of the job went on: until a given time, or in a delay that occupies nobody
  } kind = Kind::kCompute;
  std::string group;  ///< of kExchange
  uint32_t rank = 0;  ///< of kWaitFor; of kCompute the path's end
  FabricTime time;
  auto operator<=>(const PathPart&) const = default;
};

/// "compute", "exchange dp", "wait for rank 3", "idle"
std::string text_of(const PathPart& part);

/// The part of the path to the end of `last` (an operation of program.graph() that ended) that lies behind `from`: computing
/// first, then groups by name, then ranks, then what is idle; no part is 0. They sum to the end of `last` less `from`.
std::vector<PathPart> path_parts(const PlannedJob& plan, const JobProgram& program,
                                 const OpTimes& times, uint32_t last, FabricTime from);

}  // namespace mrclab::job
