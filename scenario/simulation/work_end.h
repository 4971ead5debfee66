#pragma once
// When all work of a scenario has ended that ends by itself, for a run that ends with it (`end: {jobs: 20ms}`).
//
// It is found by simulating the scenario before it is run, without records: a run that ends then is like one whose user
// asked for that instant (`--until`), in every world, and what nodes record ahead of its end is cut off alike.

#include <optional>

#include "scenario/spec/scenario_value.h"
#include "sim/sim_world.h"

namespace mrclab::lab {

/// The first multiple of Scenario::work_check_period() at which it has; empty where the scenario stops before it.
/// `go_on` as in Simulation::run(); where it ends the search, empty.
std::optional<FabricTime> end_of_work(const Scenario& scenario, const SimWorld::GoOn& go_on = {});

/// Without the end that was found in an earlier run: its faults, its seed or what else decides may have been changed.
Scenario with_open_end(Scenario scenario);

/// The scenario as it is run: one that ends with its work has that instant as its end. It is looked for, whether an earlier
/// run has found it or not; whoever reads what such a run has left takes the scenario of its folder as it is.
Scenario ended_with_work(const Scenario& scenario, const SimWorld::GoOn& go_on = {});

/// What a verdict notes of it: "ended at 1.2ms, as all work that ends by itself had ended; ...". Empty of other scenarios.
std::string end_note(const Scenario& scenario, size_t faults_not_reached);

}  // namespace mrclab::lab
