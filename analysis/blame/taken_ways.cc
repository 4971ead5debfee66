#include "analysis/blame/taken_ways.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace mrclab::analysis {
namespace {

/// More switches than any way between two hosts has.
constexpr size_t kMostSwitches = 7;

auto packet_key(const Crossing& c) {
  return std::make_tuple(c.source, c.destination, c.destination_qp.value, c.psn.value());
}

}  // namespace

bool chosen_on_the_way(const Topology& topology, const Flow& flow, EntropyValue ev) {
  const NodeId source = topology.host(flow.source), destination = topology.host(flow.destination);
  const auto path = path_of(ev);
  const uint32_t plane = path ? path->plane : 0;
  const auto switch_of = [&](NodeId host) {
    return topology.port({host, PortId{plane}}).peer.node;
  };
  const bool has_ports =
      plane < topology.node(source).ports.size() && plane < topology.node(destination).ports.size();
  if (has_ports && switch_of(source) == switch_of(destination)) return false;
  if (topology.routing.is_fare()) return !path || !path->named();
  return flow.roce && topology.lossless.adaptive && topology.t1_per_plane > 1;
}

TakenWays::TakenWays(const Topology& topology, const PacketHistory& packets)
    : topology_(topology), packets_(packets), shown_(topology.nodes.size()) {
  const auto crossings = packets.crossings();
  order_.resize(crossings.size());
  std::iota(order_.begin(), order_.end(), 0u);
  std::sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
    const Crossing &first = crossings[a], &second = crossings[b];
    return std::make_tuple(packet_key(first), first.t, a) <
           std::make_tuple(packet_key(second), second.t, b);
  });
  for (const Crossing& crossing : crossings) shown_[crossing.port.node.value] = true;
  const auto attempts = packets.attempts();
  next_start_.assign(attempts.size(), FabricTime::never());
  for (const Attempt& attempt : attempts) {
    if (attempt.previous != Attempt::kNone) next_start_[attempt.previous] = attempt.start;
  }
}

std::span<const uint32_t> TakenWays::crossings_of(const Flow& flow, Psn psn) const {
  const auto crossings = packets_.crossings();
  const auto key =
      std::make_tuple(flow.source, flow.destination, flow.destination_qp.value, psn.value());
  const auto first = std::lower_bound(
      order_.begin(), order_.end(), key,
      [&](uint32_t index, const auto& wanted) { return packet_key(crossings[index]) < wanted; });
  auto end = first;
  while (end != order_.end() && packet_key(crossings[*end]) == key) ++end;
  return std::span(order_).subspan(static_cast<size_t>(first - order_.begin()),
                                   static_cast<size_t>(end - first));
}

bool TakenWays::alone(const Attempt& attempt, FabricTime until) const {
  const auto index = static_cast<size_t>(&attempt - packets_.attempts().data());
  if (next_start_[index] <= until) return false;
  if (attempt.previous == Attempt::kNone) return true;
  const Attempt& before = packets_.attempts()[attempt.previous];
  return !before.mark().agrees(attempt.mark()) || before.ended <= attempt.start;
}

std::optional<TakenWay> TakenWays::of(const Attempt& attempt) const {
  const Packet& packet = packets_.packets()[attempt.packet];
  const Flow& flow = packets_.flows()[packet.flow];
  const auto path = path_of(attempt.ev);
  const NodeId source = topology_.host(flow.source), destination = topology_.host(flow.destination);
  if (!path || path->plane >= topology_.node(source).ports.size()) return std::nullopt;
  TakenWay way;
  way.wires.push_back(topology_.port({source, PortId{path->plane}}).out);
  FabricTime last = attempt.start;
  const auto records = crossings_of(flow, packet.psn);
  while (way.wires.size() <= kMostSwitches) {
    const NodeId at = topology_.wire(way.wires.back()).to.node;
    if (at == destination) {
      way.whole = true;
      break;
    }
    const auto next = std::find_if(records.begin(), records.end(), [&](uint32_t index) {
      const Crossing& c = packets_.crossings()[index];
      return c.port.node == at && c.ev == attempt.ev && c.t >= last;
    });
    if (next == records.end()) {
      // This switch was not captured: it may have sent the packet on.
      if (!shown_[at.value]) return std::nullopt;
      break;
    }
    const Crossing& crossing = packets_.crossings()[*next];
    last = crossing.t;
    way.wires.push_back(topology_.port(crossing.port).out);
  }
  const FabricTime until =
      attempt.ended == FabricTime::never() ? last : std::max(last, attempt.ended);
  if (until >= packets_.crossings_until() || !alone(attempt, until)) return std::nullopt;
  return way;
}

}  // namespace mrclab::analysis
