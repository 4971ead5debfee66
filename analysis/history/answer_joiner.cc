#include "analysis/history/answer_joiner.h"

#include <algorithm>

#include "analysis/history/flow_keys.h"
#include "analysis/history/path_wires.h"

namespace mrclab::analysis {

/// Did a frame of the packet arrive on this path? Answers may reflect only
/// part of an entropy value.
bool AnswerJoiner::arrived_on(uint32_t packet, EntropyValue ev) const {
  uint32_t at = tables_.packets[packet].last;
  for (uint32_t step = 0; at != kNone && step < kMaxAttemptsWalked; ++step) {
    const Attempt& t = tables_.attempts[at];
    const bool arrived = t.fate == Fate::kDelivered || t.fate == Fate::kTrimmed;
    if (arrived && (t.ev == ev || reflected(t.ev) == ev)) return true;
    at = t.previous;
  }
  return false;
}

void AnswerJoiner::arrives(const Sighting& s) {
  if (const auto path = built_path(topology_, s.source, s.destination, s.ev)) {
    tables_.control.push_back({s.t, s.source, s.destination, *path, s.probe});
  }
  if (s.probe) ++tables_.counters.probes;
  if (s.opcode == Opcode::kCongestionNotification) {
    ++tables_.counters.cnps;
    ++rc_answers_[flow_key(s.source, s.destination, s.qp)].cnps;
  }
  if (s.detail == kNone) return;
  const SeenAnswer& answer = answers_[s.detail];
  if (answer.kind == SeenAnswer::Kind::kAck) return take_ack(s, answer);
  if (answer.is_rc()) {
    ++tables_.counters.rc_acks;
    if (s.payload > 0 && !s.trimmed)
      rc_answers_[flow_key(s.source, s.destination, s.qp)].read_bytes += s.payload;
    if (answer.is_rc_nak()) {
      ++tables_.counters.rc_naks;
      rc_answers_[flow_key(s.source, s.destination, s.qp)].naks.push_back(
          {s.t, answer.cumulative + 1, answer.kind == SeenAnswer::Kind::kRcNotReady});
    }
    if (const std::optional<uint32_t> flow = flow_answered_by(s, answer)) {
      take_answer(*flow, answer, s.t);
    } else if (!answer.is_rc_nak()) {
      ++tables_.counters.acks_without_flow;
    }
    return;
  }
  const bool is_nack = answer.kind == SeenAnswer::Kind::kNack;
  ++(is_nack ? tables_.counters.nacks : tables_.counters.sacks);
  constexpr auto kFatal = static_cast<uint8_t>(NackReason::kUnexpectedEvent);
  if (is_nack && answer.nack_reason == kFatal) ++tables_.counters.fatal_nacks;
  if (const std::optional<uint32_t> flow = flow_answered_by(s, answer)) {
    take_answer(*flow, answer, s.t);
  } else {
    ++tables_.counters.acks_without_flow;
  }
}

void AnswerJoiner::finish() {
  for (auto& [key, answers] : rc_answers_) {
    const auto flow = flow_by_answers_.find(key);
    if (flow == flow_by_answers_.end()) continue;
    if (tables_.rc_answers.size() <= flow->second) tables_.rc_answers.resize(flow->second + 1);
    tables_.rc_answers[flow->second] = std::move(answers);
  }
}

/// A transport ACK names no packet, so its flow is the one that SACKs of the same direction answer;
/// if there was no such SACK, its flow stays unknown.
void AnswerJoiner::take_ack(const Sighting& s, const SeenAnswer& answer) {
  const auto known = flow_by_answers_.find(flow_key(s.source, s.destination, s.qp));
  if (known != flow_by_answers_.end()) take_answer(known->second, answer, s.t);
}

/// An answer names the sender's QP and data the receiver's, and no field ties the two together. But
/// an answer also names the packet that triggered it, by PSN and reflected EV. The flow that is
/// found by the first such packet is kept for later answers.
std::optional<uint32_t> AnswerJoiner::flow_answered_by(const Sighting& s,
                                                       const SeenAnswer& answer) {
  const uint64_t key = flow_key(s.source, s.destination, s.qp);
  if (const auto known = flow_by_answers_.find(key); known != flow_by_answers_.end()) {
    return known->second;
  }
  std::optional<uint32_t> found;
  for (const uint32_t flow : flows_.between(s.destination, s.source)) {
    const uint32_t packet = flows_.packet_at(flow, answer.trigger);
    if (packet == kNone || !arrived_on(packet, answer.ev)) continue;
    if (found) return std::nullopt;  // two QPs fit: a later answer may fit one only
    found = flow;
  }
  if (found) flow_by_answers_.emplace(key, *found);
  return found;
}

void AnswerJoiner::acknowledge(uint32_t flow, Psn psn, FabricTime t) {
  const uint32_t packet = flows_.packet_at(flow, psn);
  if (packet == kNone) {
    ++tables_.counters.acks_of_unsent;
    return;
  }
  tables_.packets[packet].acknowledged = std::min(tables_.packets[packet].acknowledged, t);
}

bool AnswerJoiner::arrived_up_to(uint32_t flow, int64_t unwrapped) {
  FlowTable::State& state = flows_[flow];
  while (state.arrived < unwrapped) {
    const uint32_t packet = state.slots[static_cast<size_t>(state.arrived + 1 - state.base)];
    if (packet == kNone || tables_.packets[packet].delivered == FabricTime::never()) return false;
    ++state.arrived;
  }
  return true;
}

void AnswerJoiner::take_answer(uint32_t flow, const SeenAnswer& answer, FabricTime t) {
  if (answer.kind == SeenAnswer::Kind::kNack) {
    const uint32_t packet = flows_.packet_at(flow, answer.trigger);
    if (packet != kNone && tables_.packets[packet].nacks < UINT16_MAX)
      ++tables_.packets[packet].nacks;
    return;
  }
  FlowTable::State& state = flows_[flow];
  const Psn highest{static_cast<uint32_t>(state.highest & Psn::kMask)};
  const int64_t cumulative = std::min(state.highest + (answer.cumulative - highest), state.highest);
  if ((answer.kind == SeenAnswer::Kind::kAck || answer.is_rc()) && !arrived_up_to(flow, cumulative))
    ++tables_.counters.acks_ahead;
  while (state.acknowledged < cumulative) {
    ++state.acknowledged;
    acknowledge(flow, Psn{static_cast<uint32_t>(state.acknowledged & Psn::kMask)}, t);
  }
  for (uint64_t left = answer.bitmap; left != 0; left &= left - 1) {
    acknowledge(flow, answer.cumulative + (answer.bitmap_offset + __builtin_ctzll(left)), t);
  }
}

}  // namespace mrclab::analysis
