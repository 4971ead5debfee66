#pragma once
// What a program takes for chance: its process number and the system's random numbers, of the scenario's seed.

#include <cstddef>

namespace mrclab::verbs::held {

/// Of one sequence per program.
void fill_randomly(void* buffer, size_t size);

}  // namespace mrclab::verbs::held
