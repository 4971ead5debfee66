#include "recorded/run/recorded_counters.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "fabric/text/input_error.h"

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

  void add(const CompactRecord& record) {
    const bool egress = record.stream % 2 == 1;
    const bool dropped = record.event == PacketEvent::kDropped;
    if (record.queue == QueueClass::kPause && !dropped) return;
    if (topology_.node(ports_[record.stream].node).role == NodeRole::kHost) {
      if (!dropped) count(record, egress ? host_sent_ : host_received_, 1);
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
  /// Marked frames that came into a switch and have not left it; at most as many as a run has records.
  std::map<FrameName, uint32_t> brought_;
};

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
  return series;
}

}  // namespace mrclab::lab
