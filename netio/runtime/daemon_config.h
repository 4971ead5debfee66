#pragma once
// A daemon's configuration, one JSON file. Written by lab/, read by the daemons' mains.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "fabric/base/units.h"
#include "fabric/topology/topology.h"
#include "netio/record/pcapng.h"

namespace mrclab::netio {

enum class CaptureMode : uint8_t { kNone, kHosts, kAll };

struct DaemonConfig {
  std::string lab;           ///< lab name; namespaces are mrclab-<lab>-<node>
  uint32_t lab_id = 0;       ///< stands in every trailer
  std::string process_name;  ///< "plane-3", "hosts-0"
  uint32_t process = 0;      ///< index in the gate
  uint32_t incarnation = 1;
  std::vector<uint32_t> process_of_node;
  std::filesystem::path fabric_file;  ///< resolved fabric
  uint64_t seed = 1;
  FabricTime end = FabricTime::never();  ///< stops committing here
  /// From here on applications start no new work, and no history is kept; a lab that stays runs on
  /// past it.
  FabricTime work_end = FabricTime::never();
  std::filesystem::path resume_file;    ///< what the predecessor left; empty: this process has none
  std::filesystem::path schedule_file;  ///< effects of the whole lab; netio/runtime/schedule_file.h
  CaptureMode capture = CaptureMode::kHosts;
  uint64_t capture_bytes = kCaptureBytesDefault;  ///< bound on the capture of this process
  uint64_t history_bytes = 0;  ///< bound on the packet records of all processes together; 0: none
  bool followed = false;       ///< records and events are read while they are written
  std::filesystem::path run_dir;  ///< captures, events and logs go here; empty: none are written
  std::filesystem::path control_socket;
  std::filesystem::path output_file;  ///< what a copy prints (daemon_start.h) is appended here
  int page_fd = -1;                   ///< inherited descriptor of the gate page
  int wires_fd = -1;                  ///< likewise, of the page of FrameChannels; -1: there is none
  bool realtime = false;              ///< ask for SCHED_FIFO
  bool verbose = false;       ///< the log also has what is of use only when something is looked for
  int64_t tick_ns = 250'000;  ///< lab time between ticks; a lab that idles ticks slower
  bool payload_elided = false;  ///< hosts send headers alone
  /// Programs reach the verbs of host h by <this folder>/h/run/mrclab-verbs; empty: there are no such sockets.
  std::filesystem::path nodes_folder;
  std::string workload;       ///< YAML list as in a scenario; endpoints only
  std::string held_programs;  ///< of its hosts, as verbs/server/held/held_reports.h writes them
  std::string transport;      ///< YAML map as in a scenario; endpoints only
};

/// Throws SystemError (cannot write).
void write_daemon_config(const DaemonConfig& config, const std::filesystem::path& file);
/// Throws std::runtime_error with what is wrong with the file.
DaemonConfig read_daemon_config(const std::filesystem::path& file);

}  // namespace mrclab::netio
