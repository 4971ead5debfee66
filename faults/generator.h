#pragma once
// Generates the faults of a chaos run from a seed. Swarm style (Groce et al., "Swarm testing",
// 2012): each seed switches a random half of the kinds off, because a kind that is always on hides
// what the others do alone. A pure function of the topology and the options.
//
// Every kind of the table in fault_kind.h takes part: its targets are drawn by their form, its
// parameters from the ranges in generator.cc. A draw that would not be survivable is put back
// (survival.h), except in one seed of kUnsurvivableOneIn, which may break everything and is marked so. Of the
// seeds whose traffic keeps to its paths one in kFatalOneIn may break these, as long as others are left.

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/topology/topology.h"
#include "faults/fault.h"

namespace mrclab::faults {

inline constexpr uint32_t kMaxDrawnFaults = 8;
inline constexpr uint64_t kUnsurvivableOneIn = 8, kFatalOneIn = 3;

struct GeneratorOptions {
  uint64_t seed = 0;
  FabricTime from;              ///< no fault before
  FabricTime heal_by;           ///< at the latest everything is as built again
  std::vector<uint32_t> hosts;  ///< hosts whose traffic is to survive, by number
  /// Their traffic keeps to its paths and tries again for so long (Outages::survivable_by_patience). Empty: it
  /// takes other paths.
  std::optional<FabricTime> patience = std::nullopt;
};

struct DrawnFaults {
  std::vector<FaultKind> kinds;  ///< switched on
  std::vector<Fault> faults;     ///< by time; of these kinds, not necessarily of all of them
  bool survivable = true;        ///< by Outages::survivable
};

DrawnFaults draw_faults(const Topology& topology, const GeneratorOptions& options);

}  // namespace mrclab::faults
