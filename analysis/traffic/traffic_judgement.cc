// Attempts of one packet, judged when the window has passed it.

#include <algorithm>

#include "analysis/traffic/traffic_analyzer.h"

namespace mrclab::analysis {
namespace {

/// No real sender transmits a packet as often; a forged capture may show it.
constexpr unsigned kMaxWalked = 64;

/// A packet is not held up longer than this many times the longest way across that the captures show, while others of
/// its flow arrive by other paths: full queues at every switch take less (our choice, as
/// PacketHistory::kLostAfterRtts).
constexpr int64_t kLongestWaits = 16;
/// The same for a packet whose retransmission has arrived (our choice: twice what both take).
constexpr int64_t kLongestWaitsRepeated = 4;

}  // namespace

/// Can a frame that was seen on the path `later` have been on the path `earlier` before? Foreign
/// packets may all have one entropy value, so their carriers must agree as well.
bool TrafficAnalyzer::may_lead_to(EntropyValue earlier, EntropyValue later) const {
  const size_t from = earlier.value - ForeignPaths::kFirst, to = later.value - ForeignPaths::kFirst;
  if (earlier == later || paths_ == nullptr || format_ == nullptr) return true;
  if (std::max(from, to) >= paths_->all().size()) return true;
  const ForeignPath &a = paths_->all()[from], &b = paths_->all()[to];
  if (a.plane != kNoPlane && b.plane != kNoPlane && a.plane != b.plane) return false;
  const Ipv6Address none{};
  return a.carrier == none || b.carrier == none ||
         format_->carriers.may_become(a.carrier, b.carrier);
}

AttemptChoice<TrafficAttempt*> TrafficAnalyzer::attempts_of(const TrafficSighting& s,
                                                            PsnSlot& slot) {
  AttemptChoice<TrafficAttempt*> choice;
  const auto offer = [&](TrafficAttempt& attempt) {
    if (!attempt.mark().agrees(s.mark())) return;
    if (s.foreign && !may_lead_to(traffic_.paths[attempt.path].ev, s.path)) return;
    choice.offer(&attempt, attempt.fate == Fate::kInFlight);
  };
  unsigned walked = 0;
  for (uint32_t at = slot.later; at != TrafficAttempt::kNone && walked < kMaxWalked; ++walked) {
    AttemptPool::Link& link = later_[at];
    offer(link.attempt);
    at = link.previous;
  }
  if (slot.attempts > 0) offer(slot.first);
  return choice;
}

TrafficAttempt* TrafficAnalyzer::add_attempt(PsnSlot& slot, const TrafficAttempt& attempt) {
  if (slot.attempts >= kMaxWalked) return nullptr;
  const uint32_t added = later_.keep_attempt(attempt, slot.later);
  if (added == TrafficAttempt::kNone) return nullptr;
  slot.later = added;
  ++slot.attempts;
  return &later_[added].attempt;
}

void TrafficAnalyzer::retire(uint32_t flow, int64_t, PsnSlot& slot) {
  judge_attempt(flow, slot, slot.first);
  if (slot.later != TrafficAttempt::kNone) {
    for (uint32_t at = slot.later; at != TrafficAttempt::kNone; at = later_[at].previous) {
      judge_attempt(flow, slot, later_[at].attempt);
    }
    judge_need(traffic_.flows[flow], slot);
    later_.free_chain(slot.later);
  }
}

/// Would the capture have shown its arrival, if it had come? A path keeps the order of its data, so what was sent there
/// later and has arrived shows it; where switches spray over ways that look alike it must have been away for twice the
/// longest time across as well. Without such a packet it may wait: in a queue, behind a pause, or because the capture
/// ends.
bool TrafficAnalyzer::overtaken(const FlowState& flow, const PathState& path, const PsnSlot& slot,
                                const TrafficAttempt& attempt) const {
  if (!flow.arrival_seen || attempt.sent == TrafficAttempt::kUnseen) return false;
  const bool on_its_path =
      path.newest_arrived > attempt.sent && (path.newest_came - attempt.sent) / 2 > grace_ps_;
  const int64_t waits = slot.finished() ? kLongestWaitsRepeated : kLongestWaits;
  return on_its_path || (flow.last_arrival - attempt.sent) / waits > grace_ps_;
}

/// Lost or not; and if so, whether the sender could have noticed that its path was broken: the first
/// of an unbroken row of losses there was sent more than a round trip before.
void TrafficAnalyzer::judge_attempt(uint32_t flow, const PsnSlot& slot,
                                    const TrafficAttempt& attempt) {
  TrafficFlow& f = traffic_.flows[flow];
  PathState& state = path_states_[attempt.path];
  if (attempt.fate == Fate::kDelivered || attempt.fate == Fate::kTrimmed || attempt.refused) {
    state.last_good = std::max(state.last_good, attempt.sent);
    return;
  }
  if (attempt.cut) {  // and its header did not arrive, or not yet
    ++f.trimmed;
    ++traffic_.paths[attempt.path].trimmed;
    ++plane(traffic_.paths[attempt.path].plane).trimmed;
  }
  const bool named = attempt.fate == Fate::kDropped;
  if (!named && !overtaken(states_[flow], state, slot, attempt) &&
      !lost_by_answers(flow, slot, attempt)) {
    ++f.open;
    return;
  }
  FlowPath& path = traffic_.paths[attempt.path];
  ++f.lost;
  ++path.lost;
  ++plane(path.plane).lost;
  if (state.losing_since < 0 || state.last_good > state.losing_since) {
    state.losing_since = attempt.sent;
  }
  const int64_t rtt = static_cast<int64_t>(traffic_.rtt_ns.quantile(0.5)) * 1000;
  if (rtt > 0 && attempt.sent > state.losing_since + rtt) ++path.lost_too_late;
}

/// Was each attempt after the first needed? Not, if an earlier one arrived.
void TrafficAnalyzer::judge_need(TrafficFlow& flow, PsnSlot& slot) {
  const uint32_t number = flow_of_conversation_[flow.conversation];
  // Where only answers are seen, the need is known if they name the attempt that arrived.
  const auto arrived = [](const TrafficAttempt& a) { return a.fate == Fate::kDelivered; };
  bool known = states_[number].arrival_seen;
  // From the newest to the oldest; `earlier`: whether any attempt before one arrived.
  std::array<TrafficAttempt*, kMaxWalked> attempts{};
  size_t count = 0;
  for (uint32_t at = slot.later; at != TrafficAttempt::kNone && count < attempts.size();
       at = later_[at].previous) {
    attempts[count++] = &later_[at].attempt;
  }
  bool earlier = arrived(slot.first);
  if (known_by_answers(number)) {
    known = earlier || std::any_of(attempts.begin(), attempts.begin() + static_cast<long>(count),
                                   [&](const TrafficAttempt* a) { return arrived(*a); });
  }
  while (count > 0) {
    const TrafficAttempt& attempt = *attempts[--count];
    if (!known) {
      ++flow.need_unknown;
    } else if (!earlier) {
      ++flow.needed;
    } else {
      ++(attempt.packet_there ? flow.needless_there : flow.needless_underway);
    }
    earlier = earlier || arrived(attempt);
  }
}

void TrafficAnalyzer::change(FabricTime t, uint32_t flow, EntropyValue ev, bool back, bool probed) {
  if (traffic_.changes.size() >= kMaxEvChanges) {
    traffic_.changes_cut = true;
    return;
  }
  traffic_.changes.push_back({t, flow, ev, back, probed});
}

Traffic TrafficAnalyzer::finish() {
  settle_what_waits();
  for (uint32_t flow = 0; flow < states_.size(); ++flow) {
    states_[flow].window.retire_all(
        [&](int64_t number, PsnSlot& slot) { retire(flow, number, slot); });
    traffic_.flows[flow].by_arrivals = states_[flow].arrival_seen;
    traffic_.flows[flow].by_answers = known_by_answers(flow);
  }
  for (size_t i = 0; i < traffic_.paths.size(); ++i) {
    FlowPath& path = traffic_.paths[i];
    if (path.packets == 0 || !away(traffic_.flows[path.flow], path_states_[i])) continue;
    ++path.times_left;
    change(path.last_use, path.flow, path.ev, false, false);
  }
  // Paths that only answers took are not the flow's.
  std::erase_if(traffic_.paths, [](const FlowPath& p) { return (p.flow & kAnswerPaths) != 0; });
  std::stable_sort(traffic_.changes.begin(), traffic_.changes.end(),
                   [](const EvChange& a, const EvChange& b) { return a.t < b.t; });
  traffic_.conversations = conversations_.all();
  return std::move(traffic_);
}

}  // namespace mrclab::analysis
