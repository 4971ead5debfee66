// What answers say of packets: SACKs, NACKs and transport ACKs as they arrive at the sender.

#include <algorithm>

#include "analysis/history/flow_keys.h"
#include "analysis/history/packet_history.h"
#include "analysis/history/path_wires.h"

namespace mrclab::analysis {

/// Did a frame of the packet arrive on this path? Answers may reflect only
/// part of an entropy value.
bool PacketHistory::arrived_on(uint32_t packet, EntropyValue ev) const {
  uint32_t at = packets_[packet].last;
  for (uint32_t step = 0; at != kNone && step < kMaxAttemptsWalked; ++step) {
    const Attempt& t = transmissions_[at];
    const bool arrived = t.fate == Fate::kDelivered || t.fate == Fate::kTrimmed;
    if (arrived && (t.ev == ev || reflected(t.ev) == ev)) return true;
    at = t.previous;
  }
  return false;
}

void PacketHistory::on_control_arrival(const Observation& o) {
  if (const auto path = built_path(topology_, o.source, o.destination, {o.ev})) {
    control_.push_back({o.t, o.source, o.destination, *path, o.probe});
  }
  if (o.probe) ++counters_.probes;
  if (o.detail == kNone) return;
  const SackFields& answer = sacks_[o.detail];
  if (answer.is_ack) return on_transport_ack(o, answer);
  ++(answer.is_nack ? counters_.nacks : counters_.sacks);
  constexpr auto kFatal = static_cast<uint8_t>(NackReason::kUnexpectedEvent);
  if (answer.is_nack && answer.nack_reason == kFatal) ++counters_.fatal_nacks;
  if (const std::optional<uint32_t> flow = flow_answered_by(o, answer)) {
    on_answer(*flow, answer, o.t);
  } else {
    ++counters_.acks_without_flow;
  }
}

/// A transport ACK names no packet, so its flow is the one that SACKs of the same direction answer;
/// if there was no such SACK, its flow stays unknown.
void PacketHistory::on_transport_ack(const Observation& o, const SackFields& answer) {
  const auto known = answer_index_.find(flow_key(o.source, o.destination, o.qp));
  if (known != answer_index_.end()) on_answer(known->second, answer, o.t);
}

/// An answer names the sender's QP and data the receiver's, and no field ties the two together. But
/// an answer also names the packet that triggered it, by PSN and reflected EV. The flow that is
/// found by the first such packet is kept for later answers.
std::optional<uint32_t> PacketHistory::flow_answered_by(const Observation& o,
                                                        const SackFields& answer) {
  const uint64_t key = flow_key(o.source, o.destination, o.qp);
  if (const auto known = answer_index_.find(key); known != answer_index_.end()) {
    return known->second;
  }
  const auto candidates = flows_between_.find(pair_key(o.destination, o.source));
  if (candidates == flows_between_.end()) return std::nullopt;
  std::optional<uint32_t> found;
  for (const uint32_t flow : candidates->second) {
    const uint32_t packet = existing_packet(flow, answer.trigger);
    if (packet == kNone || !arrived_on(packet, answer.ev)) continue;
    if (found) return std::nullopt;  // two QPs fit: a later answer will tell them apart
    found = flow;
  }
  if (found) answer_index_.emplace(key, *found);
  return found;
}

void PacketHistory::acknowledge(uint32_t flow, Psn psn, FabricTime t) {
  const uint32_t packet = existing_packet(flow, psn);
  if (packet == kNone) {
    ++counters_.acks_of_unsent;
    return;
  }
  packets_[packet].acknowledged = std::min(packets_[packet].acknowledged, t);
}

bool PacketHistory::arrived_up_to(uint32_t flow, int64_t unwrapped) {
  FlowState& state = flow_states_[flow];
  while (state.arrived < unwrapped) {
    const uint32_t packet = state.slots[static_cast<size_t>(state.arrived + 1 - state.base)];
    if (packet == kNone || packets_[packet].delivered == FabricTime::never()) return false;
    ++state.arrived;
  }
  return true;
}

void PacketHistory::on_answer(uint32_t flow, const SackFields& answer, FabricTime t) {
  if (answer.is_nack) {
    const uint32_t packet = existing_packet(flow, answer.trigger);
    if (packet != kNone && packets_[packet].nacks < UINT16_MAX) ++packets_[packet].nacks;
    return;
  }
  FlowState& state = flow_states_[flow];
  const Psn highest{static_cast<uint32_t>(state.highest & Psn::kMask)};
  const int64_t cumulative = std::min(state.highest + (answer.cumulative - highest), state.highest);
  if (answer.is_ack && !arrived_up_to(flow, cumulative)) ++counters_.acks_ahead;
  while (state.acknowledged < cumulative) {
    ++state.acknowledged;
    acknowledge(flow, Psn{static_cast<uint32_t>(state.acknowledged & Psn::kMask)}, t);
  }
  for (uint64_t left = answer.bitmap; left != 0; left &= left - 1) {
    acknowledge(flow, answer.cumulative + (answer.bitmap_offset + __builtin_ctzll(left)), t);
  }
}

}  // namespace mrclab::analysis
