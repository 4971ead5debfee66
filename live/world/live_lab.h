#pragma once
// The live world: a topology as namespaces, and the daemons that run its nodes behind clock and
// gate. Owned by `run`, `demo` or mrclab-labd; when this object dies, all of it goes.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "live/bringup/bring_up.h"
#include "live/bringup/onlookers.h"
#include "live/bringup/ordinary_routes.h"
#include "live/external/bpf_switches.h"
#include "live/external/foreign_switches.h"
#include "live/external/ovs_switches.h"
#include "live/speakers/fabric_speakers.h"
#include "live/world/commit_limit.h"
#include "live/world/daemon_fleet.h"
#include "live/world/kernel_mirror.h"
#include "live/world/lab_pace.h"
#include "live/world/live_lab_options.h"
#include "live/world/outside_faults.h"
#include "live/world/outside_watch.h"
#include "live/world/power_cycle.h"
#include "live/world/process_plan.h"
#include "netio/runtime/gate.h"
#include "netio/runtime/schedule_file.h"
#include "netio/runtime/shared_page.h"

namespace mrclab::lab {

class LiveLab {
 public:
  /// Brings the fabric up and starts its daemons; time stays at 0. Throws SystemError or
  /// InputError, leaving nothing behind.
  LiveLab(const Topology& topology, LiveLabOptions options, const BringUpProgress& progress = {});
  ~LiveLab();

  /// Lets fabric time pass.
  void start();
  /// To be called every few milliseconds (lab_loop.h): pace, kernel mirror, supervision. False when
  /// every process has finished or none is left.
  bool step();

  /// No process commits past `limit` (never(): no limit). Combined with the kernel mirror's own
  /// limit. A limit that is lower than the one before must be no lower than
  /// Quiesce::last_commit(). The clock goes on: a caller that stops a lab for long also pauses it. Who looks on by now
  /// sees every frame that is sent by it.
  void set_limit(FabricTime limit) {
    onlookers_.look_at_all();
    commits_.set(limit);
  }
  FabricTime limit() const { return commits_.limit(); }
  /// For brakes, and for a Quiesce.
  CommitLimit& commits() { return commits_; }
  /// Effects up to this instant are settled: every process has committed it, and outages that ended
  /// by then are over in the kernel, too.
  FabricTime settled() const;
  /// Replaces the schedule of effects. Up to the quiesce's open instant the new one must be as
  /// the old one was, but may leave out what is settled (netio::Schedule). A process that commits
  /// that instant or a later one does so with the new schedule.
  void replace_schedule(const Quiesce& quiesce, netio::Schedule schedule);
  void pause() { pace_.pause(); }  ///< LabPace::pause()
  void resume() { pace_.resume(); }
  bool paused() const { return pace_.paused(); }

  FabricTime now() const { return fleet_.now(); }  ///< committed by every process
  double dilation() const { return pace_.dilation(); }
  const LabPace& pace() const { return pace_; }
  netio::GatePage& gate() { return gate_; }
  LiveFabric& fabric() { return *fabric_; }
  const LiveFabric& fabric() const { return *fabric_; }
  const KernelMirror& mirror() const { return mirror_; }
  /// The changes of switches that are not ours.
  const std::vector<SwitchNote>& switch_notes() const;
  const std::vector<ScheduledEffect>& schedule() const { return options_.schedule; }
  const ProcessPlan& plan() const { return plan_; }
  const OutsideFaults& outside_faults() const { return outside_faults_; }
  const DaemonFleet& fleet() const { return fleet_; }
  /// Something that no daemon and no switch can report, to be reported with the outside faults.
  void note_outside(std::string what) {
    outside_faults_.report_fault({.t = now(), .what = std::move(what)});
  }

  /// Makes the network beside the fabric, for programs that need it, if it is not there. Throws SystemError.
  void make_management_network();

  /// After the last step: looks at everything once more. A difference that the kernel
  /// did not report becomes an outside fault.
  void look_again();
  /// Asks the daemons to end, which write their reports before. Idempotent.
  void end_daemons() { fleet_.end(); }
  /// Ends the daemons and removes the fabric. Idempotent.
  void tear_down();

 private:
  void cut_power();
  void forget_notes();
  FabricTime clock() const;  ///< the clock's reading, within what may be committed

  LiveLabOptions options_;
  ProcessPlan plan_;
  std::unique_ptr<LiveFabric> fabric_;
  netio::SharedPage page_;
  netio::GatePage& gate_;
  CommitLimit commits_;
  LabPace pace_;
  KernelMirror mirror_;
  PowerCycle power_;
  OrdinaryRoutes ordinary_routes_;
  std::unique_ptr<OvsSwitches> ovs_;          ///< where there are some; goes before the fabric
  std::unique_ptr<BpfSwitches> bpf_;          ///< likewise
  std::unique_ptr<FabricSpeakers> speakers_;  ///< likewise
  std::unique_ptr<ForeignSwitches> foreign_;  ///< where there are some; goes before those
  OutsideFaults outside_faults_;
  Onlookers onlookers_;
  std::unique_ptr<OutsideWatch> outside_;  ///< goes before all that it looks at
  /// The memory in which daemons hand each other the frames of fast wires (netio::FrameChannels); empty for veths.
  std::optional<netio::SharedPage> wires_;
  DaemonFleet fleet_;
};

}  // namespace mrclab::lab
