#pragma once
// What a live lab is to be.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fabric/node/effect.h"
#include "fabric/topology/fabric_shape.h"
#include "live/world/process_plan.h"
#include "netio/runtime/daemon_config.h"

namespace mrclab::lab {

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
  uint64_t history_bytes = 0;  ///< bound on the packet records of a run; 0: none
  /// Records and events are read while they are written, in DaemonFleet::records_folder(), which goes with the lab.
  bool followed = false;
  std::filesystem::path run_dir;  ///< empty for a lab that stays
  std::string workload;           ///< YAML for the endpoints
  /// Programs at fabric time, as verbs/server/held/held_reports.h writes them; their sockets' folder is `nodes` of the
  /// lab's folder. Then one process has all hosts.
  std::function<std::string(const std::filesystem::path& nodes)> held_programs = {};
  bool payload_elided = false;  ///< they send headers alone
  std::string transport = "{profile: lab}";
  std::optional<double> dilation;   ///< empty: auto
  bool management_network = false;  ///< is made with the fabric; LiveLab can make it later
  bool isolate = false;
  uint32_t host_processes = 2;
  uint32_t switch_processes = switch_processes_here();
  bool realtime = false;
  bool verbose = false;            ///< the daemons log more
  std::filesystem::path programs;  ///< where the daemons lie; empty: beside this program
  int64_t tick_ns = 250'000;       ///< of the daemons; a lab that stays ticks slower
};

}  // namespace mrclab::lab
