#include "netio/runtime/daemon_outputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/history/report_json.h"
#include "netio/system/file_descriptor.h"

namespace mrclab::netio {

DaemonOutputs::DaemonOutputs(const DaemonConfig& config, const Topology& topology,
                             std::optional<uint64_t> record_bytes)
    : config_(config),
      topology_(topology),
      record_bytes_(record_bytes ? *record_bytes
                                 : history_share(topology, config.process_of_node, config.process,
                                                 config.history_bytes)) {
  const std::filesystem::path& folder = config.run_dir;
  if (folder.empty()) return;
  events_ = std::make_unique<EventLog>(folder / "events" / file_name(".jsonl"));
  if (config.history_bytes > 0) {
    records_ = std::make_unique<HistoryWriter>(folder / "history" / file_name(".bin"),
                                               stream_count(topology), record_bytes_);
  }
  if (config.capture == CaptureMode::kNone) return;
  PcapngOptions options;
  options.snap_length = kCaptureSnapLength;
  options.max_file_bytes = config.capture_bytes;
  options.comment = "lab " + config.lab + ", fabric time since its start";
  capture_ = std::make_unique<PcapngWriter>(folder / "captures" / file_name(".pcapng"), options);
}

std::string DaemonOutputs::file_name(const char* extension) const {
  if (config_.incarnation == 1) return config_.process_name + extension;
  return fmt::format("{}.start{:04}{}", config_.process_name, config_.incarnation, extension);
}

std::unique_ptr<RunRecorder> DaemonOutputs::make_recorder(const NodeSite& site) {
  const bool capture_passed = config_.capture == CaptureMode::kAll || site.role == NodeRole::kHost;
  return std::make_unique<RunRecorder>(topology_, site.id, std::min(config_.end, config_.work_end),
                                       capture_.get(), capture_passed, events_.get(),
                                       records_.get());
}

void DaemonOutputs::publish_records(FabricTime committed, ProcessSlot& slot) {
  if (events_) events_->flush();
  if (records_) records_->flush();
  FabricTime cut = records_ ? records_->complete() : FabricTime::never();
  if (cut != FabricTime::never()) {
    // A node writes a packet's arrival when it takes it in, one latency after it, by which time a later instant may be
    // published. Readers do without that last latency (Recording::complete), so that instant stands.
    cut = std::max(cut, published_ + FabricTime::from_ps(1));
    committed = std::min(committed, cut - FabricTime::from_ps(1));
  }
  published_ = committed;
  slot.records_cut_ps.store(cut.ps(), std::memory_order_relaxed);
  slot.recorded_ps.store(published_.ps(), std::memory_order_release);
}

void DaemonOutputs::hand_on_events() {
  const auto now = std::chrono::steady_clock::now();
  if (!events_ || now - handed_on_ < kHandOnEvery) return;
  handed_on_ = now;
  events_->hand_on();
}

void DaemonOutputs::close(const EvidenceSeal& offered) {
  if (capture_) capture_->close(offered);
  if (events_) events_->close(offered);
  if (records_) records_->close(offered);
}

void DaemonOutputs::write_report(const ProcessReport& report) const {
  if (config_.run_dir.empty()) return;
  write_file(config_.run_dir / "reports" / (config_.process_name + ".json"),
             sealed_report(report_to_json(report)));
}

uint64_t DaemonOutputs::record_bytes_left() const {
  return records_ ? records_->bytes_left() : record_bytes_;
}

void DaemonOutputs::count_in(ProcessReport& report) const {
  report.capture_records = capture_ ? capture_->written() : 0;
  report.capture_skipped = capture_ ? capture_->skipped() : 0;
  report.events_dropped = events_ ? events_->dropped() : 0;
}

}  // namespace mrclab::netio
