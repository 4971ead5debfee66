#pragma once
// What a run would have delivered without its faults. The judge cannot know; whoever can simulate the
// scenario tells it, when asked: a run whose own baseline says enough needs no twin.

#include <functional>

#include "analysis/measurements.h"

namespace mrclab::analysis {

/// The goodput of the same scenario and seed without faults. Empty: nobody can simulate it.
using Twin = std::function<GoodputMeter()>;

}  // namespace mrclab::analysis
