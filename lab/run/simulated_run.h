#pragma once
// A scenario in the simulated world: its records into files, or into evidence, and what it came to.

#include <cstdint>
#include <functional>

#include "analysis/history/evidence.h"
#include "netio/record/pcapng.h"
#include "recorded/folder/run_folder.h"
#include "scenario/judging/world_outcome.h"
#include "scenario/spec/scenario.h"
#include "sim/rank_link.h"

namespace mrclab::lab {

class Simulation;

struct SimOptions {
  uint64_t capture_bytes = netio::kCaptureBytesDefault;  ///< bound on each capture file
  uint64_t history_bytes = 0;                            ///< bound on the packet records; 0: none
  uint32_t threads = 1;                                  ///< each a part of the evidence
  /// The other processes that have a part of the nodes each; null: none. All of them call
  /// run_simulated with the same scenario and folder, without evidence; each has an outcome of its part.
  RankLink* ranks = nullptr;
  /// Called when the simulation has ended, with the outcome of this process.
  std::function<void(const Simulation&, const WorldOutcome&)> at_end = {};
  /// Observes each node as well; only beside `evidence`. Empty: nobody.
  std::function<NodeObserver&(NodeId)> observer = {};
  /// Observes everything that nodes do; null: no check reads packets.
  analysis::Evidence* evidence = nullptr;
  /// The world goes no further, whatever the scenario's end.
  FabricTime until = FabricTime::never();
};

/// Does anybody look at its packets? Else none are kept, and a run of any length stays small.
bool is_looked_at(const Scenario& scenario, uint64_t history_bytes);
/// May nodes be watched by several threads? Then no capture needs writing for the judge. Not where what they do is
/// matched across nodes while they are watched (analysis/history/evidence.h).
bool is_watched_by_threads(const Scenario& scenario);
/// The threads of the simulated world if the user gives no number: one, or two on a machine that has two for a large
/// fabric whose packets neither files nor checks ask for, or that threads may watch.
uint32_t default_threads(const Scenario& scenario, uint64_t history_bytes);

/// Runs the scenario in the simulated world, which is exact by construction. `go_on` is asked every
/// few milliseconds of wall time. Where it returns false the run ends, at an instant from which on
/// nothing is recorded: a run until there leaves the same history.
WorldOutcome run_simulated(const Scenario& scenario, const RunFolder& folder,
                           const SimOptions& options,
                           const std::function<bool(FabricTime now)>& go_on = {});

}  // namespace mrclab::lab
