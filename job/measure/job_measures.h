#pragma once
// What a run of a job was like: how long its steps took, how much of that was computing, exchanging that nothing hid, and
// standing still, and what the end of each step waited for.
//
//   step       from the end of all steps before it to its own end, the last of all ranks: the steps sum to the job's time
//   compute    a rank computes, whatever step it computes for
//   exposed    it computes nothing and exchanges: a message of its own is under way, or a collective that all ranks of the
//              group have begun (ASTRA-sim counts the same: the end less the ticks of computing)
//   bubble     neither: it waits for others, or has nothing to do
//
// In each rank the three sum to the step exactly. What waits for a rank that has not come yet is in the bubble, not in
// the exposed time: of a collective's time in one rank the part before the last rank joins measures that rank.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "job/measure/collective_measure.h"
#include "job/measure/path_parts.h"
#include "job/plan/planned_job.h"
#include "job/run/ideal_run.h"
#include "job/run/job_program.h"
#include "job/run/op_times.h"

namespace mrclab::job {

inline constexpr uint32_t kNoRank = 0xFFFF'FFFF;

/// The exposed time of one group in a step. Where two groups exchange at once, both have it.
struct GroupExposure {
  FabricTime mean;         ///< over all ranks of the job
  FabricTime most;         ///< in the rank that has most of it
  uint32_t most_rank = 0;  ///< which; the lowest of equal ones
};

struct StepMeasure {
  bool finished = false;
  FabricTime begin;  ///< the end of all before it that ended
  FabricTime end =
      FabricTime::never();  ///< of its last operation; begin, if those before it outlast it
  FabricTime first_op = FabricTime::never();  ///< when the first rank began with it
  FabricTime compute, exposed, bubble;        ///< means over the ranks; they sum to time() exactly
  std::vector<GroupExposure> exposed_by;      ///< by JobMeasures::groups
  std::vector<PathPart> path;  ///< what its end waited for, in parts that sum to time() exactly
  uint32_t slowest_rank = 0;   ///< computes longest for this step; of equal ones it ends last
  FabricTime slowest_compute, median_compute;  ///< for this step, over the ranks that compute
  uint32_t waited_for = kNoRank;               ///< the rank that others stood still for longest
  FabricTime waited;                           ///< by all of them together
  uint64_t bytes = 0;                          ///< of the messages that ended
  uint64_t ops = 0, ended_ops = 0;             ///< messages and computations
  uint32_t stuck =
      kNoOp;  ///< unfinished: the operation of the job that began first and did not end
  FabricTime ideal = FabricTime::never();  ///< see compare_with_ideal()

  /// never() if unfinished.
  FabricTime time() const { return finished ? end - begin : FabricTime::never(); }
  /// Slowest by median rank; 1 where nothing is computed.
  double straggler() const;
};

struct JobMeasures {
  std::string name;
  uint32_t ranks = 0, warmup = 0;
  std::vector<std::string>
      groups;  ///< by which exposed time is told apart, in the order of the plan's labels
  std::vector<StepMeasure> steps;  ///< all of the plan
  uint32_t finished = 0;           ///< steps
  FabricTime jct = FabricTime::
      never();  ///< from the job's start to its last end; never(): not all operations ended
  std::vector<PathPart> path;  ///< of the whole job, summing to jct; empty if it did not end
  /// Over finished steps behind the warm-up, or over all finished where there are none behind it; 0 where none finished.
  TimeSpread step_time;
  double straggler = 1;                 ///< the largest of those steps
  FabricTime compute, exposed, bubble;  ///< sums over those steps
  std::vector<GroupExposure>
      exposed_by;  ///< by group; `most` and `most_rank` of the step that has most
  std::vector<CollectiveMeasure> collectives;  ///< the most bytes first
  FabricTime ideal_jct = FabricTime::never();  ///< see compare_with_ideal()

  /// Measured by ideal; empty where one is missing.
  std::optional<double> jct_ratio() const;
};

/// Groups beyond so many are one, "others".
inline constexpr size_t kMaxExposedGroups = 32;

/// `program` is made of `plan.graph`, `times` are by operation of program.graph().
JobMeasures measure_job(const PlannedJob& plan, const JobProgram& program, const OpTimes& times);

/// Sets the ideal times of the job and of its steps: those of the same job on `network` (ideal_run.h).
void compare_with_ideal(JobMeasures& measures, const PlannedJob& plan, const JobProgram& program,
                        const IdealNetwork& network);

}  // namespace mrclab::job
