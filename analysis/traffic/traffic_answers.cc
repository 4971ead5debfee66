// SACKs, NACKs, ACKs and probes.

#include "analysis/traffic/traffic_analyzer.h"

namespace mrclab::analysis {

/// Was the packet sent on the path that an answer reflects, by an attempt
/// that is not known to be lost?
bool TrafficAnalyzer::may_answer(EntropyValue reflected, const PsnSlot& slot) {
  const auto fits = [&](const TrafficAttempt& attempt) {
    return attempt.ev == reflected && attempt.fate != Fate::kDropped;
  };
  bool any = fits(slot.first);
  unsigned walked = 0;
  for (uint32_t at = slot.later; at != kNone && !any && walked < slot.attempts; ++walked) {
    any = fits(later_[at].attempt);
    at = later_[at].previous;
  }
  return any;
}

uint32_t TrafficAnalyzer::flow_answered_by(const TrafficSighting& s) {
  if (answered_by_conversation_.size() <= s.conversation) {
    answered_by_conversation_.resize(s.conversation + 1, kNone);
  }
  uint32_t& known = answered_by_conversation_[s.conversation];
  if (known != kNone) return known;
  // An answer names the sender's QP, data names the receiver's: nothing on the wire ties the two
  // together but the packet that triggered the answer, by its PSN and reflected EV.
  if (s.opcode != Opcode::kSack && s.opcode != Opcode::kNack) return kNone;
  const Conversation& c = conversations_.all()[s.conversation];
  const uint32_t pair = pair_index_.find(conversation_key(c.destination, c.source, Qpn{}));
  if (pair == kNone) return kNone;
  uint32_t found = kNone;
  for (const uint32_t flow : flows_between_[pair]) {
    PsnWindow& window = states_[flow].window;
    if (window.empty()) continue;
    PsnSlot* slot = window.find(window.number_of(s.answer.trigger));
    if (slot == nullptr || slot->attempts == 0) continue;
    if (!may_answer(s.answer.ev, *slot)) continue;
    if (found != kNone) return kNone;  // two QPs fit: a later answer may fit one only
    found = flow;
  }
  known = found;
  return found;
}

void TrafficAnalyzer::on_answer(const TrafficSighting& s) {
  if (s.opcode == Opcode::kEndpointResponse) return on_endpoint_answer(s);
  AnswerGroup& group = group_of(s.conversation);
  group.sacks += s.opcode == Opcode::kSack ? 1 : 0;
  group.nacks += s.opcode == Opcode::kNack ? 1 : 0;
  group.acks += s.opcode == Opcode::kAcknowledge ? 1 : 0;
  if (s.foreign) return on_foreign_answer(s, group);
  const uint32_t flow = flow_answered_by(s);
  if (flow == kNone) {
    if (s.opcode != Opcode::kAcknowledge) ++traffic_.counters.answers_unmatched;
    return;
  }
  group.flow = flow;
  group.by = MatchedBy::kPsnAndEv;
  take_answer(s, flow);
}

void TrafficAnalyzer::take_answer(const TrafficSighting& s, uint32_t flow) {
  TrafficCounters& counters = traffic_.counters;
  // The paths of answers are kept apart from those of data by a bit that no flow number reaches.
  const uint32_t path = path_of_flow(flow | kAnswerPaths, s);
  if (path == kNone) {
    ++counters.over_limit;
    return;
  }
  const Side side = side_of(s, conversations_[s.conversation].answers, path);
  if (side.sent && !s.answer.probe && s.opcode == Opcode::kSack) {
    PsnWindow& window = states_[flow].window;
    const PsnSlot* slot = window.find(window.number_of(s.answer.trigger));
    const bool seen = states_[flow].arrival_seen;
    if (seen && slot != nullptr && slot->finished() && s.t.ps() >= slot->arrived &&
        slot->attempts == 1) {
      traffic_.answer_ns.add(static_cast<uint64_t>(s.t.ps() - slot->arrived) / 1000);
    }
  }
  const bool sender_captured = conversations_[s.conversation].answers.arrived > 0;
  if (sender_captured ? side.arrived : side.sent) {
    count_answer(s, traffic_.flows[flow]);
    if (s.answer.probe) {
      on_probe_answer(s, flow);
    } else if (side.arrived && s.opcode == Opcode::kSack) {
      take_rtt(s, flow);
    }
    learn_from(s, flow);
  }
}

/// To a probe of a path between two hosts, or to a port status.
void TrafficAnalyzer::on_endpoint_answer(const TrafficSighting& s) {
  const Conversation& c = conversations_.all()[s.conversation];
  const uint32_t asked = conversations_.find(c.destination, c.source, kEndpointQpn);
  if (!s.answer.probe || asked == ConversationTable::kNone) return;
  const uint32_t flow = flow_of(asked);
  const uint32_t path = path_of_flow(flow, s), way = path_of_flow(flow | kAnswerPaths, s);
  if (path == kNone || way == kNone) {
    ++traffic_.counters.over_limit;
    return;
  }
  const Side side = side_of(s, c.answers, way);
  if (c.answers.arrived > 0 ? !side.arrived : !side.sent) return;
  ++traffic_.counters.probe_answers;
  path_states_[path].probe_answered = s.t.ps();
}

void TrafficAnalyzer::count_answer(const TrafficSighting& s, TrafficFlow& flow) {
  TrafficCounters& counters = traffic_.counters;
  switch (s.opcode) {
    case Opcode::kSack: {
      ++counters.sacks;
      ++flow.sacks;
      const uint64_t bits = s.answer.bitmap;
      if (bits != 0) {
        const int top = 63 - __builtin_clzll(bits) + s.answer.bitmap_offset;
        traffic_.sack_span.add(top > 0 ? static_cast<uint64_t>(top) : 0);
        // Bits from the lowest to the highest, all set: no gap beside the one below them.
        const uint64_t shifted = bits >> __builtin_ctzll(bits);
        const bool beyond = __builtin_ctzll(bits) + s.answer.bitmap_offset > 1;
        if (beyond || (shifted & (shifted + 1)) != 0) ++counters.sacks_with_holes;
      } else {
        traffic_.sack_span.add(0);
      }
      if (s.answer.mark == SackMark::kSkipOnce) ++counters.marks_skip_once;
      if (s.answer.mark == SackMark::kAlwaysSkip) ++counters.marks_always_skip;
      break;
    }
    case Opcode::kNack:
      ++counters.nacks;
      ++flow.nacks;
      ++counters.nack_reasons[s.answer.nack_reason];
      break;
    default: ++counters.acks; ++flow.acks;
  }
}

void TrafficAnalyzer::take_rtt(const TrafficSighting& s, uint32_t flow) {
  FlowState& state = states_[flow];
  TrafficFlow& f = traffic_.flows[flow];
  if (state.has_offset) {
    const auto now =
        static_cast<uint16_t>(s.t.ps() / state.timestamp_unit_ps + state.timestamp_offset);
    const auto age = static_cast<uint16_t>(now - s.answer.timestamp);
    traffic_.timestamp_rtt_ns.add(age * static_cast<uint64_t>(state.timestamp_unit_ps) / 1000);
  }
  PsnSlot* slot = state.window.find(state.window.number_of(s.answer.trigger));
  // Karn's rule (RFC 6298 §3): which transmission of a retransmitted packet was answered is not known.
  if (slot == nullptr || slot->attempts != 1) return;
  // Other implementations may reflect another entropy value, but a reflected timestamp that is not
  // the packet's shows that another packet was answered.
  const bool other = s.foreign ? s.answer.timestamp != 0 && slot->first.timestamp != 0 &&
                                     s.answer.timestamp != slot->first.timestamp
                               : slot->first.ev != s.answer.ev;
  if (other) return;
  if (slot->first.sent == TrafficAttempt::kUnseen || s.t.ps() < slot->first.sent) return;
  const int64_t rtt = s.t.ps() - slot->first.sent;
  traffic_.rtt_ns.add(static_cast<uint64_t>(rtt) / 1000);
  plane(traffic_.paths[slot->first.path].plane).rtt_ns.add(static_cast<uint64_t>(rtt) / 1000);
  f.rtt_min_ps = f.rtts == 0 ? rtt : std::min(f.rtt_min_ps, rtt);
  f.rtt_max_ps = std::max(f.rtt_max_ps, rtt);
  f.rtt_sum_ps += rtt;
  ++f.rtts;
}

/// A probe request of a QP, or an endpoint request: port status, or a probe
/// of a path between hosts.
void TrafficAnalyzer::on_probe(const TrafficSighting& s) {
  const uint32_t flow = flow_of(s.conversation);
  const uint32_t path = path_of_flow(flow, s);
  if (path == kNone) {
    ++traffic_.counters.over_limit;
    return;
  }
  const Conversation& c = conversations_.all()[s.conversation];
  const bool request = s.opcode == Opcode::kEndpointRequest;
  if (!side_of(s, request ? c.answers : c.data, path).sent) return;
  if (!s.answer.probe) {
    ++traffic_.counters.port_updates;
    return;
  }
  ++traffic_.counters.probes;
  ++traffic_.flows[flow].probes;
  PathState& state = path_states_[path];
  state.probe_sent = s.t.ps();
  state.probe_id = s.answer.probe_id;
  // A foreign answer need not name the path that its probe took, so the probe's number is kept.
  if (s.foreign && probe_paths_.size() < kMaxProbes) {
    probe_paths_[uint64_t{flow} << 16 | s.answer.probe_id] = path;
  }
}

void TrafficAnalyzer::on_probe_answer(const TrafficSighting& s, uint32_t flow) {
  ++traffic_.counters.probe_answers;
  uint32_t path = known_path(flow, s.answer.ev);
  const auto asked = probe_paths_.find(uint64_t{flow} << 16 | s.answer.probe_id);
  if (s.foreign && asked != probe_paths_.end()) {
    path = asked->second;
    probe_paths_.erase(asked);
  }
  if (path == kNone) return;
  PathState& state = path_states_[path];
  state.probe_answered = s.t.ps();
  if (state.probe_sent < 0 || state.probe_id != s.answer.probe_id) return;
  if (s.t.ps() >= state.probe_sent) {
    traffic_.probe_rtt_ns.add(static_cast<uint64_t>(s.t.ps() - state.probe_sent) / 1000);
  }
  state.probe_sent = -1;
}

/// Was a probe of this path answered, one of the QP or one between the two hosts?
bool TrafficAnalyzer::probed_since(uint32_t flow, EntropyValue ev, FabricTime since) const {
  const auto answered = [&](uint32_t owner) {
    const uint32_t path =
        owner == kNone ? kNone : path_index_.find(uint64_t{owner} << 32 | ev.value);
    return path != kNone && path_states_[path].probe_answered > since.ps();
  };
  const Conversation& c = conversations_.all()[traffic_.flows[flow].conversation];
  const uint32_t hosts = conversations_.find(c.source, c.destination, kEndpointQpn);
  return answered(flow) ||
         (hosts < flow_of_conversation_.size() && answered(flow_of_conversation_[hosts]));
}

}  // namespace mrclab::analysis
