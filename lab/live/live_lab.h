#pragma once
// The live world: a topology as namespaces, and the daemons that run its nodes behind clock and
// gate. Owned by `run`, `demo` or mrclab-labd; when this object dies, all of it goes.

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/history/reports.h"
#include "fabric/fabric_shape.h"
#include "fabric/history.h"
#include "lab/bringup/bring_up.h"
#include "lab/bringup/ordinary_routes.h"
#include "lab/external/foreign_switches.h"
#include "lab/external/ovs_switches.h"
#include "lab/live/kernel_mirror.h"
#include "lab/live/link_guard.h"
#include "lab/live/outside_faults.h"
#include "lab/live/pace.h"
#include "lab/live/pace_curve.h"
#include "lab/live/power_cycle.h"
#include "lab/live/process_plan.h"
#include "lab/live/standstill.h"
#include "netio/kernel/child_process.h"
#include "netio/runtime/daemon_config.h"
#include "netio/runtime/gate.h"
#include "netio/runtime/schedule_file.h"
#include "netio/runtime/shared_page.h"

namespace mrclab::lab {

/// The shortest lookahead of a wire: no process needs a frame earlier than this after its start.
FabricTime shortest_lookahead(const Topology& topology);

struct LiveLabOptions {
  std::string name;
  FabricShape shape;  ///< the fabric, for the daemons to read
  uint64_t seed = 1;
  FabricTime end = FabricTime::never();  ///< the daemons stop here
  /// No application starts new work from here on, and no history is kept of what comes later.
  FabricTime work_end = FabricTime::never();
  std::vector<ScheduledEffect> schedule;
  netio::CaptureMode capture = netio::CaptureMode::kNone;
  uint64_t capture_bytes = netio::kCaptureBytesDefault;  ///< bound on each process's capture
  uint64_t history_bytes = 0;     ///< bound on the packet records of a run; 0: none
  std::filesystem::path run_dir;  ///< empty for a lab that stays
  std::string workload;           ///< YAML for the endpoints
  std::string transport = "{profile: lab}";
  std::optional<double> dilation;  ///< empty: auto
  bool isolate = false;
  uint32_t host_processes = 2;
  bool realtime = false;
  std::filesystem::path programs;  ///< where the daemons lie; empty: beside this program
  /// Of the daemons, in ns of lab time; a resident lab ticks slower.
  int64_t tick_ns = 250'000;
};

/// A process was killed because its switch had lost its power, and another took its place.
struct PowerNote {
  FabricTime t;  ///< committed by the process
  uint32_t process = 0;
  pid_t killed = 0;
  pid_t started = 0;
};

class LiveLab {
 public:
  /// How long a process may do nothing, while others wait for it, before it is taken out of the
  /// gate.
  static constexpr std::chrono::milliseconds kGatePatience{5000};

  /// Brings the fabric up and starts its daemons; time stays at 0. Throws SystemError or
  /// InputError, leaving nothing behind.
  LiveLab(const Topology& topology, LiveLabOptions options, const BringUpProgress& progress = {});
  ~LiveLab();

  /// Lets fabric time pass.
  void start();
  /// To be called every few milliseconds: pace, kernel mirror, supervision. False when every
  /// process has finished or none is left.
  bool step();

  /// No process commits past `limit` (never(): no limit). Combined with the kernel mirror's own
  /// limit. A limit that is lower than the one before must be no lower than
  /// Standstill::last_commit(). The clock goes on: a caller that stops a lab for long also pauses
  /// it.
  void set_limit(FabricTime limit);
  FabricTime limit() const { return limit_; }
  /// `brake` returns an upper bound on commits and is asked at each step; it never decreases.
  void set_brake(std::function<FabricTime()> brake);
  /// Effects up to this instant are settled: every process has committed it, and outages that ended
  /// by then are over in the kernel, too.
  FabricTime settled() const;
  /// Replaces the schedule of effects. Up to the standstill's open instant the new one must be as
  /// the old one was, but may leave out what is settled (netio::Schedule). A process that commits
  /// that instant or a later one does so with the new schedule.
  void replace_schedule(const Standstill& standstill, netio::Schedule schedule);
  /// The clock stands from ClockPage::kLeadNs after this, and goes on that long after resume() at
  /// the pace it had.
  void pause() { pace_.pause(netio::LabTime::now()); }
  void resume() { pace_.resume(netio::LabTime::now()); }
  bool paused() const { return pace_.paused(); }

  FabricTime now() const;  ///< committed by every process
  double dilation() const { return pace_.dilation(); }
  netio::GatePage& gate() { return gate_; }
  LiveFabric& fabric() { return *fabric_; }
  const KernelMirror& mirror() const { return mirror_; }
  /// The changes of switches that are not ours.
  const std::vector<SwitchNote>& switch_notes() const;
  const std::vector<ScheduledEffect>& schedule() const { return options_.schedule; }
  const ProcessPlan& plan() const { return plan_; }
  const OutsideFaults& outside_faults() const { return outside_faults_; }
  pid_t pid_of(uint32_t process) const { return children_[process]->pid(); }
  const std::vector<PowerNote>& power_notes() const { return power_notes_; }
  std::filesystem::path control_socket(uint32_t process) const;
  DilationReport dilation_report() const;
  const PaceCurve& pace_curve() const { return curve_; }

  /// After the last step: looks at everything once more. A difference that no message of the kernel
  /// told becomes an outside fault.
  void look_again();
  /// Asks the daemons to end, which write their reports before. Idempotent.
  void end_daemons();
  /// Ends the daemons and removes the fabric. Idempotent.
  void tear_down();

 private:
  void start_daemons();
  /// `resume_file`: what a predecessor left; empty for the first of its place.
  std::unique_ptr<netio::ChildProcess> start_daemon(uint32_t process, uint32_t incarnation,
                                                    const std::filesystem::path& resume_file);
  void wait_until_ready();
  void wait_until_ready(uint32_t process, std::chrono::steady_clock::time_point deadline);
  void cut_power();
  void replace_process(uint32_t process);
  FabricTime combined_limit() const;
  void publish_limit();
  bool keep_before(FabricTime instant);  ///< KernelMirror::KeepBefore
  std::filesystem::path fabric_file() const;
  std::filesystem::path schedule_file() const;
  void step_pace();
  void watch_children();
  void watch_heartbeats();
  void watch_links();
  void watch_ovs();
  void mirror_link(LinkId link, bool up);
  void note_outside(std::string what);
  FabricTime clock() const;  ///< what the clock says, within what may be committed
  void watch_foreign_switches();
  void forget_notes();
  /// What a process printed last, with a colon before it; empty if nothing.
  std::string last_words(uint32_t process) const;

  const Topology& topology_;
  LiveLabOptions options_;
  ProcessPlan plan_;
  std::unique_ptr<LiveFabric> fabric_;
  netio::SharedPage page_;
  netio::GatePage& gate_;
  FabricTime lookahead_;
  Pace pace_;
  PaceCurve curve_;
  KernelMirror mirror_;
  std::unique_ptr<OvsSwitches> ovs_;          ///< where there are some; goes before the fabric
  std::unique_ptr<ForeignSwitches> foreign_;  ///< where there are some; goes before those
  std::unique_ptr<LinkGuard> links_;          ///< likewise
  PowerCycle power_;
  std::vector<PowerNote> power_notes_;
  std::vector<std::unique_ptr<netio::ChildProcess>> children_;
  OutsideFaults outside_faults_;
  FabricTime limit_ = FabricTime::never();
  FabricTime kept_before_ = FabricTime::never();  ///< by keep_before(), for the mirror's step
  std::function<FabricTime()> brake_;
  FabricTime brake_limit_ = FabricTime::never();
  std::vector<uint32_t> incarnation_;  ///< by process
  bool started_ = false;
  OrdinaryRoutes ordinary_routes_;
  bool stands_still_ = false;  ///< a Standstill lives
  friend class Standstill;
};

}  // namespace mrclab::lab
