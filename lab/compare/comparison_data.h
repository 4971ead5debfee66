#pragma once
// A comparison as programs read it.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/compare/comparison.h"

namespace mrclab::lab {

/// A list with an object for each scenario, null where a value is not known:
///
///   scenario, seed, base_rtt_ps, end_ps, page
///   runs: a list of
///     transport, result          its name; pass, fail or inconclusive, by the scenario's expectations
///     completion_ps              until the last byte had arrived; null: not done, or it has no end
///     share_of_first             that, or where the workload has no end goodput_bps, over the first run's
///     goodput_bps, recovery_ps, lowest_bps         lowest: of the lowest part of any dip
///     last_loss_ps, noticed_ps, routed_ps          from a fault's start, the longest of all (FaultTimes)
///     retransmitted, lost, trimmed, naks, timeouts, cnps, flows_cut, qps_failed
///     deepest_queue_bytes, deepest_queue_port      of data at a switch; null: nothing waited, or no record of it
///     paused_ports, paused_longest_ps, paused_longest_port, first_pauser      (PauseUse)
///     flows, flows_one_path, flows_sharing, uplinks_shared, flows_most, uplinks, uplinks_used, busiest,
///     busiest_to_mean                                                         (FlowSpread)
///     depends_on, failed_checks, not_asked   lists of sentences
///     contrast                   pass or fail, by the scenario's contrast for the transport; null: none
///     contrast_checks            sentences with what was measured
///     history_sha256, folder
nlohmann::ordered_json to_json(const std::vector<Comparison>& comparisons);

/// Scenario, seed and the values of a run, a line for each run under a line of names (RFC 4180); lists are joined
/// with "; ".
std::string to_csv(const std::vector<Comparison>& comparisons);

/// A table in Markdown, as topologies/README.md has it: a line for each scenario, a column for each transport of the
/// first one. The first has its goodput or completion time, the others theirs in percent of it; behind it how many of
/// the scenario's checks passed. A star marks what depends on compressed timers, or on a run shorter than a control loop;
/// what is below the table.
std::string to_markdown(const std::vector<Comparison>& comparisons);

}  // namespace mrclab::lab
