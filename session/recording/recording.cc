#include "session/recording/recording.h"

#include <algorithm>

#include "fabric/packet/drop_kind.h"
#include "fabric/packet/headers.h"
#include "session/recording/fabric_tally.h"

namespace mrclab::lab {
namespace {

/// Far more than the queues of a switch hold; reached only by frames that a switch keeps to itself.
constexpr size_t kMaxInside = 1u << 16;
constexpr size_t kMaxBins = 2048;
bool is_marked(uint8_t traffic_class) { return (traffic_class & 3) == kEcnCe; }

void count(uint16_t& counter) {
  if (counter < UINT16_MAX) ++counter;
}

/// Sorts by time what was added since the last call. Behind `sorted` stays what is later
/// than `until`: earlier entries may still be added.
void sort_added(auto& list, size_t& sorted, FabricTime until, const auto& time_of) {
  const auto first = list.begin() + static_cast<std::ptrdiff_t>(sorted);
  std::stable_sort(first, list.end(),
                   [&](const auto& a, const auto& b) { return time_of(a) < time_of(b); });
  const auto later =
      std::partition_point(first, list.end(), [&](const auto& x) { return time_of(x) <= until; });
  sorted = static_cast<size_t>(later - list.begin());
}

/// Whole microseconds, so that there are at most kMaxBins of them, and at most kMaxCells cells.
FabricTime bin_for(const FollowedPart& part, FabricTime end) {
  const size_t wires = std::max<size_t>(part.wires(), 1);
  const size_t most = part.whole() ? kMaxBins : FabricTally::kMaxWindows;
  const size_t bins = std::clamp<size_t>(Recording::kMaxCells / wires, 1, most);
  const FabricTime least = end / static_cast<int64_t>(bins);
  return FabricTime::from_us(least / FabricTime::from_us(1) + 1);
}

/// A packet of a queue pair that did not come to its host. The datagrams of a burst belong to none; and a NIC that
/// refuses a packet has had it.
bool is_lost(const SeenPacket& packet) {
  const bool of_queue_pair = packet.opcode != 0 || packet.qp.value != 0;
  return of_queue_pair && drop_kind(packet.cause) != DropKind::kRefused;
}

}  // namespace

Recording::Recording(const Topology& topology, FabricTime end, size_t max_packets,
                     FollowedPart part)
    : topology_(topology),
      part_(std::move(part)),
      end_(end),
      max_packets_(max_packets),
      bin_(bin_for(part_, end)),
      bins_(bin_of(end) + 1),
      hosts_(part_.whole() ? topology.host_count() : part_.racks().size() * topology.hosts_per_t0) {
  wire_sums_.resize(bins_ * part_.wires());
  plane_sums_.resize(bins_ * topology.planes);
  packets_.resize(bins_);
  inside_.resize(topology.nodes.size());
  sacks_.resize(part_.nodes());
  sacks_forgotten_.resize(part_.nodes());
}

std::span<const Recording::WireSums> Recording::wires(size_t bin) const {
  const size_t count = part_.wires();
  return std::span(wire_sums_).subspan(bin * count, count);
}

std::span<const Recording::PlaneSums> Recording::planes(size_t bin) const {
  return std::span(plane_sums_).subspan(bin * topology_.planes, topology_.planes);
}

void Recording::record_packet(const SeenPacket& seen) {
  packets_[bin_of(seen.t)].push_back(seen);
  if (++kept_ > max_packets_) forget_oldest();
}

void Recording::forget_oldest() {
  while (kept_ > max_packets_ && first_kept_ + 1 < bins_) {
    kept_ -= packets_[first_kept_].size();
    packets_[first_kept_] = {};  // gives its memory back
    ++first_kept_;
  }
}

void Recording::complete(FabricTime until) {
  const bool ended = until >= end_;
  if (!ended) until -= std::max(topology_.switch_latency, topology_.host_latency);
  sort_added(events_, events_sorted_, until, [](const SeenEvent& event) { return event.t; });
  sort_added(windows_, windows_sorted_, until,
             [](const SeenWindow& window) { return window.record.t; });
  const size_t whole = ended ? bins_ : bin_of(std::max(until, FabricTime::zero()));
  for (; sorted_ < whole; ++sorted_) {
    // Records of one wire come in order, so what is equal here keeps an order of its own.
    std::stable_sort(packets_[sorted_].begin(), packets_[sorted_].end(),
                     [](const SeenPacket& a, const SeenPacket& b) {
                       return a.t != b.t ? a.t < b.t : a.wire < b.wire;
                     });
  }
}

void Recording::add_arrival(const ArrivedPacket& packet) {
  if (packet.t > end_ || packet.queue == QueueClass::kPause) return;
  const NodeSite& site = topology_.node(packet.at.node);
  if (site.role != NodeRole::kHost) {
    if (packet.frame == 0) return;
    auto& inside = inside_[packet.at.node.value];
    if (inside.size() >= kMaxInside) inside.clear();
    inside[packet.frame] = {packet.t, packet.at.port, packet.wire_length,
                            is_marked(packet.traffic_class)};
    return;
  }
  const bool is_data = carries_data(static_cast<Opcode>(packet.opcode)) && packet.qp.value != 0;
  if (packet.queue == QueueClass::kTrimmed || !is_data) return;
  sums_of(bin_of(packet.t), site.ports[packet.at.port.value].plane).received += packet.wire_length;
}

void Recording::add_stay(SeenPacket& packet, NodeId node, FrameKey frame) {
  auto& inside_here = inside_[node.value];
  const auto found = inside_here.find(frame);
  if (found == inside_here.end()) return;
  const Inside inside = found->second;
  inside_here.erase(found);
  if (packet.event == PacketEvent::kDropped) return;
  const Wire& wire = topology_.wire(packet.wire);
  const FabricTime start = packet.t - serialization_time(Bytes{packet.wire_length}, wire.rate);
  const Wire& in = topology_.wire(topology_.node(node).ports[inside.port.value].in);
  const FabricTime ready =
      inside.came + topology_.pipeline_time(in, wire, Bytes{inside.wire_length});
  if (start > ready) {
    const FabricTime waited = start - ready;
    packet.waited_ns = static_cast<uint32_t>(std::min<int64_t>(waited.ns(), UINT32_MAX));
    WireSums& sums = sums_of(bin_of(packet.t), packet.wire);
    const uint64_t queue = bytes_in(wire.rate, waited).value;
    sums.queue = std::max(sums.queue, static_cast<uint32_t>(std::min<uint64_t>(queue, UINT32_MAX)));
  }
  if (packet.opcode != 0) packet.flags |= SeenPacket::kWaitSeen;
  if (is_marked(packet.traffic_class) && !inside.marked) packet.flags |= SeenPacket::kMarkedHere;
}

void Recording::add_departure(SeenPacket packet, PortRef at, Direction direction, FrameKey frame) {
  if (packet.t > end_) return;
  const NodeSite& site = topology_.node(at.node);
  const Port& port = site.ports[at.port.value];
  packet.wire = direction == Direction::kEgress ? port.out : port.in;
  if (part_.number(packet.wire) == FollowedPart::kOutside) return;
  if (frame != 0 && site.role != NodeRole::kHost) add_stay(packet, at.node, frame);
  const size_t bin = bin_of(packet.t);
  PlaneSums& sums = sums_of(bin, port.plane);
  if (packet.event == PacketEvent::kDropped) {
    if (is_lost(packet)) {
      count(sums.lost);
      count(sums_of(bin, packet.wire).lost);
    }
  } else {
    WireSums& own = sums_of(bin, packet.wire);
    own.bytes += packet.wire_length;
    if (packet.event == PacketEvent::kTrimmed) {
      count(sums.trimmed);
      count(own.trimmed);
    }
    if (packet.flags & SeenPacket::kMarkedHere) {
      count(sums.marked);
      count(own.marked);
    }
    if (site.role == NodeRole::kHost && packet.flags & SeenPacket::kAgain) count(sums.again);
  }
  record_packet(packet);
}

void Recording::leave_out(FabricTime t) { told_until_ = std::min(told_until_, t); }

std::optional<FabricTime> Recording::sacks_forgotten(NodeId host) const {
  const uint32_t number = part_.number(host);
  return number == FollowedPart::kOutside ? std::nullopt : sacks_forgotten_[number];
}

void Recording::add_event(SeenEvent event) {
  if (events_.size() >= kMaxEvents) return leave_out(event.t);
  events_.push_back(std::move(event));
}

void Recording::add_window(const SeenWindow& window) {
  if (windows_.size() >= kMaxEvents) return leave_out(window.record.t);
  windows_.push_back(window);
}

void Recording::add_sack(NodeId host, const SeenSack& sack) {
  const uint32_t number = part_.number(host);
  if (number == FollowedPart::kOutside) return;
  std::deque<SeenSack>& sacks = sacks_[number];
  sacks.push_back(sack);
  if (sacks.size() <= kMaxSacks / hosts_) return;
  sacks_forgotten_[number] = sacks.front().t;
  sacks.pop_front();
}

const SeenSack* Recording::last_sack(NodeId host, Qpn qp, FabricTime until) const {
  const uint32_t number = part_.number(host);
  if (number == FollowedPart::kOutside) return nullptr;
  const std::deque<SeenSack>& sacks = sacks_[number];
  const auto after =
      std::upper_bound(sacks.begin(), sacks.end(), until,
                       [](FabricTime t, const SeenSack& sack) { return t < sack.t; });
  const auto found = std::find_if(std::make_reverse_iterator(after), sacks.rend(),
                                  [&](const SeenSack& sack) { return sack.qp == qp; });
  return found == sacks.rend() ? nullptr : &*found;
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
