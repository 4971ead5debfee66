#pragma once
// What a world leaves beside its captures: the nodes' histories and counters, and its timing.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/history/evidence.h"
#include "analysis/history/reports.h"
#include "analysis/report/verdict.h"
#include "endpoint/host/host_account.h"
#include "fabric/history/history.h"
#include "lab/run/process_reports.h"
#include "lab/run/run_folder.h"
#include "lab/scenario/scenario.h"
#include "lab/sim/rank_link.h"
#include "netio/record/pcapng.h"

namespace mrclab::lab {

class Simulation;

struct WorldOutcome {
  std::vector<HistoryStream> history;
  analysis::HostReports hosts;
  analysis::TimingReport timing;
  uint64_t capture_records = 0;                 ///< in the simulated world's capture
  std::vector<analysis::CheckResult> programs;  ///< how the workload's programs ended
  /// The instant at which the user ended the run, before its scenario's end.
  std::optional<FabricTime> interrupted_at;
  bool judgeable = true;  ///< what was recorded is whole until there, and nothing of it later
  /// Memory of the simulator, for a run that was interrupted (see Interrupted); it is never read.
  /// Shared with the code that ends the process.
  std::shared_ptr<const void> memory;
};

/// Adds what one daemon wrote about itself; what was not faithful becomes a reason.
void add_process_report(WorldOutcome& outcome, const Scenario& scenario, const ReadReport& read);

/// Adds what every daemon of the plan left in the folder `reports`. A report
/// that is missing or broken is a disturbance.
void add_process_reports(WorldOutcome& outcome, const Scenario& scenario, const ProcessPlan& plan,
                         const std::filesystem::path& reports);

/// Adds a reason that makes the run inconclusive: a fault from outside, a process without a report.
void add_disturbance(WorldOutcome& outcome, std::string what);

/// history.txt: name, count and hash of every stream of all nodes, sorted by name.
void write_history(std::vector<HistoryStream> streams, const RunFolder& folder);

struct SimOptions {
  uint64_t capture_bytes = netio::kCaptureBytesDefault;  ///< bound on each capture file
  uint64_t history_bytes = 0;                            ///< bound on the packet records; 0: none
  /// More than one only without evidence.
  uint32_t threads = 1;
  /// The other processes that have a part of the nodes each; null: none. All of them call
  /// run_simulated with the same scenario and folder, without evidence; each has an outcome of its part.
  RankLink* ranks = nullptr;
  /// Called when the simulation has ended, with the outcome of this process.
  std::function<void(const Simulation&, const WorldOutcome&)> at_end = {};
  /// Is told everything that nodes do; null: no check reads packets.
  analysis::Evidence* evidence = nullptr;
  /// The world goes no further, whatever the scenario says.
  FabricTime until = FabricTime::never();
};

/// The threads of the simulated world if the user gives no number: one, or two for a large fabric
/// whose packets neither files nor checks ask for, on a machine that has two.
uint32_t default_threads(const Scenario& scenario, uint64_t history_bytes);

/// Runs the scenario in the simulated world, which is exact by construction. `go_on` is asked every
/// few milliseconds of wall time. Where it returns false the run ends, at an instant from which on
/// nothing is recorded: a run until there leaves the same history.
WorldOutcome run_simulated(const Scenario& scenario, const RunFolder& folder,
                           const SimOptions& options,
                           const std::function<bool(FabricTime now)>& go_on = {});

}  // namespace mrclab::lab
