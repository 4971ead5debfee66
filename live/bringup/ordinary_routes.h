#pragma once
// Keeps the hosts' routes in step with what is broken: when a link, an optic, a switch or a route dies, the
// kernels' ordinary traffic leaves the paths over it, and comes back when it is healed (ordinary_paths.h).
//
// A change is carried out within a few steps of the lab after the last process has committed to it: some
// hosts at each step, so that no step takes long however big the fabric is.

#include <cstdint>
#include <set>
#include <vector>

#include "fabric/node/effect.h"
#include "faults/schedule.h"
#include "live/bringup/bring_up.h"
#include "live/bringup/ordinary_paths.h"

namespace mrclab::lab {

class OrdinaryRoutes {
 public:
  /// `fabric` outlives this, and comes up with the routes of a fabric without faults.
  OrdinaryRoutes(LiveFabric& fabric, std::vector<ScheduledEffect> schedule);

  /// The schedule is another one from now on.
  void replace(std::vector<ScheduledEffect> schedule);
  /// A program other than the lab has set a link's end down, or up again.
  void set_outside(PortRef end, bool up);
  /// Does what is due. `now`: committed by every process.
  void apply_due(FabricTime now);
  /// Does every route fit what is broken, as far as apply_due() has seen?
  bool settled() const { return stale_.empty(); }

 private:
  void look(FabricTime now);
  void update(uint32_t host);

  LiveFabric& fabric_;
  const Topology& topology_;
  std::vector<ScheduledEffect> schedule_;
  size_t next_ = 0;  ///< the first effect of the schedule that is not in `in_force_`
  FabricTime reached_ = FabricTime::from_ps(-1);
  faults::FaultState in_force_;
  std::set<PortRef> outside_;  ///< ends that another program holds down
  bool changed_ = false;       ///< since `dead_` was made
  DeadParts dead_;
  std::set<uint32_t> stale_;  ///< hosts whose routes may be those of before
};

}  // namespace mrclab::lab
