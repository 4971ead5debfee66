// Which flow does a foreign answer belong to? An answer names the queue pair
// of the data's sender, data names that of its receiver, and foreign answers
// need not reflect the entropy value as it was on the wire. Of the flows
// between the two hosts, in the other direction, the answer belongs to the one
//
//   that its spdcid and dpdcid name, if these hold the low halves of both queue pair numbers, or
//   that alone has a packet with its PSN and timestamp, or with its PSN and entropy value, or
//   that alone has every PSN which was answered so far, or
//   that is the only one.
//
// An answer waits until one of these decides, and is then taken with the time at which it came.

#include <algorithm>

#include "analysis/traffic/traffic_analyzer.h"

namespace mrclab::analysis {
namespace {

constexpr uint32_t kIdMask = 0xFFFF;
/// If there is no flow between an answer's hosts, its ids are tried on this
/// many flows of other hosts.
constexpr size_t kMaxTried = 4096;
/// Bounds for hostile captures: the answers to one queue pair that are tried on flows, and the
/// rounds in which flows that have found their answers are left out.
constexpr uint32_t kMaxAnswersTried = 1024;
constexpr int kMaxRounds = 8;

Psn answered_psn(const TrafficSighting& s) {
  const bool cumulative = s.answer.probe || s.opcode == Opcode::kAcknowledge;
  return cumulative ? s.answer.cumulative : s.answer.trigger;
}

/// Does `reflected` hold the entropy value `wire`, with its halves in either order, or one of them?
bool reflects(EntropyValue reflected, EntropyValue wire) {
  const uint32_t low = wire.value & 0xFFFF, high = wire.value >> 16;
  return reflected.value != 0 && (reflected == wire || reflected.value == (low << 16 | high) ||
                                  reflected.value == low || reflected.value == high);
}

}  // namespace

AnswerGroup& TrafficAnalyzer::group_of(uint32_t conversation) {
  if (group_of_conversation_.size() <= conversation) {
    group_of_conversation_.resize(conversation + 1, kNone);
  }
  uint32_t& group = group_of_conversation_[conversation];
  if (group == kNone) {
    group = static_cast<uint32_t>(traffic_.answer_groups.size());
    traffic_.answer_groups.emplace_back().conversation = conversation;
  }
  return traffic_.answer_groups[group];
}

/// The flows that the answer may belong to: those between its hosts whose
/// answers are not known yet.
std::vector<uint32_t> TrafficAnalyzer::flows_answered_between(const TrafficSighting& s) const {
  const Conversation& c = conversations_.all()[s.conversation];
  const uint32_t pair = pair_index_.find(conversation_key(c.destination, c.source, Qpn{}));
  if (pair == kNone) return {};
  std::vector<uint32_t> flows = flows_between_[pair];
  std::erase_if(flows, [this](uint32_t flow) { return answered_flows_.contains(flow); });
  return flows;
}

TrafficAnalyzer::Likeness TrafficAnalyzer::likeness(const TrafficSighting& s, uint32_t flow) {
  PsnWindow& window = states_[flow].window;
  if (window.empty()) return Likeness::kNone;
  PsnSlot* slot = window.find(window.number_of(answered_psn(s)));
  if (slot == nullptr || slot->attempts == 0) return Likeness::kNone;
  Likeness best = Likeness::kPsn;
  const auto compare = [&](const TrafficAttempt& attempt) {
    if (s.answer.timestamp != 0 && attempt.timestamp == s.answer.timestamp) {
      best = Likeness::kTimestamp;
    } else if (reflects(s.answer.ev, attempt.ev)) {
      best = std::max(best, Likeness::kPsnAndEv);
    }
  };
  compare(slot->first);
  unsigned walked = 0;
  constexpr unsigned kMaxWalked = 64;
  for (uint32_t at = slot->later; at != TrafficAttempt::kNone && walked < kMaxWalked; ++walked) {
    compare(later_[at].attempt);
    at = later_[at].previous;
  }
  return best;
}

/// A host may have an address in every plane, and answer from another one than data was sent to. So
/// if no flow is between these addresses, flows between others are tried, with their PSNs.
std::optional<uint32_t> TrafficAnalyzer::flow_named_by_ids(const TrafficSighting& s) {
  const uint32_t from = s.answer.near_id, to = s.answer.far_id;
  if (from == 0 && to == 0) return std::nullopt;
  const uint32_t answered = conversations_.all()[s.conversation].qp.value & kIdMask;
  const auto qp_of = [&](uint32_t flow) {
    return conversations_.all()[traffic_.flows[flow].conversation].qp.value & kIdMask;
  };
  const auto only = [&](const auto& flows, size_t count, bool psn) -> std::optional<uint32_t> {
    std::optional<uint32_t> found;
    for (size_t i = 0; i < count; ++i) {
      const uint32_t flow = flows(i), qp = qp_of(flow);
      // Some implementations call the sender of the answer the source, others
      // the sender of the data.
      const bool named = (qp == from && to == answered) || (qp == to && from == answered);
      if (!named || (psn && likeness(s, flow) == Likeness::kNone)) continue;
      if (found) return std::nullopt;
      found = flow;
    }
    return found;
  };
  const std::vector<uint32_t> between = flows_answered_between(s);
  if (!between.empty()) return only([&](size_t i) { return between[i]; }, between.size(), false);
  const size_t tried = std::min({traffic_.flows.size(), kMaxTried, flows_left_to_try_});
  flows_left_to_try_ -= tried;
  return only([](size_t i) { return static_cast<uint32_t>(i); }, tried, true);
}

std::optional<uint32_t> TrafficAnalyzer::flow_answered_alone(const TrafficSighting& s,
                                                             Matching& matching, MatchedBy& by) {
  ++matching.answers;
  const std::vector<uint32_t> between = flows_answered_between(s);
  std::array<uint32_t, 4> count{}, last{};
  for (const uint32_t flow : between) {
    const auto like = static_cast<size_t>(likeness(s, flow));
    if (like == 0) continue;
    ++matching.fitting[flow];
    ++count[like];
    last[like] = flow;
  }
  if (between.size() == 1 && count[0] + count[1] + count[2] + count[3] == 1) {
    by = count[3] == 1   ? MatchedBy::kTimestamp
         : count[2] == 1 ? MatchedBy::kPsnAndEv
                         : MatchedBy::kOnlyFlow;
    return between[0];
  }
  if (count[3] == 1) {
    by = MatchedBy::kTimestamp;
    return last[3];
  }
  if (count[3] == 0 && count[2] == 1) {
    by = MatchedBy::kPsnAndEv;
    return last[2];
  }
  std::optional<uint32_t> found;
  for (const auto& [flow, fitting] : matching.fitting) {
    if (fitting < matching.answers || answered_flows_.contains(flow)) continue;
    if (found) return std::nullopt;
    found = flow;
  }
  by = MatchedBy::kPsn;
  return found;
}

void TrafficAnalyzer::on_foreign_answer(const TrafficSighting& s, AnswerGroup& group) {
  if (group.flow != kNone) return take_answer(s, group.flow);
  Matching& matching = matching_[s.conversation];
  MatchedBy by = MatchedBy::kIds;
  if (matching.answers >= kMaxAnswersTried) return hold(s, matching);
  std::optional<uint32_t> flow = flow_named_by_ids(s);
  if (!flow) flow = flow_answered_alone(s, matching, by);
  if (!flow) return hold(s, matching);
  release(matching, group, *flow, by);
  matching_.erase(s.conversation);
  take_answer(s, *flow);
}

void TrafficAnalyzer::hold(const TrafficSighting& s, Matching& matching) {
  if (matching.waiting.size() < kMaxWaitingOfGroup && waiting_ < kMaxWaiting) {
    matching.waiting.push_back(s);
    ++waiting_;
    return;
  }
  TrafficFlow nobodys;
  count_answer(s, nobodys);
  if (s.opcode != Opcode::kAcknowledge) ++traffic_.counters.answers_unmatched;
}

void TrafficAnalyzer::release(Matching& matching, AnswerGroup& group, uint32_t flow, MatchedBy by) {
  group.flow = flow;
  group.by = by;
  answered_flows_.insert(flow);
  for (const TrafficSighting& waiting : matching.waiting) take_answer(waiting, flow);
  waiting_ -= matching.waiting.size();
  matching.waiting.clear();
}

/// At the end some answers still wait, because they fit no flow or several. Each group that finds
/// its flow leaves one flow less for the others, so they are tried again in rounds.
void TrafficAnalyzer::settle_what_waits() {
  bool found = true;
  for (int round = 0; found && round < kMaxRounds; ++round) {
    found = false;
    for (auto& [conversation, matching] : matching_) {
      if (matching.waiting.empty()) continue;
      const std::vector<uint32_t> between = flows_answered_between(matching.waiting.front());
      if (between.size() != 1) continue;
      const bool fits = matching.fitting[between[0]] == matching.answers;
      release(matching, group_of(conversation), between[0],
              fits ? MatchedBy::kPsn : MatchedBy::kOnlyFlow);
      found = true;
    }
  }
  for (auto& [conversation, matching] : matching_) {
    if (matching.waiting.empty()) continue;
    group_of(conversation).candidates = flows_answered_between(matching.waiting.front()).size();
    TrafficFlow nobodys;
    for (const TrafficSighting& waiting : matching.waiting) {
      count_answer(waiting, nobodys);
      if (waiting.opcode != Opcode::kAcknowledge) ++traffic_.counters.answers_unmatched;
    }
  }
  matching_.clear();
}

}  // namespace mrclab::analysis
