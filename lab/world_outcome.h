#pragma once
// What a world leaves beside its captures: the nodes' histories and counters, and its timing.

#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "analysis/reports.h"
#include "fabric/history.h"
#include "lab/run_folder.h"
#include "lab/scenario.h"

namespace mrclab::lab {

struct WorldOutcome {
  std::vector<HistoryStream> history;
  analysis::HostReports hosts;
  analysis::TimingReport timing;
};

/// A host's report out of its counters (names of endpoint::HostStats::named).
analysis::HostReport host_report(const std::string& host, const nlohmann::json& counters);

/// Adds what one daemon wrote about itself; what was not faithful becomes a reason.
void add_process_report(WorldOutcome& outcome, const Scenario& scenario,
                        const nlohmann::json& report);

/// history.txt: name, count and hash of every stream of all nodes, sorted by name.
void write_history(std::vector<HistoryStream> streams, const RunFolder& folder);

/// The simulated world: exact by construction. `history_bytes` as in RunOptions.
WorldOutcome run_simulated(const Scenario& scenario, const RunFolder& folder,
                           uint64_t history_bytes,
                           const std::function<bool(FabricTime now)>& go_on);

}  // namespace mrclab::lab
