#pragma once
// Faults compiled into effects, and the tracker of what is still degraded.

#include <array>
#include <compare>
#include <map>
#include <vector>

#include "fabric/node/effect.h"
#include "fabric/topology/topology.h"
#include "faults/fault.h"

namespace mrclab::faults {

/// The target of an effect: its place in the variant and its keys, in an order that never changes.
struct Target {
  size_t effect = 0;
  std::array<uint64_t, 3> keys{};
  std::strong_ordering operator<=>(const Target&) const = default;
};
Target target_of(const Effect& effect);

/// Effects of all faults, sorted by (at, sequence), sequence counting from `first_sequence`. Faults
/// that overlap on a target compose: it is as built only when no fault holds it, and of several
/// states the worse counts (of states that are not worse or better than each other, the one that
/// began last). So every effect is an absolute state, and replaying them needs no memory.
/// ScheduledEffect::fault is the index in `faults` of the one whose hold begins or ends there.
std::vector<ScheduledEffect> compile(const std::vector<Fault>& faults, const Topology& topology,
                                     uint64_t first_sequence = 0);

/// The effects up to `until` whose state is still in force then: the last effect on each target
/// that is degraded, in the order of `schedule`.
std::vector<ScheduledEffect> still_in_force(const std::vector<ScheduledEffect>& schedule,
                                            FabricTime until);

/// Tracks which targets effects have left degraded. Feed it the effects that a run executed, in
/// order.
class FaultState {
 public:
  void apply(const Effect& effect);
  /// The degraded targets, in the order of targets.
  std::vector<Effect> degraded_targets() const;

 private:
  std::map<Target, Effect> degraded_;
};

/// The state after all effects with at <= `until`.
FaultState replay(const std::vector<ScheduledEffect>& schedule,
                  FabricTime until = FabricTime::never());

}  // namespace mrclab::faults
