#pragma once
// What hosts have to do without when an operator takes switches or links out of use, before somebody works on them.

#include <vector>

#include "fabric/node/effect.h"
#include "faults/fault.h"

namespace mrclab::faults {

/// Denials of all paths over the switches or links of a target. A path that leads over them to every host is denied
/// towards everybody, else towards those. No more than kMaxHoldsPerFault and one.
std::vector<EvDenial> denials_around(const Targets& targets, const Topology& topology);

}  // namespace mrclab::faults
