#pragma once
// A scenario with some of its faults: one of the twins.

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fabric/node/effect.h"
#include "fabric/text/yaml.h"
#include "lab/twin/attribution.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// Faults of a scenario, by their places in its list, that are taken out together.
using FaultGroups = std::vector<std::vector<size_t>>;

/// What twins are made of: a scenario, which outlives it, and what counts as a fault of it.
struct TwinCase {
  /// Each fault counts by itself.
  TwinCase(const Scenario& of);  // NOLINT(google-explicit-constructor): a scenario is such a case
  TwinCase(const Scenario& of, FaultGroups faults) : scenario(of), groups(std::move(faults)) {}
  const Scenario& scenario;
  FaultGroups groups;  ///< each fault of the scenario is in one of them
  size_t faults() const { return groups.size(); }
  FaultSet all() const { return all_faults_of(groups.size()); }
};

/// The times of a fault with `every:` in one group. `list` is what the scenario's faults were read from; of another one
/// each fault is by itself, and so are those of a list with variables.
FaultGroups groups_of_entries(const Scenario& scenario, const YamlValue& list);

/// "link_down p1.t0-0:u0 at 100us: for 40us"; of a group with how often it comes, and when for the last time.
std::string describe(const TwinCase& of, size_t fault);

/// Throws InputError for a scenario of which no twins can be simulated: it has no faults, more than kMaxTwinFaults, no
/// end, or programs, which may have effects outside.
void check_twins(const TwinCase& of);

/// The scenario with the faults of the set alone, and nothing that it expects.
Scenario with_faults(const TwinCase& of, FaultSet set);

/// "all", "none", "without-2", "only-1", "only-1-3": what the run is called; faults count from 1.
std::string twin_name(FaultSet set, size_t faults);

/// The first instant at which one of the schedules does something that the other does not; never(): both do the same.
FabricTime first_difference(std::span<const ScheduledEffect> a, std::span<const ScheduledEffect> b);

/// By set: from when on its run may differ from that of all faults. Ascending, each once, without never().
std::vector<FabricTime> cuts_of(const TwinCase& of, const std::vector<FaultSet>& sets);

}  // namespace mrclab::lab
