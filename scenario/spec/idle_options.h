#pragma once
// Transport options that a scenario sets and that change nothing in it. They are reported, not
// refused, so that a user does not compare runs in which only the file differs.

#include <string>
#include <vector>

#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// One line each: "max_psn_range: 16384 has no effect: ...".
std::vector<std::string> idle_options(const Scenario& scenario);

/// Prints them to stderr, "mrclab: note: <name>: ..." for the scenario's name.
void note_idle_options(const Scenario& scenario);

}  // namespace mrclab::lab
