#pragma once
// The files that a daemon writes into the folder of its run: capture, events, packet records, its
// report. The daemon opens them at its start, gives each node a recorder that writes into them, and
// closes them once, with a seal: the nodes that they cover, from when to when.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "fabric/history/evidence_seal.h"
#include "netio/record/process_report.h"
#include "netio/record/run_recorder.h"
#include "netio/runtime/daemon_config.h"
#include "netio/runtime/gate.h"

namespace mrclab::netio {

class DaemonOutputs {
 public:
  /// Opens the files that the configuration asks for: none without a folder. `record_bytes` is what a
  /// predecessor has left of the bound on packet records; empty for the first of its place. Both
  /// references outlive this. Throws SystemError.
  DaemonOutputs(const DaemonConfig& config, const Topology& topology,
                std::optional<uint64_t> record_bytes);

  /// A recorder for a node of this process. The outputs outlive it.
  std::unique_ptr<RunRecorder> make_recorder(const NodeSite& site);
  /// Writes what was recorded to the files, and then stores in `slot` the instant up to which they are whole: `committed`, or
  /// the last one before the first record that found no room. Throws SystemError (disk full).
  void publish_records(FabricTime committed, ProcessSlot& slot);
  /// Hands the events so far to the kernel, every kHandOnEvery of the machine's clock, so that `jq` can follow them.
  void hand_on_events();
  static constexpr std::chrono::milliseconds kHandOnEvery{100};
  /// Nothing is recorded after this. Throws SystemError (disk full).
  void close(const EvidenceSeal& offered);
  /// Writes the report, sealed, if there is a folder for it. Throws SystemError.
  void write_report(const ProcessReport& report) const;

  /// What packet records may still take: the lives of a process share its bound.
  uint64_t record_bytes_left() const;
  /// Adds to the report how much was written, and how much found no room.
  void count_in(ProcessReport& report) const;

 private:
  /// A successor writes files of its own, which come after its predecessor's in the order of names.
  std::string file_name(const char* extension) const;

  std::chrono::steady_clock::time_point handed_on_;
  FabricTime published_ = kBeforeTime;  ///< ProcessSlot::recorded_ps
  const DaemonConfig& config_;
  const Topology& topology_;
  uint64_t record_bytes_;  ///< granted at the start
  std::unique_ptr<PcapngWriter> capture_;
  std::unique_ptr<EventLog> events_;
  std::unique_ptr<HistoryWriter> records_;
};

}  // namespace mrclab::netio
