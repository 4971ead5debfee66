#pragma once
// The intervals of a schedule in which a link has no carrier at either end.

#include <vector>

#include "fabric/base/units.h"
#include "fabric/node/effect.h"
#include "fabric/topology/topology.h"

namespace mrclab::faults {

/// An interval in which a link has no carrier at either end.
struct CarrierOutage {
  LinkId link;
  FabricTime down;
  FabricTime up = FabricTime::never();
  bool operator==(const CarrierOutage&) const = default;
};
/// Ordered by (down, link). `schedule` sorted by (at, sequence).
std::vector<CarrierOutage> carrier_outages(const Topology& topology,
                                           const std::vector<ScheduledEffect>& schedule);

}  // namespace mrclab::faults
