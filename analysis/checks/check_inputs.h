#pragma once
// All that checks look at: the evidence of a run, what was measured from it, and what no packet shows: the schedule of
// faults, the hosts' reports, the memory that peers may write to.

#include <span>

#include "analysis/checks/twin.h"
#include "analysis/history/evidence.h"
#include "analysis/history/reports.h"
#include "analysis/measure/job_result.h"
#include "analysis/measure/measurements.h"

namespace mrclab::analysis {

struct CheckInputs {
  const Topology& topology;
  const PacketHistory& history;
  const Measurements& measurements;
  std::span<const FaultSpan> faults;
  const HostReports& hosts;
  const Evidence& evidence;
  std::span<const ScheduledEffect> schedule;
  std::span<const MemoryRegion> regions;  ///< empty: unknown
  FabricTime retry_span;                  ///< zero: unknown
  FabricTime rc_retry_span;               ///< zero: no queue pair is one of RC
  const Coverage& coverage;
  TimingMode timing = TimingMode::kCarried;
  Twin twin = {};
  std::span<const JobResult> jobs = {};
  AloneRun alone = {};
};

}  // namespace mrclab::analysis
