#pragma once
// What became of the jobs of a run: the times of all their operations, joined from what each host reports of its rank.
// A run folder keeps them in jobs/WORKLOAD-RANK.times (job/measure/op_times_file.h), for readers that come later.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "endpoint/base/job_report.h"
#include "endpoint/workload/job_plan.h"
#include "scenario/judging/world_outcome.h"
#include "scenario/spec/scenario_value.h"

namespace mrclab::lab {

/// The first rank of a job that died.
struct JobDeath {
  uint32_t rank = 0;
  std::string reason;  ///< "queue pair to h3: Retry Counter Exceeded"
  FabricTime at;       ///< in fabric time
};

struct JobOutcome {
  uint32_t workload = 0;  ///< index in the scenario's list
  /// The job and the messages that it is run as; shared with the scenario, as it may be large.
  std::shared_ptr<const endpoint::JobPlan> plan;
  job::OpTimes times;  ///< by operation of plan->program.graph(), from `start`
  FabricTime start;    ///< when the first rank began, in fabric time
  std::optional<JobDeath> died;
  uint32_t reported = 0;  ///< ranks whose hosts report them; of the others no time is known
  uint32_t attempt = 0;
  uint32_t from_step = 0;       ///< operations of steps before it count as done at the start
  std::vector<uint32_t> hosts;  ///< by rank
  std::vector<job::JobTurn> turns = {};  ///< of the first attempt: those of all
  /// Of the first attempt: those in which the job went on.
  std::vector<JobOutcome> later = {};
};

/// The attempt that came last: what became of the job.
inline const JobOutcome& last_attempt(const JobOutcome& job) {
  return job.later.empty() ? job : job.later.back();
}

/// Adds what a host reports. Throws ReportError for a job or a rank that the scenario has not in that host, or times of
/// another number of operations.
void add_jobs(WorldOutcome& outcome, const Scenario& scenario, uint32_t host,
              std::vector<endpoint::JobReport> jobs);

/// What its launcher noted of a job; null where nothing ended it, or its host left no report.
const std::vector<job::JobTurn>* turns_of(const std::vector<endpoint::JobReport>& reports,
                                          uint32_t workload);

/// An element for each job of the scenario, in the order of its workload.
std::vector<JobOutcome> job_outcomes(const Scenario& scenario,
                                     const std::vector<endpoint::JobReport>& reports);

inline constexpr const char* kJobsFolder = "jobs";  ///< in a run folder
/// Into jobs/ of the run folder, which is there. Throws SystemError.
void write_job_times(const Scenario& scenario, const std::vector<endpoint::JobReport>& reports,
                     const std::filesystem::path& run);
/// What such a folder holds, WORKLOAD-RANK.times, WORKLOAD-aATTEMPT-RANK.times and WORKLOAD.turns; a rank without a file is left out. Throws InputError.
std::vector<endpoint::JobReport> read_job_times(const Scenario& scenario,
                                                const std::filesystem::path& run);

}  // namespace mrclab::lab
