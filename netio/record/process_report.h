#pragma once
// The report of a daemon. It writes one to reports/<process>.json at its end,
// sends one over its control socket on request, and hands one to the process
// that takes its place. Reports are values with tables, so that reading one
// with a key that only one side has is an error (fabric/text/report_table.h).

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fabric/base/units.h"
#include "fabric/history/history.h"
#include "fabric/text/report_table.h"

namespace mrclab::netio {

/// A frame that never came, by the sequence numbers of its wire: the kernel has lost it.
struct GapReport {
  std::string wire;
  uint64_t sequence = 0;
};

struct ProcessReport {
  std::string process;
  FabricTime committed;
  uint64_t frames_sent = 0;
  uint64_t frames_received = 0;
  uint64_t late_frames = 0;
  uint64_t foreign_frames = 0;
  uint64_t unknown_frames = 0;
  uint64_t failed_sends = 0;
  std::vector<std::string> failed_send_reasons;  ///< reasons of some of the failed sends
  uint64_t ring_drops = 0;
  uint64_t late_effects = 0;
  uint64_t frame_pool_exhausted = 0;
  uint64_t gap_count = 0;
  std::vector<GapReport> gaps;  ///< some of gap_count
  int64_t min_slack_ns = INT64_MAX;
  uint64_t capture_records = 0;
  uint64_t capture_skipped = 0;
  uint64_t events_dropped = 0;
  std::string history;  ///< history_to_text
  /// The account of each of its nodes, by name: endpoint::HostAccount of a
  /// host, numbers by name of a switch.
  std::map<std::string, nlohmann::json> nodes;
  /// What became of programs on its nodes (verbs/server/held/held_reports.h); empty: there were none.
  std::string programs;

  /// Adds the counts of a predecessor. Its nodes and history are in this report already.
  void add_earlier(const ProcessReport& earlier);
  /// Throws ReportError.
  std::vector<HistoryStream> streams() const;
};

/// What a process leaves for its successor (the method "power_off").
struct Handover {
  FabricTime committed;
  std::map<std::string, std::string> histories;  ///< by node: HistoryDigest::saved
  uint64_t record_bytes = 0;                     ///< bytes that packet records may still take
  ProcessReport report;
};

}  // namespace mrclab::netio

namespace mrclab {

template <>
inline constexpr auto kReportTable<netio::GapReport> = report_table<netio::GapReport>(
    entry("wire", &netio::GapReport::wire), entry("sequence", &netio::GapReport::sequence));

template <>
inline constexpr auto kReportTable<netio::ProcessReport> = report_table<netio::ProcessReport>(
    entry("process", &netio::ProcessReport::process),
    entry("committed_ps", &netio::ProcessReport::committed),
    entry("frames_sent", &netio::ProcessReport::frames_sent),
    entry("frames_received", &netio::ProcessReport::frames_received),
    entry("late_frames", &netio::ProcessReport::late_frames),
    entry("foreign_frames", &netio::ProcessReport::foreign_frames),
    entry("unknown_frames", &netio::ProcessReport::unknown_frames),
    entry("failed_sends", &netio::ProcessReport::failed_sends),
    entry("failed_send_reasons", &netio::ProcessReport::failed_send_reasons),
    entry("ring_drops", &netio::ProcessReport::ring_drops),
    entry("late_effects", &netio::ProcessReport::late_effects),
    entry("frame_pool_exhausted", &netio::ProcessReport::frame_pool_exhausted),
    entry("gap_count", &netio::ProcessReport::gap_count),
    entry("gaps", &netio::ProcessReport::gaps),
    entry("min_slack_ns", &netio::ProcessReport::min_slack_ns),
    entry("capture_records", &netio::ProcessReport::capture_records),
    entry("capture_skipped", &netio::ProcessReport::capture_skipped),
    entry("events_dropped", &netio::ProcessReport::events_dropped),
    entry("history", &netio::ProcessReport::history), entry("nodes", &netio::ProcessReport::nodes),
    entry("programs", &netio::ProcessReport::programs));

template <>
inline constexpr auto kReportTable<netio::Handover> =
    report_table<netio::Handover>(entry("committed_ps", &netio::Handover::committed),
                                  entry("histories", &netio::Handover::histories),
                                  entry("record_bytes", &netio::Handover::record_bytes),
                                  entry("report", &netio::Handover::report));

}  // namespace mrclab
