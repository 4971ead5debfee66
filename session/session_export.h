#pragma once
// A persistent lab as a scenario that repeats it: its workload, and every fault at the instant at
// which it took effect, whatever its source.

#include <string>

#include "faults/fault_book.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// Text of a scenario file. Faults without an end of their own end at `now`. Expectations stay
/// where they still make sense beside the faults. Throws InputError if no time has passed yet.
/// `unmodelled`: the number of changes by others, which no scenario can repeat; written as a comment.
std::string session_yaml(const Scenario& scenario, const std::map<uint32_t, BookedFault>& faults,
                         FabricTime now, uint64_t unmodelled = 0);

}  // namespace mrclab::lab
