#pragma once
// Times between arrivals that have no memory.

#include <cstdint>

#include "fabric/base/units.h"

namespace mrclab {

/// An exponential time with this mean, the `number`-th of a seed (J. von Neumann, Various techniques used in connection
/// with random digits, 1951). No logarithm is computed, so it is the same on every machine.
FabricTime exponential_time(FabricTime mean, uint64_t seed, uint64_t number);

}  // namespace mrclab
