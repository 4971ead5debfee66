#include "recorded/counters/recorded_counters.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "analysis/history/history_file.h"
#include "analysis/history/packet_joiner.h"
#include "analysis/history/sighting_reader.h"
#include "analysis/judge/analyze.h"
#include "analysis/measure/pause_times.h"
#include "analysis/measure/queue_depth.h"
#include "fabric/history/event_text.h"
#include "fabric/node/event_kind.h"
#include "fabric/text/input_error.h"
#include "fabric/text/line_file.h"
#include "recorded/folder/run_manifest.h"

namespace mrclab::lab {
namespace {

using telemetry::CounterRow;
using telemetry::Counts;

constexpr uint8_t kEcnBits = 3, kCongested = 3;  // RFC 3168, section 5

/// Counts records at the ports that they are about.
class PortCounts {
 public:
  PortCounts(const Topology& topology, telemetry::CounterSeries& series)
      : topology_(topology), series_(series) {
    for (const NodeSite& site : topology.nodes) {
      for (uint32_t i = 0; i < site.ports.size(); ++i) {
        ports_.insert(ports_.end(), 2, {site.id, PortId{i}});
      }
    }
    for (size_t i = 0; i < kDropCauses; ++i) {
      const std::string word = "drop." + std::string(name_of(static_cast<DropCause>(i)));
      drops_[i] = telemetry::find_counter(Counts::kPort, word);
    }
  }

  bool saw_pauses() const { return saw_pauses_; }

  void add(const CompactRecord& record) {
    saw_pauses_ = saw_pauses_ || record.queue == QueueClass::kPause;
    const bool egress = record.stream % 2 == 1;
    const bool dropped = record.event == PacketEvent::kDropped;
    if (record.queue == QueueClass::kPause && !dropped) return;
    if (topology_.node(ports_[record.stream].node).role == NodeRole::kHost) {
      if (!dropped) of_host(record, egress);
      return;
    }
    if (dropped) {
      count(record, drops_[static_cast<size_t>(record.cause)], 1);
      if (!egress && lost_on_wire(record.cause)) count(record, arrivals_lost_, 1);
      return;
    }
    count(record, egress ? sent_ : received_, 1);
    count(record, egress ? sent_bytes_ : received_bytes_, record.wire_length);
    if (record.event == PacketEvent::kTrimmed) count(record, trimmed_, 1);
    mark(record, egress);
  }

 private:
  void of_host(const CompactRecord& record, bool egress) {
    count(record, egress ? host_sent_ : host_received_, 1);
    const bool marked = (record.traffic_class & kEcnBits) == kCongested;
    if (!egress && marked) count_at_host(record, marks_seen_);
    if (egress && record.again) count_at_host(record, retransmitted_);
  }
  /// What a host counts as a whole stands at its first port.
  void count_at_host(const CompactRecord& record, const CounterRow* row) {
    series_.add({ports_[record.stream].node, PortId{0}}, *row, record.t, 1);
  }

  static const CounterRow* at_port(std::string_view word) {
    return telemetry::find_counter(Counts::kPort, word);
  }

  void count(const CompactRecord& record, const CounterRow* row, uint64_t by) {
    if (row != nullptr) series_.add(ports_[record.stream], *row, record.t, by);
  }

  /// A frame leaves with a mark that it did not bring.
  void mark(const CompactRecord& record, bool egress) {
    if ((record.traffic_class & kEcnBits) != kCongested) return;
    const FrameName name(ports_[record.stream].node.value, record.psn.value(), record.qpn.value,
                         record.ev.value, record.peers, record.opcode);
    if (!egress) {
      ++brought_[name];
      return;
    }
    const auto at = brought_.find(name);
    if (at == brought_.end()) return count(record, marked_, 1);
    if (--at->second == 0) brought_.erase(at);
  }

  using FrameName = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint8_t>;

  const Topology& topology_;
  telemetry::CounterSeries& series_;
  std::vector<PortRef> ports_;  ///< by stream
  std::array<const CounterRow*, kDropCauses> drops_{};
  const CounterRow* received_ = at_port("rx");
  const CounterRow* received_bytes_ = at_port("rx_bytes");
  const CounterRow* sent_ = at_port("tx");
  const CounterRow* sent_bytes_ = at_port("tx_bytes");
  const CounterRow* arrivals_lost_ = at_port("arrivals_lost");
  const CounterRow* trimmed_ = at_port("trimmed");
  const CounterRow* marked_ = at_port("ecn_marked");
  const CounterRow* host_sent_ = telemetry::find_counter(Counts::kHostPort, "tx_packets");
  const CounterRow* host_received_ = telemetry::find_counter(Counts::kHostPort, "rx_packets");
  const CounterRow* marks_seen_ = telemetry::find_counter(Counts::kHost, "ce_marks_seen");
  const CounterRow* retransmitted_ = telemetry::find_counter(Counts::kHost, "retransmissions");
  bool saw_pauses_ = false;
  /// Marked frames that came into a switch and have not left it; at most as many as a run has records.
  std::map<FrameName, uint32_t> brought_;
};

const CounterRow& port_row(std::string_view word) {
  return *telemetry::find_counter(Counts::kPort, word);
}

/// Up to the last record: for what follows it the table of steps may be too long.
void add_depths(const RecordedRun& run, FabricTime step, FabricTime last,
                telemetry::CounterSeries& series) {
  const CounterRow *now = &port_row("data_depth_bytes"), *most = &port_row("data_depth_max_bytes");
  const CounterRow *roce_now = &port_row("lossless_depth_bytes"),
                   *roce_most = &port_row("lossless_depth_max_bytes");
  const auto see = [&](PortRef port, bool roce, FabricTime from, FabricTime until, uint64_t bytes) {
    series.hold(port, roce ? *roce_now : *now, roce ? *roce_most : *most, from, until, bytes);
  };
  const analysis::QueueDepths depths = analysis::queue_depths(
      run.scenario.topology, analysis::records_in(run.folder / "history"), step, last, see);
  if (!depths.unknown.empty()) throw InputError(run.folder.string() + ": " + depths.unknown);
}

/// A frame that stops, or lets go on, counts at both ends of its link.
void add_pauses(const RecordedRun& run, telemetry::CounterSeries& series) {
  RunManifest(run.folder).require({"captures"});
  const Topology& topology = run.scenario.topology;
  analysis::SightingReader frames(topology);
  for (const auto& capture : analysis::captures_in(run.folder / "captures")) {
    try {
      frames.add_file(capture);
    } catch (const analysis::CaptureError& error) {
      throw InputError(error.what());
    }
  }
  const analysis::PacketHistory packets = analysis::join_sightings(topology, frames.take());
  for (const analysis::PauseSeen& pause : packets.pauses()) {
    const bool stops = pause.quanta > 0;
    if (topology.node(pause.port.node).role != NodeRole::kHost) {
      series.add(pause.port, port_row(stops ? "xoff_received" : "xon_received"), pause.t, 1);
    }
    const PortRef peer = topology.port(pause.port).peer;
    if (topology.node(peer.node).role == NodeRole::kHost) continue;
    series.add(peer, port_row(stops ? "xoff_sent" : "xon_sent"), pause.t, 1);
  }
  const Scenario scenario = recorded_scenario(run.folder);
  const analysis::PauseTimes times(topology, packets.pauses(), scenario.schedule, scenario.stop());
  for (const analysis::PausedSpan& span : times.spans()) {
    if (topology.node(span.port.node).role == NodeRole::kHost) continue;
    series.spread(span.port, port_row("paused_ps"), span.from, span.until);
  }
}

/// What hosts themselves report.
void add_events(const RecordedRun& run, telemetry::CounterSeries& series) {
  RunManifest(run.folder).require({"events.jsonl"});
  const CounterRow& losses = *telemetry::find_counter(Counts::kHost, "losses_detected");
  LineFile lines(run.folder / "events.jsonl");
  std::string line;
  while (lines.next(line)) {
    if (line.find(event_kind::kLossDetected) == std::string::npos) continue;
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_discarded()) continue;
    try {
      const std::optional<ParsedEvent> event = parse_event(run.scenario.topology, json);
      if (!event || !event->node || event->kind != event_kind::kLossDetected) continue;
      series.add({*event->node, PortId{0}}, losses, event->t, 1);
    } catch (const nlohmann::json::exception&) {  // no event of ours, which the judge counts
    }
  }
}

}  // namespace

telemetry::CounterSeries recorded_counters(const RecordedRun& run, FabricTime step) {
  telemetry::CounterSeries series(run.scenario.topology, step);
  PortCounts counts(run.scenario.topology, series);
  FabricTime last;
  const FabricTime complete = visit_records(run, [&](const CompactRecord& record) {
    last = std::max(last, record.t);
    counts.add(record);
  });
  if (complete <= last) {
    throw InputError(run.folder.string() +
                     ": its packet records are not whole, so no counters can be had");
  }
  series.reach(last);
  add_depths(run, step, last, series);
  add_events(run, series);
  if (counts.saw_pauses()) add_pauses(run, series);
  return series;
}

}  // namespace mrclab::lab
