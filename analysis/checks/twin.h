#pragma once
// What a run would have delivered without its faults. The judge does not simulate: `lab` does, and
// only when the judge asks, because a run with a usable baseline of its own needs no twin.

#include <functional>

#include "analysis/measure/measurements.h"

namespace mrclab::analysis {

/// Returns the goodput of the same scenario and seed without faults. An empty function: the
/// scenario cannot be simulated.
using Twin = std::function<GoodputMeter()>;

}  // namespace mrclab::analysis
