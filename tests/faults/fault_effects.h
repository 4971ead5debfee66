#pragma once
// What a fault touches, as tests ask for it.

#include <algorithm>
#include <vector>

#include "fabric/node/impairment.h"
#include "faults/fault.h"
#include "faults/schedule.h"

namespace mrclab::faults {

inline bool is_degraded(const FaultState& state, const Effect& target) {
  const std::vector<Effect> degraded = state.degraded_targets();
  return std::any_of(degraded.begin(), degraded.end(),
                     [&](const Effect& effect) { return target_of(effect) == target_of(target); });
}

/// Is nothing that this fault touches degraded any more?
inline bool is_healed(const Fault& fault, const Topology& topology, const FaultState& state) {
  const std::vector<Hold> holds = holds_of(fault, topology);
  return std::none_of(holds.begin(), holds.end(),
                      [&](const Hold& hold) { return is_degraded(state, hold.effect); });
}

/// The directed wires that do not carry everything as built because of it, sorted by id.
inline std::vector<WireId> affected_wires(const Fault& fault, const Topology& topology) {
  std::vector<WireId> wires;
  for (const Hold& hold : holds_of(fault, topology)) {
    const std::vector<WireId> impaired = wires_impaired_by(topology, hold.effect);
    wires.insert(wires.end(), impaired.begin(), impaired.end());
  }
  std::sort(wires.begin(), wires.end());
  wires.erase(std::unique(wires.begin(), wires.end()), wires.end());
  return wires;
}

}  // namespace mrclab::faults
