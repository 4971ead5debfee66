#pragma once
// Waiting for what other threads of the program do: locks keep their state in the C library's objects, by calls that do
// not wait; the waiting is the baton's.

#include <time.h>

#include <cstdint>

namespace mrclab::verbs::held {

/// Fabric time of an absolute time of a lock. Which clock it is of is not always to be had (a condition's attribute is
/// hidden in it), but told by the number: CLOCK_REALTIME began decades before CLOCK_MONOTONIC.
uint64_t until_of_clock(const timespec& until);

}  // namespace mrclab::verbs::held
