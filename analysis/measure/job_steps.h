#pragma once
// Steps of jobs beside what was on meanwhile, and their times in order.

#include <span>
#include <vector>

#include "analysis/history/fault_span.h"
#include "analysis/history/packet_history.h"
#include "analysis/measure/job_result.h"

namespace mrclab::analysis {

inline constexpr size_t kMaxFaultsOfStep = 64;  ///< that are named

/// Sets `faults` of each step: those whose time and the step's have an instant in common, the first kMaxFaultsOfStep. A
/// step that is open goes on to `end`, the run's.
void mark_faults(JobResult& job, std::span<const FaultSpan> faults, FabricTime end);

/// A rank whose host loses its power before the job is done is dead, which nobody reports: sets `died`, unless a rank
/// died before. `end`: the run's.
void mark_power_loss(JobResult& job, const Topology& topology,
                     std::span<const ScheduledEffect> schedule, FabricTime end);

/// Sets `lost` of each step: data packets of the job's queue pairs, or where none are named, of all that join two of
/// its hosts. Steps may overlap, as no rank waits for all others: a packet counts for each that was on.
void count_losses(JobResult& job, const Topology& topology, const PacketHistory& history,
                  FabricTime end);

/// How long steps took that have ended, from step `from` on; their mean, zero if there is none.
std::vector<FabricTime> step_times(const JobResult& job, uint32_t from);
FabricTime mean_of(const std::vector<FabricTime>& times);

}  // namespace mrclab::analysis
