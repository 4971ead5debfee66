#pragma once
// The pieces that a run's workload is measured by: the iterations of a collective, the steps of a job.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "endpoint/base/work_report.h"
#include "endpoint/workload/workload_spec.h"
#include "fabric/base/units.h"
#include "scenario/judging/job_outcome.h"

namespace mrclab::lab {

/// Of a run, over all its works; of a longer one the first so many are measured (our choice, as JOB's own bound).
inline constexpr size_t kMaxTwinSteps = 10'000;

/// One collective, job or service. A step begins where the one before ended, so steps sum to the time of the whole; but
/// requests of a service overlap: each has a begin of its own.
struct WorkSteps {
  std::string name;  ///< "all_reduce"; a job's own
  std::string unit;  ///< of one: "iteration", "step", "request"
  FabricTime begin;  ///< by the scenario, the same in each twin
  std::vector<FabricTime>
      ends;  ///< when the last host had finished each, of those that all hosts finished
  /// By step, where they overlap; else empty. Ends are in no order then.
  std::vector<FabricTime> begins = {};
  FabricTime begin_of(size_t step) const {
    if (!begins.empty()) return begins[step];
    return step == 0 ? begin : ends[step - 1];
  }
  /// Not of a step that did not end.
  FabricTime length_of(size_t step) const { return ends[step] - begin_of(step); }
  bool operator==(const WorkSteps&) const = default;
};

/// The collectives of a workload, in its order, from what all hosts reported, and behind them its jobs. A job's step has
/// ended when it and all steps before it have, in all ranks; a service's request, when its first token has come.
std::vector<WorkSteps> steps_of(const std::vector<endpoint::WorkloadSpec>& workload,
                                const std::vector<endpoint::WorkReport>& reports,
                                const std::vector<JobOutcome>& jobs);

/// Of all requests of a service, which has a plan of one; never() where a request was not served.
FabricTime last_token(const JobOutcome& service);

}  // namespace mrclab::lab
