#pragma once
// A scenario with some of its faults: one of the twins.

#include <span>
#include <string>
#include <vector>

#include "fabric/node/effect.h"
#include "lab/twin/attribution.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// Throws InputError for a scenario of which no twins can be simulated: it has no faults, more than kMaxTwinFaults, no
/// end, or programs, which may have effects outside.
void check_twins(const Scenario& scenario);

/// The scenario with the faults of the set alone, and nothing that it expects.
Scenario with_faults(const Scenario& scenario, FaultSet set);

/// "all", "none", "without-2", "only-1", "only-1-3": what the run is called; faults count from 1.
std::string twin_name(FaultSet set, size_t faults);

/// The first instant at which one of the schedules does something that the other does not; never(): both do the same.
FabricTime first_difference(std::span<const ScheduledEffect> a, std::span<const ScheduledEffect> b);

/// By set: from when on its run may differ from that of all faults. Ascending, each once, without never().
std::vector<FabricTime> cuts_of(const Scenario& scenario, const std::vector<FaultSet>& sets);

}  // namespace mrclab::lab
