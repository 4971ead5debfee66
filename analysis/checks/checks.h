#pragma once
// Judges expectations against measurements. Everything is decided in integers; the doubles in a
// CheckResult are for display.

#include <span>
#include <vector>

#include "analysis/checks/check_result.h"
#include "analysis/checks/expectation.h"
#include "analysis/checks/twin.h"
#include "analysis/history/evidence.h"
#include "analysis/history/reports.h"
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
};

/// One result per expectation, in order. Bundles have to be opened before (without_bundles).
std::vector<CheckResult> run_checks(std::span<const Expectation> expectations,
                                    const CheckInputs& inputs);

/// The result of the run: kNoChecks if nothing was checked, fail if a check fails, inconclusive if
/// the run was not sound (reports.h) or a check could not be judged. A run that is not sound fails
/// only by memory_intact: neither lateness nor a fault from outside excuses a wrong byte.
Result overall_result(std::span<const CheckResult> checks, const TimingReport& timing);

}  // namespace mrclab::analysis
