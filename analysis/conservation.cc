#include "analysis/conservation.h"

#include <algorithm>

namespace mrclab::analysis {
namespace {

/// What befell a frame before it was wholly in its receiver: then there is no record of arrival.
bool lost_on_wire(DropCause cause) {
  switch (cause) {
    case DropCause::kWireDown:
    case DropCause::kWireLoss:
    case DropCause::kFrameCheck:
    case DropCause::kNoBuffer: return true;
    default: return false;
  }
}

/// The worst that the schedule ever does to each wire.
struct WireWorst {
  std::vector<BitRate> rate;
  std::vector<FabricTime> delay;
};

WireWorst worst_of(const Topology& topology, std::span<const ScheduledEffect> schedule) {
  WireWorst worst;
  for (const Wire& wire : topology.wires_list) worst.rate.push_back(wire.rate);
  worst.delay.resize(topology.wires_list.size());
  for (const ScheduledEffect& scheduled : schedule) {
    if (const auto* rate = std::get_if<WireRate>(&scheduled.effect)) {
      BitRate& slowest = worst.rate[rate->wire.value];
      if (rate->rate.bps > 0) slowest = std::min(slowest, rate->rate);
    } else if (const auto* delay = std::get_if<WireDelay>(&scheduled.effect)) {
      FabricTime& longest = worst.delay[delay->wire.value];
      longest = std::max(longest, std::min(delay->fixed + delay->jitter, kMaxWireDelay));
    }
  }
  return worst;
}

Bytes longest_frame(const Topology& topology) { return wire_length({topology.pmtu + 256u}); }

}  // namespace

Conservation::Conservation(const Topology& topology, std::span<const ScheduledEffect> schedule,
                           FabricTime end)
    : topology_(topology), end_(end) {
  const WireWorst worst = worst_of(topology, schedule);
  FabricTime longest_wire, longest_residence, longest_delay;
  const QueueProfile& queues = topology.queues;
  const Bytes data =
      std::max({queues.tail_drop, queues.trim_threshold, queues.trim_threshold_last_hop});
  const Bytes waiting =
      data + queues.control_limit + longest_frame(topology) + longest_frame(topology);
  for (const NodeSite& site : topology.nodes) {
    first_port_.push_back(static_cast<uint32_t>(ports_.size()));
    NodeCount node;
    for (const Port& port : site.ports) {
      const Wire& out = topology.wire(port.out);
      const BitRate rate = worst.rate[port.out.value];
      const FabricTime flight = out.propagation + worst.delay[port.out.value];
      PortCount count;
      count.sent_due_until = end - flight - topology.ingress_latency(out.to.node);
      ports_.push_back(count);
      node.residence = std::max(node.residence, serialization_time(waiting + waiting, rate));
      longest_wire = std::max(longest_wire,
                              out.propagation + serialization_time(longest_frame(topology), rate));
      longest_delay = std::max(longest_delay, worst.delay[port.out.value]);
    }
    node.residence += topology.ingress_latency(site.id);
    node.in_due_until = end - node.residence;
    nodes_.push_back(node);
    if (site.role != NodeRole::kHost)
      longest_residence = std::max(longest_residence, node.residence);
  }
  constexpr int64_t kWires = 4, kSwitches = 3;  // of a path across a T1
  longest_crossing_ = (longest_wire + longest_delay) * kWires + longest_residence * kSwitches +
                      topology.host_latency;
}

void Conservation::add(NodeId node_id, PortId port_id, Direction direction, PacketEvent event,
                       DropCause cause, FabricTime t) {
  if (t > end_) return;
  ++records_;
  NodeCount& node = nodes_[node_id.value];
  PortCount& port = ports_[first_port_[node_id.value] + port_id.value];
  if (event == PacketEvent::kDropped) {
    if (direction == Direction::kIngress && lost_on_wire(cause)) {
      ++port.lost;
    } else {
      ++node.dropped;
    }
  } else if (direction == Direction::kIngress) {
    ++port.arrived;
    ++node.in;
    if (t <= node.in_due_until) ++node.in_due;
  } else {
    ++port.sent;
    ++node.out;
    if (t <= port.sent_due_until) ++port.sent_due;
  }
}

Balance Conservation::wire(WireId id) const {
  const Wire& wire = topology_.wire(id);
  const PortCount& from = ports_[first_port_[wire.from.node.value] + wire.from.port.value];
  const PortCount& to = ports_[first_port_[wire.to.node.value] + wire.to.port.value];
  return {from.sent, from.sent_due, to.arrived, to.lost};
}

Balance Conservation::inside(NodeId id) const {
  const NodeCount& node = nodes_[id.value];
  return {node.in, node.in_due, node.out, node.dropped};
}

}  // namespace mrclab::analysis
