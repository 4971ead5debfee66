#pragma once
// What figures of a run depend on that hardware has otherwise, or that takes longer than the run.

#include <vector>

#include "analysis/judge/dependence.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// Of RoCE: compressed ACK timers, or real ones that are longer than the run; a run that is shorter than DCQCN's control
/// loop. The judge keeps those that the run made use of.
std::vector<analysis::Dependence> dependences_of(const Scenario& scenario);

}  // namespace mrclab::lab
