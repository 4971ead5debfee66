#pragma once
// What a job has ready for the case that it goes on after an error: the attempts in which it may (job/attempt/attempts.h)
// as hosts run them, and who has an agent of the launcher. Queue pairs of all of it are there from the start, and carry
// nothing until then.

#include <cstdint>
#include <memory>
#include <vector>

#include "endpoint/workload/job_plan.h"
#include "job/attempt/job_launcher.h"
#include "job/plan/job_spec.h"

namespace mrclab::endpoint {

struct JobAttempt {
  std::shared_ptr<const JobPlan> plan;  ///< shared with the first attempt where ranks do the same
  std::vector<JobPair> pairs;  ///< of hosts, not of ranks: of which one may send to the other
  /// By rank: its place among the ranks of its host, whichever that is; shared with all hosts.
  std::shared_ptr<const std::vector<uint32_t>> slots;
  uint32_t most_on_a_host = 1;  ///< ranks
};

/// Of the memory that a launcher's line writes to: its words are immediates, and need none of it.
inline constexpr uint64_t kLauncherWordBytes = 8;

struct JobRecovery {
  std::shared_ptr<const job::JobSpec> spec;  ///< a copy, for the agents
  uint32_t launcher = 0;                     ///< host number
  std::vector<uint32_t>
      hosts;  ///< that have an agent: those of ranks, the spares and the launcher's
  std::vector<JobAttempt> later;
};

/// Null where an error ends one rank alone. Throws InputError for a job whose `on_error` cannot be carried out.
std::shared_ptr<const JobRecovery> make_recovery(const job::JobSpec& spec, uint64_t seed,
                                                 const std::shared_ptr<const JobPlan>& first);

}  // namespace mrclab::endpoint
