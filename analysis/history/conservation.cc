#include "analysis/history/conservation.h"

#include <algorithm>
#include <numeric>

#include "fabric/base/byte_order.h"
#include "fabric/base/random.h"
#include "fabric/history/content_hash.h"
#include "fabric/neighbours/lldp_frame.h"
#include "fabric/packet/pause_frame.h"
#include "fabric/topology/scheduler_weights.h"

namespace mrclab::analysis {
namespace {

/// The traffic class of an IPv6 frame; 0 for any other frame.
uint8_t traffic_class_of(std::span<const uint8_t> bytes) {
  if (bytes.size() < kEthernetBytes + 2) return 0;
  if (load_be<uint16_t>(&bytes[kEthernetBytes - 2]) != kEthertypeIpv6) return 0;
  return static_cast<uint8_t>(load_be<uint16_t>(&bytes[kEthernetBytes]) >> 4);
}

/// Whole up to its BTH, and for an MRC port.
bool has_mrc_port(std::span<const uint8_t> bytes, Encapsulation kind) {
  const FrameLayout at = layout_of(kind);
  if (bytes.size() < at.after_bth) return false;
  const uint16_t port = load_be<uint16_t>(&bytes[at.udp + 2]);
  return port == kMrcUdpPort || port == kMrcUdpPortAlternate;
}

Bytes longest_frame(const Topology& topology) { return wire_length({topology.pmtu + 256u}); }

/// The most bytes that are sent over a wire while a frame waits in front of it: those before it in its own queue, and
/// what the other classes are sent meanwhile. A class of equal weight gets as many bytes as this one and a frame more,
/// because whole frames are sent. `shared`: frames of RoCE and of MRC wait there.
Bytes most_sent_meanwhile(const Topology& topology, const Wire& out, bool shared) {
  const QueueProfile& q = topology.queues_of(out);
  const Bytes frame = longest_frame(topology);
  const Bytes data = std::max({q.tail_drop, q.trim_threshold, q.trim_threshold_last_hop});
  const Bytes mrc =
      std::max(data, q.trimmed_limit) * 2 + frame;  // data and trimmed, of equal weight
  const Bytes below_control =
      shared ? std::max(mrc, q.lossless_limit) * 2 + frame : std::max(mrc, q.lossless_limit);
  const Bytes control = below_control * kControlWeight + kControlQuantum + frame;
  // Control itself waits for no more than a frame of the others for each of its parts.
  const Bytes of_control = q.control_limit + q.control_limit / kControlWeight + frame;
  return std::max(below_control + control, of_control) + frame;  // which was being sent
}

/// At most; no fewer than across a T1.
int64_t switches_on_a_path(const Topology& topology) {
  return std::max<int64_t>(topology.longest_path, 3);
}

}  // namespace

Conservation::Conservation(const Topology& topology, std::span<const ScheduledEffect> schedule,
                           FabricTime end)
    : topology_(topology), end_(end) {
  std::vector<bool> renames(topology.nodes.size());
  for (const ScheduledEffect& scheduled : schedule) {
    const auto worst = [&](WireId wire) -> WireWorst& {
      return worst_.try_emplace(wire.value, WireWorst{topology.wire(wire).rate, {}}).first->second;
    };
    if (const auto* rate = std::get_if<WireRate>(&scheduled.effect)) {
      BitRate& slowest = worst(rate->wire).rate;
      if (rate->rate.bps > 0) slowest = std::min(slowest, rate->rate);
    } else if (const auto* delay = std::get_if<WireDelay>(&scheduled.effect)) {
      FabricTime& longest = worst(delay->wire).delay;
      longest = std::max(longest, std::min(delay->fixed + delay->jitter, kMaxWireDelay));
    } else if (const auto* twice = std::get_if<WireDuplicates>(&scheduled.effect)) {
      worst(twice->wire).copies = true;
    } else if (const auto* errors = std::get_if<SwitchErrors>(&scheduled.effect)) {
      renames[errors->node.value] = true;
    }
  }
  FabricTime longest_wire, longest_delay;
  nodes_.reserve(topology.nodes.size());
  for (const NodeSite& site : topology.nodes) {
    NodeCount node(site.ports.size());
    node.is_switch = site.role != NodeRole::kHost;
    node.renames = renames[site.id.value];
    node.ended_due_until = end - topology.ingress_latency(site.id);
    for (const Port& port : site.ports) {
      const Wire& out = topology.wire(port.out);
      const WireWorst worst = worst_of(out);
      node.may_copy = node.may_copy || worst.copies;
      for (const bool shared : {false, true}) {
        const Bytes sent = most_sent_meanwhile(topology, out, shared) * (worst.copies ? 2 : 1);
        FabricTime& longest = node.residence[shared ? 1 : 0];
        longest = std::max(longest, serialization_time(sent, worst.rate));
      }
      longest_wire = std::max(
          longest_wire, out.propagation + serialization_time(longest_frame(topology), worst.rate));
      longest_delay = std::max(longest_delay, worst.delay);
    }
    for (FabricTime& residence : node.residence) residence += topology.ingress_latency(site.id);
    nodes_.push_back(std::move(node));
  }
  longest_on_wires_ =
      (longest_wire + longest_delay) * (switches_on_a_path(topology) + 1) + topology.host_latency;
}

Conservation::WireWorst Conservation::worst_of(const Wire& wire) const {
  const auto found = worst_.find(wire.id.value);
  return found != worst_.end() ? found->second : WireWorst{wire.rate, {}};
}

/// What is counted of a port before its first record.
Conservation::PortCount Conservation::without_records(const Port& port) const {
  const Wire& out = topology_.wire(port.out);
  const WireWorst worst = worst_of(out);
  PortCount count;
  count.sent_due_until =
      end_ - (out.propagation + worst.delay) - topology_.ingress_latency(out.to.node);
  count.copies = worst.copies;
  count.delays = worst.delay > FabricTime::zero();
  return count;
}

Conservation::PortCount Conservation::count_of(PortRef at) const {
  const PortCount* const count = nodes_[at.node.value].ports.find(at.port.value);
  return count != nullptr ? *count : without_records(topology_.port(at));
}

FabricTime Conservation::longest_crossing() const {
  if (topology_.lossless.pfc) return end_;
  FabricTime longest;
  for (const NodeCount& node : nodes_) {
    if (node.is_switch) longest = std::max(longest, node.longest_residence());
  }
  return longest_on_wires_ + longest * switches_on_a_path(topology_);
}

/// A pause may hold frames back to the end of the run.
FabricTime Conservation::in_due_until(FabricTime residence) const {
  return topology_.lossless.pfc ? FabricTime::zero() : end_ - residence;
}

uint64_t Conservation::records() const {
  return std::accumulate(nodes_.begin(), nodes_.end(), uint64_t{0},
                         [](uint64_t sum, const NodeCount& node) { return sum + node.records; });
}

Balance Conservation::wire(WireId id) const {
  const Wire& wire = topology_.wire(id);
  const PortCount from = count_of(wire.from), to = count_of(wire.to);
  Balance balance{from.sent, from.sent - from.sent_late, to.arrived, to.lost};
  const uint64_t ended = from.delays ? balance.accounted() : balance.accounted() - to.ended_late;
  if (ended < balance.due) balance.missing = balance.due - ended;
  const uint64_t most = from.delays ? balance.taken : balance.due;
  if (ended > most) balance.invented = ended - most;
  return balance;
}

Balance Conservation::inside(NodeId id) const {
  const NodeCount& node = nodes_[id.value];
  Balance balance{node.in, node.in_due, node.out, node.dropped};
  balance.invented = node.invented;
  if (node.renames) {
    const uint64_t out = balance.accounted();
    if (out < balance.due) balance.missing = balance.due - out;
    if (out > balance.taken && !node.may_copy) balance.invented = out - balance.taken;
  }
  const FabricTime due_until = in_due_until(node.longest_residence());
  node.inside.for_each([&](const Inside& frames) {
    if (frames.since() <= due_until) balance.missing += frames.frames();
  });
  return balance;
}

uint64_t name_of_frame(Opcode opcode, Qpn qpn, Psn psn, EntropyValue ev, uint32_t peers) {
  return mix64(uint64_t{qpn.value} << 40 | uint64_t{psn.value()} << 16 |
               static_cast<uint64_t>(opcode)) ^
         (uint64_t{peers} << 32 | ev.value);
}

/// Reads at fixed offsets, as the digest does (fabric/history/history.cc).
uint64_t name_of_other_frame(const Frame& frame) {
  const std::span<const uint8_t> bytes = frame.bytes();
  const std::optional<Encapsulation> kind = encapsulation_of(bytes);
  if (!kind || !has_mrc_port(bytes, *kind)) {
    if (is_mac_control(bytes) || is_lldp(bytes)) return kLinkLocalFrame;
    return is_from_speaker(false, traffic_class_of(bytes)) ? kLinkLocalFrame : 0;
  }
  return name_of_content(content_hash(frame));
}

}  // namespace mrclab::analysis
