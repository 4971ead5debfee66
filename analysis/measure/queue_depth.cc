#include "analysis/measure/queue_depth.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/history/history_file.h"
#include "fabric/text/yaml.h"

namespace mrclab::analysis {
namespace {

constexpr uint8_t kEcnBits = 3, kCongested = 3;  // RFC 3168, section 5

/// A data frame at a port of a switch.
struct Passage {
  uint32_t node = 0, queue = 0;  // 2 x port, and 1 for RoCE's
  uint64_t name = 0;             // what a frame keeps on its way through a switch
  FabricTime t;
  uint32_t wire_bytes = 0;
  bool out = false;
  bool marked = false;
};

/// Bytes that come into a queue, or leave it.
struct Change {
  FabricTime t;
  uint32_t node = 0, queue = 0;
  int64_t bytes = 0;
};

uint64_t name_of_record(const CompactRecord& r) {
  // 24 bits of PSN, 24 of QPN and 16 of the EV that differ within a fabric: plane and uplink; of a
  // hashed one the low half has both.
  const bool hashed = r.ev.value >> 31 != 0;
  const uint64_t path =
      hashed ? r.ev.value & 0xFFFF : ((r.ev.value >> 16) & 0xFF) << 8 | (r.ev.value & 0xFF);
  return uint64_t{r.psn.value()} << 40 | uint64_t{r.qpn.value & 0xFF'FFFF} << 16 | path;
}

/// Stream numbers of a fabric: in, then out, of every port.
std::vector<PortRef> ports_by_stream(const Topology& topology) {
  std::vector<PortRef> ports;
  for (const NodeSite& site : topology.nodes) {
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      ports.insert(ports.end(), 2, {site.id, PortId{i}});
    }
  }
  return ports;
}

class Depths {
 public:
  Depths(const Topology& topology, FabricTime bin, FabricTime end, const SeeDepth& see)
      : topology_(topology), bin_(bin), end_(end), see_(see), ports_(ports_by_stream(topology)) {
    const auto bins = static_cast<size_t>(std::max<int64_t>(end / bin, 1));
    result_.deepest.assign(topology.planes, std::vector<uint64_t>(bins, 0));
    result_.deepest_port.assign(topology.planes, {});
    record_.assign(topology.planes, 0);
  }

  /// False, with the reason in `unknown`, if the file is not complete.
  bool add(const std::filesystem::path& path) {
    HistoryReader reader = HistoryReader::open(path);
    if (reader.header().streams != ports_.size() || reader.header().complete < end_) {
      result_.unknown = "the packet records are not complete (" + path.filename().string() + ")";
      return false;
    }
    std::vector<Passage> passages;
    while (const auto record = reader.next()) {
      keep(*record, passages);
      if (passages.size() > kMaxQueueRecords) {
        result_.unknown = "there are over " + std::to_string(kMaxQueueRecords) + " packet records";
        return false;
      }
    }
    follow(changes_of(passages));
    return true;
  }

  QueueDepths take() {
    for (const auto& [most, place] : deep_) {
      QueueDepths::PortBins& port = result_.ports.emplace_back(std::move(place_bins_.at(place)));
      port.trimmed = by_bin(trimmed_[place]);
      port.marked = by_bin(marked_[place]);
    }
    return std::move(result_);
  }

 private:
  using Place = std::pair<uint32_t, uint32_t>;  // node and queue, as in Passage
  using FramesInBins = std::map<uint32_t, uint32_t>;

  std::vector<uint32_t> by_bin(const FramesInBins& frames) const {
    std::vector<uint32_t> bins(result_.deepest.empty() ? 0 : result_.deepest[0].size(), 0);
    for (const auto& [bin, count] : frames) {
      if (bin < bins.size()) bins[bin] += count;
    }
    return bins;
  }
  uint32_t bin_of(FabricTime t) const { return static_cast<uint32_t>(t / bin_); }

  void keep(const CompactRecord& record, std::vector<Passage>& out) {
    const PortRef where = ports_[record.stream];
    const bool egress = record.stream % 2 == 1;
    const bool host = topology_.node(where.node).role == NodeRole::kHost;
    const bool roce = record.queue == QueueClass::kLossless;
    if (!host && record.event == PacketEvent::kTrimmed) {
      ++trimmed_[{where.node.value, where.port.value * 2}][bin_of(record.t)];
    }
    const bool queued = !egress || roce || record.queue == QueueClass::kData;
    if (host || !queued || record.event == PacketEvent::kDropped || record.opcode == 0) return;
    out.push_back({where.node.value, where.port.value * 2 + roce, name_of_record(record), record.t,
                   record.wire_length, egress, (record.traffic_class & kEcnBits) == kCongested});
  }

  /// In and out of one frame stand side by side once they are sorted by switch, name and time.
  std::vector<Change> changes_of(std::vector<Passage>& passages) {
    std::sort(passages.begin(), passages.end(), [](const Passage& a, const Passage& b) {
      return std::tie(a.node, a.name, a.t, a.out) < std::tie(b.node, b.name, b.t, b.out);
    });
    std::vector<Change> changes;
    for (size_t i = 1; i < passages.size(); ++i) {
      const Passage &in = passages[i - 1], &out = passages[i];
      if (in.out || !out.out || in.node != out.node || in.name != out.name) continue;
      const Ports ports = topology_.node(NodeId{in.node}).ports;
      const FabricTime inside =
          topology_.pipeline_time(topology_.wire(ports[in.queue / 2].in),
                                  topology_.wire(ports[out.queue / 2].out), Bytes{in.wire_bytes});
      if (out.marked && !in.marked) ++marked_[{out.node, out.queue}][bin_of(out.t)];
      const FabricTime queued = std::min(in.t + inside, out.t);
      changes.push_back({queued, out.node, out.queue, out.wire_bytes});
      changes.push_back({out.t, out.node, out.queue, -int64_t{out.wire_bytes}});
    }
    std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
      return std::tie(a.node, a.queue, a.t, a.bytes) < std::tie(b.node, b.queue, b.t, b.bytes);
    });
    return changes;
  }

  void follow(const std::vector<Change>& changes) {
    int64_t depth = 0;
    for (size_t i = 0; i < changes.size(); ++i) {
      const Change& change = changes[i];
      const bool same =
          i > 0 && changes[i - 1].node == change.node && changes[i - 1].queue == change.queue;
      if (!same) depth = 0;
      depth += change.bytes;
      const bool last = i + 1 == changes.size() || changes[i + 1].node != change.node ||
                        changes[i + 1].queue != change.queue;
      note(change, last ? change.t : changes[i + 1].t, depth);
      if (last) rank({change.node, change.queue});
    }
  }

  /// The queue that was just followed takes its place among the deepest.
  void rank(const Place& place) {
    if (now_.most > 0 && (deep_.size() < kDeepPorts || now_.most > deep_.rbegin()->first)) {
      const PortRef port{NodeId{place.first}, PortId{place.second / 2}};
      now_.port = topology_.port_name(port);
      now_.roce = place.second % 2 == 1;
      deep_.emplace(now_.most, place);
      place_bins_[place] = std::move(now_);
      if (deep_.size() > kDeepPorts) {
        place_bins_.erase(std::prev(deep_.end())->second);
        deep_.erase(std::prev(deep_.end()));
      }
    }
    now_ = {};
  }

  void note(const Change& from, FabricTime until, int64_t depth) {
    if (depth <= 0) return;
    const PortRef where{NodeId{from.node}, PortId{from.queue / 2}};
    const uint32_t plane = topology_.port(where).plane;
    const auto bytes = static_cast<uint64_t>(depth);
    std::vector<uint64_t>& bins = result_.deepest[plane];
    const auto first = static_cast<size_t>(from.t / bin_);
    now_.deepest.resize(bins.size(), 0);
    now_.most = std::max(now_.most, bytes);
    for (size_t b = first; b < bins.size() && bin_ * static_cast<int64_t>(b) <= until; ++b) {
      bins[b] = std::max(bins[b], bytes);
      now_.deepest[b] = std::max(now_.deepest[b], bytes);
    }
    if (see_) see_(where, from.queue % 2 == 1, from.t, until, bytes);
    if (bytes <= record_[plane]) return;
    record_[plane] = bytes;
    result_.deepest_port[plane] = topology_.port_name(where);
    if (result_.deepest_of_all && bytes <= result_.deepest_of_all->size.value) return;
    result_.deepest_of_all = DeepestQueue{{bytes}, topology_.port_name(where)};
  }

  const Topology& topology_;
  FabricTime bin_, end_;
  const SeeDepth& see_;
  std::vector<PortRef> ports_;
  std::vector<uint64_t> record_;
  QueueDepths::PortBins now_;                            ///< of the queue that is being followed
  std::multimap<uint64_t, Place, std::greater<>> deep_;  ///< the deepest, by how deep
  std::map<Place, QueueDepths::PortBins> place_bins_;
  std::map<Place, FramesInBins> trimmed_, marked_;
  QueueDepths result_;
};

}  // namespace

QueueDepths queue_depths(const Topology& topology, std::span<const std::filesystem::path> records,
                         FabricTime bin, FabricTime end, const SeeDepth& see) {
  QueueDepths none;
  none.unknown = "the run kept no packet records";
  if (records.empty() || bin <= FabricTime::zero()) return none;
  Depths depths(topology, bin, end, see);
  try {
    for (const std::filesystem::path& path : records) {
      if (!depths.add(path)) break;
    }
  } catch (const InputError& error) {
    none.unknown = error.what();
    return none;
  }
  QueueDepths result = depths.take();
  if (!result.unknown.empty()) {
    result.deepest.clear();
    result.ports.clear();
    result.deepest_of_all.reset();
  }
  return result;
}

}  // namespace mrclab::analysis
