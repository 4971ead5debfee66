#pragma once
// Looks for what others do to the nodes of a live lab, of whatever kind they are, and makes outside faults of it:
//
//                     links, addresses,    processes stopped,   tables          seen by
//                     neighbours, routes,  continued, ended
//                     rules, tc, nftables,
//                     sysctls
//   host              yes                  the daemon           -               NodeGuard, DaemonFleet
//   switch of ours    yes                  the daemon           -               NodeGuard, DaemonFleet
//   kernel            yes                  its BGP speaker      its routes      NodeGuard, FabricSpeakers
//   Open vSwitch      yes                  both daemons         rules, groups   NodeGuard, OvsSwitches
//   BPF               yes                  -                    its maps        NodeGuard, BpfSwitches
//
// A daemon of ours that stands still for less than DaemonFleet::kGatePatience makes a lab slower and nothing else.
//
// LiveLab calls it in each step, and reports to it what the kernel refuses.

#include <functional>
#include <string>

#include "live/bringup/onlookers.h"
#include "live/bringup/ordinary_routes.h"
#include "live/external/bpf_switches.h"
#include "live/external/foreign_switches.h"
#include "live/external/ovs_switches.h"
#include "live/speakers/fabric_speakers.h"
#include "live/world/node_guard.h"
#include "live/world/outside_faults.h"

namespace mrclab::lab {

class OutsideWatch {
 public:
  /// What there is to look at. `ovs`, `bpf`, `speakers` and `foreign` are null where there are no such switches; the
  /// ordinary routes get the links that others hold down.
  struct Subjects {
    LiveFabric& fabric;
    OvsSwitches* ovs = nullptr;
    BpfSwitches* bpf = nullptr;
    FabricSpeakers* speakers = nullptr;
    ForeignSwitches* foreign = nullptr;
    OrdinaryRoutes& routes;
    Onlookers& onlookers;
  };

  /// The present state of the nodes is the intended one. `now`: committed by every process. All outlive
  /// this.
  OutsideWatch(const Subjects& subjects, OutsideFaults& faults, std::function<FabricTime()> now);

  void look_at_nodes();
  /// NodeGuard::adopt_in_hosts().
  void adopt_in_hosts(const std::string& interface) { nodes_.adopt_in_hosts(interface); }
  /// Programs that are not ours, which are not to end nor to stop, and their tables.
  void look_at_switches();
  /// What went wrong at foreign switches since the last call.
  void collect_problems();
  /// Looks at everything once more.
  void look_again();
  /// Sets a link as the model has it. If it was deleted from outside, look_at_nodes() reports that.
  void mirror_link(LinkId link, bool up);

 private:
  void report_text(std::string what);
  void report_changes(const std::vector<OutsideChange>& changes);
  bool is_ours(NodeId node, uint32_t sender);

  Subjects subjects_;
  NodeGuard nodes_;
  OutsideFaults& faults_;
  std::function<FabricTime()> now_;
};

}  // namespace mrclab::lab
