#pragma once
// How long a phase computes in a rank: scaled, and with what differs between ranks and steps.

#include <string>

#include "job/plan/job_spec.h"

namespace mrclab::job {

/// Which computation: the n-th of a rank's step.
struct ComputePlace {
  uint32_t rank = 0, step = 0, number = 0;
};

/// What draws of a job are keyed by: its name.
uint64_t job_key(const std::string& name);

/// Drawn by the job's name, the rank, the step and the computation, so that jobs that differ in one place have the same
/// times in all others.
FabricTime compute_time(const JobSpec& spec, uint64_t seed, FabricTime time,
                        const ComputePlace& place);

}  // namespace mrclab::job
