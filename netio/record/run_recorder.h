#pragma once
// Records what one node does: its history as digest and as records, its packets as pcapng, its
// events. Never influences the node.

#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fabric/history/evidence_seal.h"
#include "fabric/history/history.h"
#include "fabric/history/record_watch.h"
#include "fabric/node/node.h"
#include "netio/record/history_writer.h"
#include "netio/record/pcapng.h"

namespace mrclab::netio {

/// Bytes kept of each captured frame: all headers of a write with immediate are 146.
inline constexpr uint32_t kCaptureSnapLength = 160;

/// events.jsonl of one process: one line per event, bounded. Only close() seals it: a log that
/// broke off has no seal. Throws SystemError when a line finds no room on the disk.
class EventLog {
 public:
  static constexpr uint64_t kMaxEvents = 1'000'000;
  /// Windows have a bound of their own, so that they never take the place of an event.
  static constexpr uint64_t kMaxWindows = 250'000;
  explicit EventLog(const std::filesystem::path& file, uint64_t windows_max = kMaxWindows);
  void write(const Topology& topology, NodeId node, const EventRecord& record);
  void write(const Topology& topology, NodeId node, const WindowRecord& record);
  /// Hands the lines so far to the kernel, for those who read along; that they could not be written is found at the end.
  void hand_on() { out_.flush(); }
  /// Every line so far can be read in the file. Throws SystemError.
  void flush();
  /// Writes how many windows found no room, if any did not, and the seal. `offered` has the nodes and the time of the
  /// offered events; it is shortened to the first event that found no room.
  void close(EvidenceSeal offered);
  uint64_t dropped() const { return dropped_; }

 private:
  void write_line(const std::string& line);
  void require_written() const;

  std::string path_;
  std::ofstream out_;
  uint64_t written_ = 0;
  uint64_t dropped_ = 0;
  uint64_t windows_max_;
  uint64_t windows_ = 0;
  uint64_t windows_left_out_ = 0;
  FabricTime windows_until_;  // earliest instant of a window that is left out
  FabricTime last_;
  FabricTime complete_ = FabricTime::never();  // the earliest instant of an event that is left out
  uint32_t checksum_ = 0;
};

class RunRecorder : public NodeObserver {
 public:
  using Wanted = std::function<bool(const Frame&)>;
  /// `capture`, `events` and `records` may be null. `capture_passed`: also record frames that pass;
  /// drops are always recorded when there is a capture. `wanted`: capture and records have only the frames that it is true
  /// for, and the capture only interfaces of ports that had one, where a fabric has more of both than files have room for;
  /// null: all. The digest has all.
  RunRecorder(const Topology& topology, NodeId node, FabricTime end, PcapngWriter* capture,
              bool capture_passed, EventLog* events, HistoryWriter* records = nullptr,
              Wanted wanted = {});
  void packet(const PacketRecord& record) override;
  void event(const EventRecord& record) override;
  void window(const WindowRecord& record) override;
  void fetch() const override { history_.fetch(); }
  const HistoryDigest& history() const { return history_; }
  HistoryDigest& history() { return history_; }
  /// Records nothing while muted: a successor brings its node to the state of its predecessor,
  /// whose records exist already.
  void set_muted(bool muted) { muted_ = muted; }
  /// The latest instant of all that was recorded.
  FabricTime last() const { return last_; }
  /// Nothing later than `end` is recorded from now on; not before last().
  void set_end(FabricTime end) { end_ = end; }
  /// Adds the node's interface of drops to the capture, where it has none yet.
  uint32_t add_drop_interface();
  /// Passes every record to `watch` from now on; null: no watch. It must outlive this recorder, or be
  /// taken away.
  void set_watch(RecordWatch* watch) { watch_ = watch; }

 private:
  void capture(const PacketRecord& record);
  uint32_t add_interface(PortId port);

  const Topology& topology_;
  NodeId node_;
  FabricTime end_;
  FabricTime last_;
  PcapngWriter* capture_;
  bool capture_passed_;
  EventLog* events_;
  RecordWatch* watch_ = nullptr;
  bool muted_ = false;
  HistoryWriter* records_;
  Wanted wanted_;
  uint32_t first_stream_;
  HistoryDigest history_;
  static constexpr uint32_t kNoInterface = UINT32_MAX;  ///< not yet
  std::vector<uint32_t> interface_of_port_;
  uint32_t drop_interface_ = kNoInterface;
};

}  // namespace mrclab::netio
