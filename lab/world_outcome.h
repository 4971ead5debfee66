#pragma once
// What a world leaves beside its captures: the nodes' histories and counters, and its timing.

#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "analysis/reports.h"
#include "analysis/verdict.h"
#include "endpoint/host_node.h"
#include "fabric/history.h"
#include "lab/run_folder.h"
#include "lab/scenario.h"

namespace mrclab::lab {

struct WorldOutcome {
  std::vector<HistoryStream> history;
  analysis::HostReports hosts;
  analysis::TimingReport timing;
  std::vector<analysis::CheckResult> programs;  ///< how the workload's programs ended
};

/// One of a daemon's counters; 0 if it has none of that name.
uint64_t counter(const nlohmann::json& counters, const char* name);

/// A host's report out of its counters (names of endpoint::HostStats::named).
analysis::HostReport host_report(const std::string& host, const nlohmann::json& counters);
/// The same of a host in this process.
analysis::HostReport host_report(const std::string& host, const endpoint::HostNode& node);

/// Adds what one daemon wrote about itself; what was not faithful becomes a reason.
void add_process_report(WorldOutcome& outcome, const Scenario& scenario,
                        const nlohmann::json& report);

/// history.txt: name, count and hash of every stream of all nodes, sorted by name.
void write_history(std::vector<HistoryStream> streams, const RunFolder& folder);

struct SimOptions {
  uint64_t history_bytes = 0;  ///< bound on the packet records; 0: none
  uint32_t threads = 1;        ///< more than one only if there are neither captures nor records
  FabricTime until =
      FabricTime::never();  ///< the world goes no further, whatever the scenario says
};

/// The threads of the simulated world where nobody says how many: one, or two for a large fabric
/// whose packets are not written to files, on a machine that has two.
uint32_t default_threads(const Scenario& scenario, uint64_t history_bytes);

/// The simulated world: exact by construction. `go_on` is asked ever so often in wall time; what it
/// throws comes out here, when all that was recorded is in its files.
WorldOutcome run_simulated(const Scenario& scenario, const RunFolder& folder,
                           const SimOptions& options,
                           const std::function<bool(FabricTime now)>& go_on = {});

}  // namespace mrclab::lab
