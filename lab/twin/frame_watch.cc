#include "lab/twin/frame_watch.h"

#include <algorithm>
#include <optional>

#include "analysis/capture/cut_frame.h"
#include "analysis/frame/seen_headers.h"
#include "fabric/history/content_hash.h"
#include "fabric/packet/drop_kind.h"
#include "fabric/topology/path.h"

namespace mrclab::lab {
namespace {

using analysis::SeenAnswer;

/// What stands before an ACK at its port may be a frame that is being sent, and answers; a SACK that leaves at once by
/// another port is no sign that its message was held. In frames of full length.
constexpr int64_t kQueuedFrames = 2;

struct FrameEnds {
  uint32_t source = 0, destination = 0;
};

/// The hosts of a packet; empty: of none of the two transports, or not between hosts of the fabric.
std::optional<FrameEnds> ends_of(const Topology& topology, const analysis::CutFrame& frame) {
  const auto source = host_of_address(topology, frame.view().source());
  const auto destination = host_of_address(topology, frame.view().destination());
  if (!source || !destination) return std::nullopt;
  return FrameEnds{*source, *destination};
}

}  // namespace

FrameWatch::FrameWatch(const Topology& topology, std::set<WireId> wires)
    : topology_(topology), wires_(std::move(wires)) {
  for (const NodeSite& site : topology.nodes) nodes_.emplace_back(*this, site.id);
  for (const WireId wire : wires_) {
    const NodeId from = topology.wire(wire).from.node;
    if (topology.node(from).role != NodeRole::kHost) switches_.insert(from);
  }
}

void FrameWatch::packet(NodeId node, const PacketRecord& record) {
  if (!record.frame || record.queue == QueueClass::kPause) return;
  const bool dropped = record.event == PacketEvent::kDropped;
  const bool leaves_host = !dropped && record.direction == Direction::kEgress &&
                           topology_.node(node).role == NodeRole::kHost;
  if (leaves_host || (dropped && drop_kind(record.cause) == DropKind::kBroken)) {
    answer(node, record);
  }
  if (!wires_.empty() && !dropped) follow(node, record);
}

void FrameWatch::answer(NodeId node, const PacketRecord& record) {
  analysis::CutFrame frame;
  if (frame.open(record.frame.bytes()) != ParseError::kNone) return;
  if (is_request(frame.view().opcode())) return;
  const std::optional<FrameEnds> ends = ends_of(topology_, frame);
  if (!ends) return;
  if (record.event != PacketEvent::kDropped) return sent_answer(node, record, ends->destination);
  if (lost_.size() >= kMaxSeen) return;
  const Port& port = topology_.port({node, record.port});
  const WireId wire = record.direction == Direction::kIngress ? port.in : port.out;
  lost_.push_back({record.t, ends->source, ends->destination, frame.view().entropy(),
                   frame.view().destination_qp(), frame.view().opcode() == Opcode::kProbeRequest,
                   wire, record.cause});
}

void FrameWatch::sent_answer(NodeId node, const PacketRecord& record, uint32_t peer) {
  analysis::CutFrame frame;
  if (frame.open(record.frame.bytes()) != ParseError::kNone) return;
  const SeenAnswer seen = analysis::answer_in(frame.view());
  const bool sack = seen.kind == SeenAnswer::Kind::kSack;
  if (!sack && seen.kind != SeenAnswer::Kind::kAck) return;
  const uint32_t host = topology_.node(node).index;
  Answered& answered = answered_[{host, peer, frame.view().destination_qp().value}];
  std::deque<SentSack>& sacks = answered.sacks;
  if (sack) {
    const bool newer = sacks.empty() || sacks.back().cumulative.before(seen.cumulative);
    const bool known = answered.acknowledged && !answered.acknowledged->before(seen.cumulative);
    if (newer && !known && sacks.size() < kMaxSacks) sacks.push_back({seen.cumulative, record.t});
    return;
  }
  if (answered.acknowledged && !answered.acknowledged->before(seen.cumulative)) return;  // repeated
  answered.acknowledged = seen.cumulative;
  while (!sacks.empty() && sacks.front().cumulative.before(seen.cumulative)) sacks.pop_front();
  if (sacks.empty() || held_.size() >= kMaxSeen) return;
  const Link& link = topology_.link(topology_.port({node, record.port}).link);
  const FabricTime queued =
      serialization_time(wire_length({topology_.pmtu}), link.rate) * kQueuedFrames;
  if (record.t - sacks.front().t > queued) {
    held_.push_back({sacks.front().t, record.t, host, peer});
  }
}

/// Along wires on which frames may be late.
void FrameWatch::follow(NodeId node, const PacketRecord& record) {
  const Port& port = topology_.port({node, record.port});
  const uint64_t content = content_hash(record.frame);
  if (record.direction == Direction::kIngress) {
    if (switches_.contains(node)) inside_[{node.value, content}] = record.t;
    const auto left = wires_.contains(port.in) ? left_.find({port.in.value, content}) : left_.end();
    if (left == left_.end()) return;
    if (record.t - left->second > topology_.wire(port.in).propagation) keep_late(port.in, record);
    left_.erase(left);
    return;
  }
  if (wires_.contains(port.out)) left_[{port.out.value, content}] = record.t;
  const auto inside =
      switches_.contains(node) ? inside_.find({node.value, content}) : inside_.end();
  if (inside == inside_.end()) return;
  const FabricTime arrived = inside->second;
  inside_.erase(inside);
  if (!wires_.contains(port.out)) return;
  const Wire& out = topology_.wire(port.out);
  const Bytes length = record.frame.wire_length();
  // By whichever port it came, the pipeline takes no longer than its own latency.
  const FabricTime least = topology_.switch_latency + serialization_time(length, out.rate);
  if (record.t - arrived > least) keep_late(port.out, record);
}

void FrameWatch::keep_late(WireId wire, const PacketRecord& record) {
  if (late_.size() >= kMaxSeen) return;
  analysis::CutFrame frame;
  if (frame.open(record.frame.bytes()) != ParseError::kNone) return;
  const std::optional<FrameEnds> ends = ends_of(topology_, frame);
  if (ends) late_.push_back({record.t, wire, ends->source, ends->destination});
}

}  // namespace mrclab::lab
