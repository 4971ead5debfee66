// Data packets that leave and arrive. Drops are in traffic_drops.cc, answers in traffic_answers.cc,
// the judgement of a packet when its window closes in traffic_judgement.cc.

#include "analysis/traffic/traffic_analyzer.h"

#include <algorithm>
#include <utility>

namespace mrclab::analysis {
namespace {

/// Shorter than any round trip: nothing is known of the fabric here.
constexpr FabricTime kCopyGap = FabricTime::from_us(2);

uint32_t plane_number(EntropyValue ev) {
  const std::optional<Path> path = path_of(ev);
  return path && path->plane < kNoPlane ? path->plane : kNoPlane;
}

}  // namespace

void PlaneBins::count_bytes(uint32_t plane, FabricTime t, uint64_t amount) {
  const FabricTime at = std::max(t, FabricTime::zero());
  while (at / width >= static_cast<int64_t>(kBins)) {
    for (auto& row : bytes) {
      for (size_t i = 0; i < kBins; ++i) {
        row[i] = 2 * i < kBins ? row[2 * i] + row[2 * i + 1] : 0;
      }
    }
    width = width * 2;
  }
  if (bytes.size() <= plane) bytes.resize(plane + 1);
  bytes[plane][static_cast<size_t>(at / width)] += amount;
}

TrafficAnalyzer::TrafficAnalyzer(ConversationTable& conversations, TrafficFilter filter,
                                 const ForeignPaths* paths, const LearnedFormat* format,
                                 const DscpMap& dscps)
    : conversations_(conversations),
      filter_(filter),
      paths_(paths),
      format_(format),
      dscps_(dscps) {}

bool TrafficAnalyzer::wanted(const TrafficSighting& s) const {
  if (s.t < filter_.from || s.t >= filter_.until) return false;
  if (!filter_.names_packets()) return true;
  const Conversation& c = conversations_.all()[s.conversation];
  const bool forward = is_write(s.opcode) || s.opcode == Opcode::kProbeRequest;
  if (filter_.qp && forward && c.qp != *filter_.qp) return false;
  if (filter_.between) {
    const auto& [a, b] = *filter_.between;
    if (!(c.source == a && c.destination == b) && !(c.source == b && c.destination == a)) {
      return false;
    }
  }
  const bool answers = s.opcode == Opcode::kSack || s.opcode == Opcode::kNack;
  if (s.foreign) {  // the path of an answer is known only with the packet that it answers
    if (!is_write(s.opcode)) return true;
    if (filter_.plane && s.plane != *filter_.plane) return false;
    return !filter_.ev || s.ev == *filter_.ev || shown_entropy(s.path) == filter_.ev;
  }
  const EntropyValue ev = answers ? s.answer.ev : s.ev;
  if (filter_.ev && ev != *filter_.ev) return false;
  return !filter_.plane || plane_number(ev) == *filter_.plane;
}

/// The entropy value as the tables show it.
std::optional<EntropyValue> TrafficAnalyzer::shown_entropy(EntropyValue path) const {
  const uint32_t index = path.value - ForeignPaths::kFirst;
  if (paths_ == nullptr || index >= paths_->all().size()) return std::nullopt;
  return EntropyValue{paths_->all()[index].entropy};
}

void TrafficAnalyzer::add_sighting(const TrafficSighting& s) {
  TrafficCounters& counters = traffic_.counters;
  if (!wanted(s)) {
    ++counters.filtered;
    return;
  }
  traffic_.first = std::min(traffic_.first, s.t);
  traffic_.last = std::max(traffic_.last, s.t);
  const bool data = is_write(s.opcode);
  if (s.point < traffic_.points.size()) {
    CapturePoint& point = traffic_.points[s.point];
    ++point.records;
    ++point.at_stage[static_cast<size_t>(s.stage)];
    point.data += data ? 1 : 0;
    point.marked += data && s.marked() ? 1 : 0;
    point.trimmed += s.event == PacketEvent::kTrimmed ? 1 : 0;
    point.dropped += s.event == PacketEvent::kDropped ? 1 : 0;
    point.first = std::min(point.first, s.t);
    point.last = std::max(point.last, s.t);
  }
  if (s.event == PacketEvent::kDropped) {
    ++counters.drops[static_cast<size_t>(s.cause)];
    if (data) return on_drop(s);
    ++counters.dropped_control;
  } else if (data) {
    ++counters.data_frames;
    on_data(s);
  } else if (s.opcode == Opcode::kProbeRequest || s.opcode == Opcode::kEndpointRequest) {
    ++counters.probe_frames;
    on_probe(s);
  } else {
    ++counters.answer_frames;
    on_answer(s);
  }
}

/// Does this sighting count as leaving or as arriving? Each frame may be seen
/// at several points: of them the one nearest to the sender, and the one
/// nearest to the receiver, count; of two that are equally near, the first that
/// turned up, as long as its file goes on (captures are cut into several).
TrafficAnalyzer::Side TrafficAnalyzer::side_of(const TrafficSighting& s,
                                               Conversation::Vantage vantage, uint32_t path) {
  PathPoints& counting = path_points_[path];
  const auto counts = [&](uint32_t& point) {
    const std::vector<CapturePoint>& points = traffic_.points;
    if (point == kNone || (point < points.size() && s.ended > points[point].ended)) point = s.point;
    return point == s.point;
  };
  Side side;
  if (sent_rank(s) == vantage.sent) side.sent = counts(counting.sent);
  if (vantage.arrived > 0 && arrived_rank(s) == vantage.arrived) {
    side.arrived = counts(counting.arrived);
  }
  if (!side.sent && !side.arrived) ++traffic_.counters.passing;
  return side;
}

uint32_t TrafficAnalyzer::flow_of(uint32_t conversation) {
  if (flow_of_conversation_.size() <= conversation) {
    flow_of_conversation_.resize(conversation + 1, kNone);
  }
  uint32_t& flow = flow_of_conversation_[conversation];
  if (flow != kNone) return flow;
  flow = static_cast<uint32_t>(traffic_.flows.size());
  traffic_.flows.emplace_back().conversation = conversation;
  states_.emplace_back();
  const Conversation& c = conversations_.all()[conversation];
  const uint32_t pair = pair_index_.find_or_add(conversation_key(c.source, c.destination, Qpn{}),
                                                static_cast<uint32_t>(flows_between_.size()));
  if (pair == flows_between_.size()) flows_between_.emplace_back();
  if (pair < flows_between_.size() && flows_between_[pair].size() < kMaxCandidates) {
    flows_between_[pair].push_back(flow);
  }
  return flow;
}

uint32_t TrafficAnalyzer::path_of_flow(uint32_t flow, const TrafficSighting& s) {
  const EntropyValue name = s.foreign ? s.path : s.ev;
  const auto next = static_cast<uint32_t>(traffic_.paths.size());
  const uint32_t path = path_index_.find_or_add(uint64_t{flow} << 32 | name.value, next);
  if (path == next) {
    FlowPath& added = traffic_.paths.emplace_back();
    added.flow = flow;
    added.ev = name;
    added.plane = s.foreign ? s.plane : plane_number(name);
    path_states_.emplace_back();
    path_points_.emplace_back();
  }
  return path;
}

/// path_of_flow(). Of a packet's many sightings only the first needs to look for it.
uint32_t TrafficAnalyzer::path_of_data(uint32_t flow, const TrafficSighting& s) {
  PsnWindow& window = states_[flow].window;
  const PsnSlot* const slot = window.find(window.number_of(s.psn));
  const bool same = slot != nullptr && slot->attempts > 0 && slot->first.ev == s.ev && !s.foreign;
  return same ? slot->first.path : path_of_flow(flow, s);
}

PlaneTraffic& TrafficAnalyzer::plane(uint32_t number) {
  if (traffic_.planes.size() <= number) traffic_.planes.resize(number + 1);
  traffic_.planes[number].seen = true;
  return traffic_.planes[number];
}

PsnSlot* TrafficAnalyzer::open_slot(uint32_t flow, Psn psn) {
  return states_[flow].window.open(
      psn, spare_slots_, [&](int64_t number, PsnSlot& slot) { retire(flow, number, slot); });
}

void TrafficAnalyzer::on_data(const TrafficSighting& s) {
  const uint32_t flow = flow_of(s.conversation);
  const uint32_t path = path_of_data(flow, s);
  if (path == kNone) {
    ++traffic_.counters.over_limit;
    return;
  }
  const Side side = side_of(s, conversations_[s.conversation].data, path);
  TrafficFlow& f = traffic_.flows[flow];
  f.first_seen = std::min(f.first_seen, s.t);
  f.last_seen = std::max(f.last_seen, s.t);
  if (s.event == PacketEvent::kTrimmed) {
    PsnWindow& window = states_[flow].window;
    PsnSlot* slot = window.empty() ? nullptr : window.find(window.number_of(s.psn));
    const auto attempt = slot ? attempts_of(s, *slot).open() : std::nullopt;
    if (attempt) (*attempt)->cut = true;
  }
  if (side.sent) on_sent(s, flow, path);
  if (side.arrived) on_arrived(s, flow, path);
  if (s.marked() || s.trimmed) note_place(s, flow);
}

/// Where was it marked, or trimmed? Nearest to where it was first seen so.
void TrafficAnalyzer::note_place(const TrafficSighting& s, uint32_t flow) {
  PsnWindow& window = states_[flow].window;
  PsnSlot* slot = window.find(window.number_of(s.psn));
  if (slot == nullptr || s.point >= traffic_.points.size()) return;
  const auto newest = attempts_of(s, *slot).newest();
  if (!newest) return;
  TrafficAttempt* const attempt = *newest;
  CapturePoint& point = traffic_.points[s.point];
  if (s.marked() && !std::exchange(attempt->seen_marked, true)) ++point.first_marked;
  if (s.trimmed && !std::exchange(attempt->seen_trimmed, true)) ++point.first_trimmed;
}

TrafficAttempt TrafficAnalyzer::attempt_of(const TrafficSighting& s, uint32_t path, int64_t sent,
                                           bool there) {
  TrafficAttempt attempt;
  attempt.sent = sent;
  attempt.ev = s.ev;
  attempt.packet_there = there;
  attempt.rtx = s.retransmission;
  attempt.timed = s.timed;
  attempt.timestamp = s.timestamp;
  attempt.path = path;
  return attempt;
}

bool TrafficAnalyzer::is_copy(const TrafficSighting& s, const PsnSlot& slot) {
  const TrafficAttempt& last = slot.later == kNone ? slot.first : later_[slot.later].attempt;
  return last.sent != TrafficAttempt::kUnseen &&
         s.mark().copies(last.mark(), s.t - FabricTime::from_ps(last.sent), kCopyGap);
}

void TrafficAnalyzer::on_sent(const TrafficSighting& s, uint32_t flow, uint32_t path) {
  TrafficFlow& f = traffic_.flows[flow];
  FlowState& state = states_[flow];
  if (s.timed && !s.trimmed) {
    state.timestamp_unit_ps = s.coarse_timestamp ? 1'000'000 : 128'000;
    state.timestamp_offset =
        static_cast<uint16_t>(s.timestamp - s.t.ps() / state.timestamp_unit_ps);
    state.has_offset = true;
  }
  PsnSlot* slot = open_slot(flow, s.psn);
  if (slot == nullptr) {
    ++traffic_.counters.behind;
    f.resent += s.retransmission ? 1 : 0;
    return;
  }
  const TrafficAttempt attempt = attempt_of(s, path, s.t.ps(), slot->finished());
  if (slot->attempts > 0) {
    if (is_copy(s, *slot)) {
      ++traffic_.counters.copies;
      return;
    }
    if (!s.retransmission) ++traffic_.counters.rtx_bit_wrong;
    ++f.resent;
    ++traffic_.paths[path].resent;
    ++plane(traffic_.paths[path].plane).resent;
    if (add_attempt(*slot, attempt) == nullptr) ++traffic_.counters.over_limit;
    return;
  }
  slot->first = attempt;
  slot->attempts = 1;
  slot->payload = static_cast<uint16_t>(std::min<uint32_t>(s.payload, UINT16_MAX));
  if (s.retransmission) {  // the packet left before the capture began, or behind a gap in it
    ++f.resent;
    ++traffic_.paths[path].resent;
    ++plane(traffic_.paths[path].plane).resent;
    return;
  }
  on_first_sent(s, flow, path);
}

void TrafficAnalyzer::on_first_sent(const TrafficSighting& s, uint32_t flow, uint32_t path) {
  TrafficFlow& f = traffic_.flows[flow];
  FlowPath& p = traffic_.paths[path];
  PathState& state = path_states_[path];
  f.first_sent = std::min(f.first_sent, s.t);
  ++f.packets;
  ++p.packets;
  ++plane(p.plane).packets;
  if (p.first_use == FabricTime::never()) {
    p.first_use = s.t;
    ++f.paths;
  } else if (away(f, state)) {
    ++p.times_left;
    change(p.last_use, flow, p.ev, false, false);
    change(s.t, flow, p.ev, true, probed_since(flow, p.ev, p.last_use));
  }
  p.last_use = s.t;
  state.last_turn = f.packets;
}

bool TrafficAnalyzer::away(const TrafficFlow& flow, const PathState& path) const {
  return flow.paths > 1 && flow.packets - path.last_turn > kTurnsAway * flow.paths;
}

void TrafficAnalyzer::on_arrived(const TrafficSighting& s, uint32_t flow, uint32_t path) {
  FlowState& state = states_[flow];
  PsnSlot* slot = open_slot(flow, s.psn);
  if (slot == nullptr) {
    ++traffic_.counters.behind;
    return;
  }
  if (!state.arrival_seen) {
    state.arrival_seen = true;
    state.complete = state.window.base();
  }
  const AttemptChoice<TrafficAttempt*> choice = attempts_of(s, *slot);
  TrafficAttempt* attempt = choice.open().value_or(nullptr);
  if (s.foreign && attempt != nullptr && attempt->sent != TrafficAttempt::kUnseen) {
    // The carrier was whole where the packet left; here switches have taken part of it.
    path = attempt->path;
  }
  if (s.marked()) {
    ++traffic_.paths[path].marked;
    ++plane(traffic_.paths[path].plane).marked;
  }
  if (attempt == nullptr && choice.ended()) {  // a wire carried it twice
    ++traffic_.counters.copies;
    if (s.trimmed) return;
    if (slot->finished()) {
      ++traffic_.flows[flow].duplicates;
      return;
    }
    attempt = *choice.ended();  // the first frame lost the payload, the second brings it
  }
  if (attempt == nullptr) {
    ++traffic_.counters.unmatched;
    const TrafficAttempt unseen = attempt_of(s, path, TrafficAttempt::kUnseen, false);
    if (slot->attempts == 0) {
      slot->first = unseen;
      slot->attempts = 1;
      slot->payload = static_cast<uint16_t>(std::min<uint32_t>(s.payload, UINT16_MAX));
      attempt = &slot->first;
    } else if (attempt = add_attempt(*slot, unseen); attempt == nullptr) {
      ++traffic_.counters.over_limit;
      return;
    }
  }
  if (attempt->sent != TrafficAttempt::kUnseen && s.t.ps() >= attempt->sent) {
    traffic_.one_way_ns.add(static_cast<uint64_t>(s.t.ps() - attempt->sent) / 1000);
    grace_ps_ = std::max(grace_ps_, s.t.ps() - attempt->sent);
  }
  state.last_arrival = std::max(state.last_arrival, s.t.ps());
  PathState& way = path_states_[attempt->path];
  // A header that a switch cut off its payload passes by what waits.
  if (!s.trimmed && attempt->sent != TrafficAttempt::kUnseen &&
      attempt->sent > way.newest_arrived) {
    way.newest_arrived = attempt->sent;
    way.newest_came = s.t.ps();
  }
  attempt->fate = s.trimmed ? Fate::kTrimmed : Fate::kDelivered;
  if (s.trimmed) return on_trimmed(s, flow, path);
  if (slot->finished()) {
    ++traffic_.flows[flow].duplicates;
    return;
  }
  slot->arrived = s.t.ps();
  on_delivered(s, flow, path, *slot, state.window.number_of(s.psn));
}

void TrafficAnalyzer::on_trimmed(const TrafficSighting& s, uint32_t flow, uint32_t path) {
  ++traffic_.flows[flow].trimmed;
  ++traffic_.paths[path].trimmed;
  ++plane(traffic_.paths[path].plane).trimmed;
  ++(dscps_.is_trimmed_last_hop(s.dscp()) ? traffic_.counters.trimmed_last_hop
                                          : traffic_.counters.trimmed_inside);
}

void TrafficAnalyzer::on_delivered(const TrafficSighting& s, uint32_t flow, uint32_t path,
                                   PsnSlot& slot, int64_t number) {
  TrafficFlow& f = traffic_.flows[flow];
  FlowPath& p = traffic_.paths[path];
  PlaneTraffic& on = plane(p.plane);
  ++f.delivered;
  f.delivered_bytes += slot.payload;
  f.last_delivered = std::max(f.last_delivered, s.t);
  ++p.delivered;
  p.delivered_bytes += slot.payload;
  ++on.delivered;
  on.delivered_bytes += slot.payload;
  if (on.last_delivery != FabricTime::never() && s.t - on.last_delivery > on.longest_gap) {
    on.longest_gap = s.t - on.last_delivery;
    on.gap_from = on.last_delivery;
  }
  on.last_delivery = s.t;
  traffic_.bins.count_bytes(p.plane, s.t - traffic_.origin, slot.payload);
  note_order(f, states_[flow], number);
}

void TrafficAnalyzer::note_order(TrafficFlow& f, FlowState& state, int64_t number) {
  if (number < state.highest_arrived) {
    const auto distance = static_cast<uint64_t>(state.highest_arrived - number);
    ++f.reordered;
    f.max_distance = std::max(f.max_distance, distance);
    traffic_.distance.add(distance);
  }
  state.highest_arrived = std::max(state.highest_arrived, number);
  if (number >= state.complete) ++state.held;
  // What fell out of the window is waited for no longer.
  if (state.complete < state.window.base()) state.complete = state.window.base();
  for (const PsnSlot* next = state.window.find(state.complete); next && next->finished();
       next = state.window.find(state.complete)) {
    ++state.complete;
    if (state.held > 0) --state.held;
  }
  traffic_.held.add(state.held);
}

}  // namespace mrclab::analysis
