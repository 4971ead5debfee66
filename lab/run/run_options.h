#pragma once
// What one execution of a scenario is asked for, and what it gave: the worlds (live_run.h, sim_run.h) fill it in,
// scenario_run.h runs them.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "analysis/history/evidence.h"
#include "analysis/report/regression.h"
#include "analysis/verdict/verdict.h"
#include "console/interrupt.h"
#include "fabric/history/history_record.h"
#include "fabric/node/node.h"
#include "lab/run/progress_view.h"
#include "live/world/process_plan.h"
#include "netio/record/pcapng.h"
#include "netio/runtime/veth_tap.h"
#include "recorded/folder/run_folder.h"
#include "sim/rank_link.h"

namespace mrclab::lab {

enum class World : uint8_t { kLive, kSim };
inline std::string_view name_of(World world) { return world == World::kLive ? "live" : "sim"; }

class Simulation;

/// Who looks on at a simulated run of one thread, beside what the run keeps. The files are the same with it.
struct RunWatch {
  std::function<NodeObserver&(NodeId)> observer;  ///< sees what the node does; outlives the run
  /// Called when the simulation has ended.
  std::function<void(const Simulation&)> at_end;
  /// Called when its packets are joined.
  std::function<void(const analysis::Evidence&)> look;
};

struct RunOptions {
  World world = World::kLive;
  std::filesystem::path runs_root = default_runs();
  std::optional<std::string> lab_name;  ///< default: made from the scenario's name and the pid
  bool isolate = false;
  bool realtime = false;
  uint32_t threads = 0;       ///< threads of the simulator; 0: by the size of the fabric
  RankLink* ranks = nullptr;  ///< that simulate it together; this one is rank 0 (rank_run.h)
  uint32_t host_processes = 2;
  uint32_t switch_processes = switch_processes_here();
  /// What each capture file may take. What comes later is not judged in the live world; in the
  /// simulated one the judge looks on itself.
  uint64_t capture_bytes = netio::kCaptureBytesDefault;
  /// What the packet records may take, for `mrclab diff`; 0: none, the digest alone.
  uint64_t history_bytes = kHistoryBytesDefault;
  std::filesystem::path programs;  ///< where the daemons lie; empty: beside this program
  ProgressView* view = nullptr;    ///< of a live run
  /// The verdict also records whether a metric is worse than this one's by more than the tolerances.
  std::optional<analysis::BaselineCheck> against;
  bool state_cost = false;  ///< simulate the run without its faults as well, for what they cost
  const RunWatch* watch = nullptr;  ///< of a simulated run
  bool progress = false;            ///< lines on stderr about what takes long, and has no view
  IsInterrupted interrupted;        ///< asked every few milliseconds
  /// Returns how long ago the interrupt came, and clears it (InterruptGuard::take); empty: just now.
  std::function<std::chrono::milliseconds()> take_interrupt;
  /// Called with each step of a live run (--verbose); the daemons then log more.
  std::function<void(const std::string& what)> tell;
  /// Called when every daemon is ready, before time starts, with each process's name and pid.
  std::function<void(const std::string& process, int pid)> on_process;
};

struct RunResult {
  RunFolder folder;
  analysis::Verdict verdict;
  double bring_up_seconds = 0;  ///< wall clock; live only
  double run_seconds = 0;       ///< live and simulated
  double tear_down_seconds = 0;
  double analyze_seconds = 0;
  double seconds = 0;                    ///< from beginning to end
  std::optional<netio::TapReport> taps;  ///< live, where the scenario has some
  /// With RunOptions::against, unless the run was interrupted.
  std::optional<analysis::BaselineComparison> comparison;
  std::string interrupted;             ///< where the user ended it, if so; judged that far
  std::shared_ptr<const void> memory;  ///< as in Interrupted
};

}  // namespace mrclab::lab
