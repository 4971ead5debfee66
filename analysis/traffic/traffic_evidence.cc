// What answers prove about foreign packets whose receiver was not captured: the knowledge of
// their sender.
//
//   trimmed    A NACK reports it. Its timestamp names the attempt, or there is only one.
//   arrived    A SACK covers the PSN. The attempt is the one whose timestamp it reflects, or the
//              first if the answer came too soon for a later one.
//   lost       The first answer that covers the packet answers a later attempt, or
//              SACKs go on for two round trips and none covers the PSN.
//
// An attempt for which none of this holds stays open: "fate not seen".

#include <algorithm>

#include "analysis/traffic/traffic_analyzer.h"

namespace mrclab::analysis {

bool TrafficAnalyzer::known_by_answers(uint32_t flow) const {
  const FlowState& state = states_[flow];
  return !state.arrival_seen && state.last_answer >= 0;
}

void TrafficAnalyzer::learn_from(const TrafficSighting& s, uint32_t flow) {
  const Conversation& c = conversations_.all()[traffic_.flows[flow].conversation];
  // Our own packets are judged by captures of their receiver alone. Their answers come over several
  // ports at one instant, in no order, and what is learned here depends on the order.
  if (!c.foreign || states_[flow].arrival_seen || c.data.arrived > 0) return;
  if (states_[flow].window.empty()) return;
  if (s.opcode == Opcode::kNack) learn_from_nack(s, flow);
  if (s.opcode == Opcode::kSack) learn_from_sack(s, flow);
}

/// The attempt that an answer is about: the only one there is, or the only one with the reflected
/// timestamp; null if that does not decide.
TrafficAttempt* TrafficAnalyzer::attempt_answered(PsnSlot& slot, uint16_t timestamp) {
  if (slot.attempts == 1) return &slot.first;
  if (timestamp == 0) return nullptr;
  TrafficAttempt* found = slot.first.timestamp == timestamp ? &slot.first : nullptr;
  unsigned walked = 0;
  for (uint32_t at = slot.later; at != TrafficAttempt::kNone && walked < slot.attempts; ++walked) {
    AttemptPool::Link& link = later_[at];
    at = link.previous;
    if (link.attempt.timestamp != timestamp) continue;
    if (found != nullptr) return nullptr;
    found = &link.attempt;
  }
  return found;
}

void TrafficAnalyzer::learn_from_nack(const TrafficSighting& s, uint32_t flow) {
  const auto reason = static_cast<NackReason>(s.answer.nack_reason);
  const bool last_hop = reason == NackReason::kTrimmedLastHop;
  if (reason != NackReason::kTrimmed && !last_hop) return;
  PsnWindow& window = states_[flow].window;
  PsnSlot* slot = window.find(window.number_of(s.answer.trigger));
  if (slot == nullptr || slot->attempts == 0) return;
  TrafficAttempt* attempt = attempt_answered(*slot, s.answer.timestamp);
  if (attempt == nullptr || attempt->fate != Fate::kInFlight) return;
  attempt->fate = Fate::kTrimmed;
  ++traffic_.flows[flow].trimmed;
  ++(last_hop ? traffic_.counters.trimmed_last_hop : traffic_.counters.trimmed_inside);
  FlowPath& path = traffic_.paths[attempt->path];
  ++path.trimmed;
  ++plane(path.plane).trimmed;
}

void TrafficAnalyzer::learn_from_sack(const TrafficSighting& s, uint32_t flow) {
  FlowState& state = states_[flow];
  state.last_answer = s.t.ps();
  const int64_t cumulative = state.window.number_of(s.answer.cumulative);
  if (!s.answer.probe) {
    // The packet that triggered the SACK has arrived, even if it is not clear with which attempt.
    PsnSlot* slot = state.window.find(state.window.number_of(s.answer.trigger));
    TrafficAttempt* attempt = slot != nullptr && slot->attempts > 0
                                  ? attempt_answered(*slot, s.answer.timestamp)
                                  : nullptr;
    if (attempt != nullptr) note_arrival(s, flow, *slot, *attempt);
    if (slot != nullptr && slot->attempts > 0) {
      acknowledge(s, flow, state.window.number_of(s.answer.trigger));
    }
  }
  state.acknowledged = std::max(state.acknowledged, state.window.base() - 1);
  const int64_t until = std::min(cumulative, state.window.highest());
  for (; state.acknowledged < until; ++state.acknowledged) {
    acknowledge(s, flow, state.acknowledged + 1);
  }
  for (uint64_t bits = s.answer.bitmap; bits != 0; bits &= bits - 1) {
    acknowledge(s, flow, cumulative + s.answer.bitmap_offset + __builtin_ctzll(bits));
  }
}

/// The attempt has arrived. If no earlier answer covered the packet, the attempts before it are
/// given up as lost; an answer to one of them that comes later shows that it was merely late.
void TrafficAnalyzer::note_arrival(const TrafficSighting& s, uint32_t flow, PsnSlot& slot,
                                   TrafficAttempt& arrived) {
  if (arrived.fate == Fate::kDelivered || arrived.fate == Fate::kTrimmed) return;
  arrived.fate = Fate::kDelivered;
  // Answers that come over several ports at one instant count as the first, all of them.
  if (slot.finished() && slot.arrived != s.t.ps()) {
    ++traffic_.flows[flow].duplicates;
    return;
  }
  const auto give_up = [&](TrafficAttempt& earlier) {
    if (earlier.fate == Fate::kInFlight && earlier.sent < arrived.sent) {
      earlier.fate = Fate::kDropped;
    }
  };
  give_up(slot.first);
  unsigned walked = 0;
  for (uint32_t at = slot.later; at != TrafficAttempt::kNone && walked < slot.attempts; ++walked) {
    give_up(later_[at].attempt);
    at = later_[at].previous;
  }
}

void TrafficAnalyzer::acknowledge(const TrafficSighting& s, uint32_t flow, int64_t number) {
  PsnSlot* slot = states_[flow].window.find(number);
  if (slot == nullptr || slot->attempts == 0 || slot->finished()) return;
  TrafficFlow& f = traffic_.flows[flow];
  slot->arrived = s.t.ps();
  ++f.acknowledged;
  if (slot->first.fate != Fate::kInFlight) return;
  // An answer that comes too soon for the second attempt is about the first.
  int64_t second = INT64_MAX;
  for (uint32_t at = slot->later; at != TrafficAttempt::kNone; at = later_[at].previous) {
    if (later_[at].attempt.fate == Fate::kDelivered) return;
    second = std::min(second, later_[at].attempt.sent);
  }
  if (slot->attempts == 1 || s.t.ps() <= second + f.rtt_min_ps) {
    slot->first.fate = Fate::kDelivered;
  }
}

bool TrafficAnalyzer::lost_by_answers(uint32_t flow, const PsnSlot& slot,
                                      const TrafficAttempt& attempt) const {
  if (!known_by_answers(flow) || attempt.sent == TrafficAttempt::kUnseen) return false;
  const int64_t longest = traffic_.flows[flow].rtt_max_ps;
  return !slot.finished() && longest > 0 && states_[flow].last_answer - attempt.sent > 2 * longest;
}

}  // namespace mrclab::analysis
