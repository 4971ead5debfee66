#include "lab/serve/recording.h"

#include <algorithm>

#include "fabric/byte_order.h"
#include "fabric/header_fields.h"
#include "fabric/history_record.h"
#include "fabric/path.h"

namespace mrclab::lab {
namespace {

/// Far more than the queues of a switch hold; reached only by frames that a switch keeps to itself.
constexpr size_t kMaxInside = 1u << 16;
constexpr size_t kMaxBins = 2048;
/// Where the digest's record holds what is read here (fabric/history.h).
constexpr size_t kInnerSource = 32, kInnerDestination = 48, kBth = 64;

Ipv6Address address_at(const HistoryBytes& bytes, size_t at) {
  Ipv6Address address;
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), address.size(), address.begin());
  return address;
}

uint16_t host_at(const Topology& topology, const HistoryBytes& bytes, size_t at) {
  const auto host = host_of_address(topology, address_at(bytes, at));
  return host && *host < SeenPacket::kNoHost ? static_cast<uint16_t>(*host) : SeenPacket::kNoHost;
}

bool is_marked(uint8_t traffic_class) { return (traffic_class & 3) == kEcnCe; }

void count(uint16_t& counter) {
  if (counter < UINT16_MAX) ++counter;
}

/// Whole microseconds, so that there are at most kMaxBins of them, and at most kMaxCells cells.
FabricTime bin_for(const Topology& topology, FabricTime end) {
  const size_t wires = std::max<size_t>(topology.wires_list.size(), 1);
  const size_t bins = std::clamp<size_t>(Recording::kMaxCells / wires, 1, kMaxBins);
  const FabricTime least = end / static_cast<int64_t>(bins);
  return FabricTime::from_us(least / FabricTime::from_us(1) + 1);
}

}  // namespace

Recording::Recording(const Topology& topology, FabricTime end)
    : topology_(topology), end_(end), bin_(bin_for(topology, end)), bins_(bin_of(end) + 1) {
  wire_sums_.resize(bins_ * topology.wires_list.size());
  plane_sums_.resize(bins_ * topology.planes);
  packets_.resize(bins_);
  for (const NodeSite& site : topology.nodes) watchers_.emplace_back(*this, site.id);
}

std::span<const Recording::WireSums> Recording::wires(size_t bin) const {
  const size_t count = topology_.wires_list.size();
  return std::span(wire_sums_).subspan(bin * count, count);
}

std::span<const Recording::PlaneSums> Recording::planes(size_t bin) const {
  return std::span(plane_sums_).subspan(bin * topology_.planes, topology_.planes);
}

void Recording::add(const SeenPacket& seen) {
  packets_[bin_of(seen.t)].push_back(seen);
  if (++kept_ > kMaxPackets) forget_oldest();
}

void Recording::forget_oldest() {
  while (kept_ > kMaxPackets && first_kept_ + 1 < bins_) {
    kept_ -= packets_[first_kept_].size();
    packets_[first_kept_] = {};  // gives its memory back
    ++first_kept_;
  }
}

void Recording::complete(FabricTime until) {
  const auto by_time = [](const auto& a, const auto& b) { return a.t < b.t; };
  const auto by_record = [](const auto& a, const auto& b) { return a.record.t < b.record.t; };
  std::stable_sort(events_.begin() + static_cast<std::ptrdiff_t>(events_sorted_), events_.end(),
                   by_time);
  events_sorted_ = events_.size();
  std::stable_sort(windows_.begin() + static_cast<std::ptrdiff_t>(windows_sorted_), windows_.end(),
                   by_record);
  windows_sorted_ = windows_.size();
  const size_t whole = until >= end_ ? bins_ : bin_of(std::max(until, FabricTime::zero()));
  for (; sorted_ < whole; ++sorted_) {
    // Records of one wire come in order, so what is equal here keeps an order of its own.
    std::stable_sort(packets_[sorted_].begin(), packets_[sorted_].end(),
                     [](const SeenPacket& a, const SeenPacket& b) {
                       return a.t != b.t ? a.t < b.t : a.wire < b.wire;
                     });
  }
}

std::string Recording::history_sha256() const {
  std::vector<HistoryStream> streams;
  for (const Watcher& watcher : watchers_) {
    const auto more = watcher.digest().streams();
    streams.insert(streams.end(), more.begin(), more.end());
  }
  return mrclab::history_sha256(std::move(streams));
}

Recording::Watcher::Watcher(Recording& recording, NodeId node)
    : recording_(recording),
      site_(recording.topology_.node(node)),
      digest_(recording.topology_, node, recording.end_) {}

void Recording::Watcher::arrived(const PacketRecord& record, const HistoryBytes& bytes) {
  if (record.queue == QueueClass::kPause) return;
  const bool marked = is_marked(bytes[11]);
  if (site_.role != NodeRole::kHost) {
    if (inside_.size() >= kMaxInside) inside_.clear();
    inside_[record.frame.bytes().data()] = {record.t + recording_.topology_.switch_latency, marked};
    return;
  }
  if (record.queue == QueueClass::kTrimmed || !carries_data(static_cast<Opcode>(bytes[kBth])))
    return;
  recording_.sums_of(recording_.bin_of(record.t), site_.ports[record.port.value].plane).received +=
      static_cast<uint32_t>(record.frame.wire_length().value);
}

/// What a switch did to it: how long it waited, and whether the mark is new.
void Recording::Watcher::leaves(const PacketRecord& record, SeenPacket& seen) {
  const auto found = inside_.find(record.frame.bytes().data());
  if (found == inside_.end()) return;
  const Inside inside = found->second;
  inside_.erase(found);
  if (record.event == PacketEvent::kDropped) return;
  const Wire& wire = recording_.topology_.wire(seen.wire);
  const FabricTime start = record.t - serialization_time(record.frame.wire_length(), wire.rate);
  if (start > inside.ready) {
    const FabricTime waited = start - inside.ready;
    seen.waited_ns = static_cast<uint32_t>(std::min<int64_t>(waited.ns(), UINT32_MAX));
    Recording::WireSums& sums = recording_.sums_of(recording_.bin_of(record.t), seen.wire);
    const uint64_t queue = bytes_in(wire.rate, waited).value;
    sums.queue = std::max(sums.queue, static_cast<uint32_t>(std::min<uint64_t>(queue, UINT32_MAX)));
  }
  if (is_marked(seen.traffic_class) && !inside.marked) seen.flags |= SeenPacket::kMarkedHere;
}

void Recording::Watcher::packet(const PacketRecord& record) {
  if (record.t > recording_.end_) return;
  const HistoryBytes bytes = history_record(record);
  digest_.packet(record, bytes);
  const bool dropped = record.event == PacketEvent::kDropped;
  if (record.direction == Direction::kIngress && !dropped) return arrived(record, bytes);

  const auto& port = site_.ports[record.port.value];
  const std::optional<CompactRecord> compact = parse_compact(compact_bytes(bytes, 0), 1);
  if (!compact) return;
  SeenPacket seen;
  seen.t = record.t;
  seen.wire = record.direction == Direction::kEgress ? port.out : port.in;
  seen.psn = compact->psn;
  seen.qp = compact->qpn;
  seen.ev = compact->ev;
  seen.fingerprint = compact->fingerprint;
  seen.source = host_at(recording_.topology_, bytes, kInnerSource);
  seen.destination = host_at(recording_.topology_, bytes, kInnerDestination);
  seen.wire_length = compact->wire_length;
  seen.event = record.event;
  seen.cause = record.cause;
  seen.queue = record.queue;
  seen.opcode = compact->opcode;
  seen.traffic_class = compact->traffic_class;
  constexpr FieldPlace kRtx = place_of<kBthTable>("rtx");
  const auto opcode = static_cast<Opcode>(compact->opcode);
  if (is_write(opcode) && load_bits<kRtx.bit, kRtx.width>(&bytes[kBth]) != 0) {
    seen.flags |= SeenPacket::kAgain;
  }
  if (record.frame && site_.role != NodeRole::kHost) leaves(record, seen);

  const size_t bin = recording_.bin_of(record.t);
  PlaneSums& sums = recording_.sums_of(bin, port.plane);
  if (dropped) {
    count(sums.lost);
  } else {
    recording_.sums_of(bin, seen.wire).bytes += seen.wire_length;
    if (record.event == PacketEvent::kTrimmed) count(sums.trimmed);
    if (seen.flags & SeenPacket::kMarkedHere) count(sums.marked);
    if (site_.role == NodeRole::kHost && seen.flags & SeenPacket::kAgain) count(sums.again);
  }
  recording_.add(seen);
}

void Recording::Watcher::event(const EventRecord& record) {
  if (recording_.events_.size() >= kMaxEvents) {
    ++recording_.left_out_;
    return;
  }
  recording_.events_.push_back({record.t, site_.id, record.kind, record.port, record.qp, record.ev,
                                record.psn, std::string(record.cause), record.detail});
}

void Recording::Watcher::window(const WindowRecord& record) {
  if (recording_.windows_.size() >= kMaxEvents) {
    ++recording_.left_out_;
    return;
  }
  recording_.windows_.push_back({site_.id, record});
}

std::optional<FirstDifference> first_difference(const Recording& a, const Recording& b,
                                                FabricTime until) {
  const size_t from = std::max(a.first_kept(), b.first_kept());
  const size_t to = std::min({a.bins(), b.bins(), a.bin_of(until)});
  for (size_t bin = from; bin < to; ++bin) {
    const auto of_a = a.packets(bin), of_b = b.packets(bin);
    const auto [at_a, at_b] = std::mismatch(of_a.begin(), of_a.end(), of_b.begin(), of_b.end());
    if (at_a == of_a.end() && at_b == of_b.end()) continue;
    FirstDifference difference{FabricTime::never(), {}, {}};
    if (at_a != of_a.end()) difference.a = *at_a;
    if (at_b != of_b.end()) difference.b = *at_b;
    if (difference.a) difference.t = difference.a->t;
    if (difference.b) difference.t = std::min(difference.t, difference.b->t);
    return difference;
  }
  return std::nullopt;
}

}  // namespace mrclab::lab
