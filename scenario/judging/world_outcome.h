#pragma once
// What a world leaves beside its captures: the nodes' histories and counters, and its timing.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/checks/check_result.h"
#include "analysis/history/reports.h"
#include "analysis/verdict/verdict.h"
#include "endpoint/base/job_report.h"
#include "fabric/history/history.h"

namespace mrclab::lab {

struct WorldOutcome {
  std::vector<HistoryStream> history;
  analysis::HostReports hosts;
  std::vector<endpoint::JobReport> jobs;  ///< by host; job_outcome.h joins them
  analysis::TimingReport timing;
  uint64_t capture_records = 0;                 ///< in the simulated world's capture
  std::vector<analysis::CheckResult> programs;  ///< how the workload's programs ended
  /// What became of held programs, as each process that held some wrote it (verbs/server/held/held_reports.h).
  std::vector<std::string> held_programs;
  /// The instant at which the user ended the run, before its scenario's end.
  std::optional<FabricTime> interrupted_at;
  bool judgeable = true;  ///< what was recorded is whole until there, and nothing of it later
  /// Memory of the simulator, for a run that was interrupted (see Interrupted); it is never read.
  /// Shared with the code that ends the process.
  std::shared_ptr<const void> memory;
};

/// Adds a reason that makes the run inconclusive: a fault from outside, a process without a report.
void add_disturbance(WorldOutcome& outcome, std::string what);

}  // namespace mrclab::lab
