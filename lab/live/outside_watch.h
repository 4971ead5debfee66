#pragma once
// Looks for what others do to the links and switches of a live lab, and makes outside faults of it.
//
// LiveLab calls it in each step, and reports to it what the kernel refuses.

#include <functional>
#include <string>

#include "lab/bringup/ordinary_routes.h"
#include "lab/external/foreign_switches.h"
#include "lab/external/ovs_switches.h"
#include "lab/live/link_guard.h"
#include "lab/live/outside_faults.h"
#include "lab/speakers/fabric_speakers.h"

namespace mrclab::lab {

class OutsideWatch {
 public:
  /// What there is to look at. `ovs`, `speakers` and `foreign` are null where there are no such switches; the
  /// ordinary routes are told which links others hold down.
  struct Subjects {
    LiveFabric& fabric;
    OvsSwitches* ovs = nullptr;
    FabricSpeakers* speakers = nullptr;
    ForeignSwitches* foreign = nullptr;
    OrdinaryRoutes& routes;
  };

  /// Links as they are now are as the lab wants them. `now`: committed by every process. All outlive
  /// this.
  OutsideWatch(const Subjects& subjects, OutsideFaults& faults, std::function<FabricTime()> now);

  void look_at_links();
  /// Programs that are not ours, which are not to end.
  void look_at_processes();
  /// What went wrong at foreign switches since the last call.
  void collect_problems();
  /// Looks at everything once more.
  void look_again();
  /// Sets a link as the model has it. If it was deleted from outside, look_at_links() tells that.
  void mirror_link(LinkId link, bool up);

 private:
  void note(std::string what);

  Subjects subjects_;
  LinkGuard links_;
  OutsideFaults& faults_;
  std::function<FabricTime()> now_;
};

}  // namespace mrclab::lab
