#pragma once
// Makes the graph of a job from its entry in a scenario.

#include <cstdint>

#include "job/plan/job_groups.h"
#include "job/plan/job_spec.h"
#include "job/plan/planned_job.h"

namespace mrclab::job {

/// Packets of a plan are counted as if each had so many bytes.
inline constexpr uint64_t kPlanPacketBytes = 4096;
inline constexpr uint64_t kMaxPlanPackets = 50'000'000;

/// Throws InputError for a group that does not exist, or that ranks at different micro-batches would have to share.
void check_phase_groups(const std::vector<Phase>& phases, JobGroups& groups);

/// Of all messages, those of collectives included, each rounded up.
uint64_t packets_of(const OpGraph& graph);

/// Same spec and seed, same job. Throws InputError where the entry is none that can be run, or passes a bound.
PlannedJob plan_job(const JobSpec& spec, uint64_t seed);

}  // namespace mrclab::job
