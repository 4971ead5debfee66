#pragma once
// The live world's part of a run: it brings the lab up, follows it to its end and reads back what it
// left. `run_scenario` calls it and judges what it returns.

#include <optional>
#include <stdexcept>

#include "lab/run/run_options.h"
#include "scenario/judging/world_outcome.h"
#include "scenario/spec/scenario_value.h"

namespace mrclab::lab {

/// A world's run was interrupted. run_scenario() turns this into the Interrupted which the user
/// reads, once it has noted it in the run's folder.
struct InterruptedAt : std::runtime_error {
  explicit InterruptedAt(std::optional<FabricTime> instant)
      : std::runtime_error("interrupted"), at(instant) {}
  std::optional<FabricTime> at;  ///< empty: before it began
};

/// Runs the scenario in the live world and sets the times and taps of `result`. `happened` gets the
/// scenario with the faults that others gave the lab underway, if they gave any.
WorldOutcome run_live(const Scenario& scenario, const RunOptions& options, const RunFolder& folder,
                      RunResult& result, std::optional<Scenario>& happened);

}  // namespace mrclab::lab
