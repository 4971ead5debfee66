#pragma once
// A job whose steps are the graph of somebody's file.

#include <cstdint>

#include "job/plan/job_spec.h"
#include "job/plan/planned_job.h"

namespace mrclab::job {

/// A file that marks its own steps has as many, each time that it is run.
///
/// Reads the file of `spec.trace` (job/import) and runs it `spec.steps` times: in each rank a step begins when all of the
/// one before has ended there. Throws InputError where its ranks are not the hosts, or times from the start of a job would
/// have to be repeated. The graph is still to be checked.
PlannedJob traced_job(const JobSpec& spec, uint64_t seed);

}  // namespace mrclab::job
