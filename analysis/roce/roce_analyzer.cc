#include "analysis/roce/roce_analyzer.h"

#include <algorithm>

namespace mrclab::analysis {
namespace {

bool has_psns(IbtaTransport transport) {
  return transport == IbtaTransport::kRc || transport == IbtaTransport::kXrc ||
         transport == IbtaTransport::kUc;
}

}  // namespace

size_t RoceBins::bin_of(FabricTime t) {
  if (from == FabricTime::never()) from = t;
  if (t < from) return 0;
  while (t - from >= width * static_cast<int64_t>(kBins)) {
    for (size_t i = 0; i < kBins; ++i) {
      const bool half = i < kBins / 2;
      bytes[i] = half ? bytes[2 * i] + bytes[2 * i + 1] : 0;
      cnps[i] = half ? cnps[2 * i] + cnps[2 * i + 1] : 0;
      marked[i] = half ? marked[2 * i] + marked[2 * i + 1] : 0;
    }
    width = width * 2;
  }
  return static_cast<size_t>((t - from).ps() / width.ps());
}

void RoceAnalyzer::add(const RoceSighting& s) {
  waiting_.push_back(s);
  if (waiting_.size() >= 2 * kWindow) emit(kWindow);
}

void RoceAnalyzer::emit(size_t count) {
  std::stable_sort(waiting_.begin(), waiting_.end(),
                   [](const RoceSighting& a, const RoceSighting& b) { return a.t < b.t; });
  for (size_t i = 0; i < count; ++i) take(waiting_[i]);
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
}

bool RoceAnalyzer::wanted(const RoceSighting& s) const {
  if (s.t < filter_.from || s.t >= filter_.until) return false;
  if (filter_.ev || filter_.plane) return false;  // which these packets do not have
  if (!filter_.between) return true;
  const auto& [a, b] = *filter_.between;
  const RoceFrame& f = s.frame;
  return (f.source == a && f.destination == b) || (f.source == b && f.destination == a);
}

/// Has another file shown this record already?
bool RoceAnalyzer::is_repeat(const RoceSighting& s) {
  constexpr size_t kMostAtOnce = 64;
  if (!instant_.empty() && instant_[0].t != s.t) instant_.clear();
  for (const RoceSighting& other : instant_) {
    const RoceFrame &a = other.frame, &b = s.frame;
    if (other.feed != s.feed && a.qp == b.qp && a.psn == b.psn && a.opcode == b.opcode &&
        a.hop_limit == b.hop_limit && a.source == b.source && a.destination == b.destination &&
        other.end == s.end && other.dropped == s.dropped) {
      return true;
    }
  }
  if (instant_.size() < kMostAtOnce) instant_.push_back(s);
  return false;
}

uint32_t RoceAnalyzer::flow_of(const RoceFrame& f) {
  const uint64_t sender = f.source_qp ? uint64_t{f.source_qp->value} + 1 : 0;
  const auto key = std::tuple(f.source, f.destination, sender << 32 | f.qp.value);
  const auto found = index_.find(key);
  if (found != index_.end()) return found->second;
  if (traffic_.flows.size() >= RoceTraffic::kMaxFlows) return kNone;
  const auto flow = static_cast<uint32_t>(traffic_.flows.size());
  index_.emplace(key, flow);
  RoceFlow& made = traffic_.flows.emplace_back();
  made.source = f.source;
  made.destination = f.destination;
  made.qp = f.qp;
  made.transport = f.transport();
  made.source_port = f.source_port;
  made.source_qp = f.source_qp;
  states_.emplace_back();
  std::vector<uint32_t>& between = between_[{f.source, f.destination}];
  if (between.size() < kMaxFlowsBetween) between.push_back(flow);
  return flow;
}

size_t RoceAnalyzer::place_of(State& state, const RoceSighting& s) {
  for (size_t i = 0; i < state.places.size(); ++i) {
    const Place& place = state.places[i];
    const int rank = 2 * (255 - s.frame.hop_limit) + (s.end == WireEnd::kArriving ? 1 : 0);
    if (place.point == s.point && place.rank == rank) return i;
  }
  if (state.places.size() >= kMaxPlaces) return kNone;
  Place& made = state.places.emplace_back();
  made.point = s.point;
  made.hop_limit = s.frame.hop_limit;
  made.rank = 2 * (255 - s.frame.hop_limit) + (s.end == WireEnd::kArriving ? 1 : 0);
  return state.places.size() - 1;
}

/// A mirror of both sides of a switch shows each frame twice, and no sender repeats one that fast.
bool RoceAnalyzer::is_copy(Place& place, const RoceSighting& s) {
  constexpr int64_t kCopyWithin = 2'000'000;  // ps
  const RoceFrame& f = s.frame;
  const uint64_t key = uint64_t{f.psn.value()} << 16 | uint64_t{f.opcode} << 8 |
                       f.syndrome.value_or(0) | uint64_t{f.payload} << 40;
  if (f.transport() == IbtaTransport::kCnp) return false;  // they have no number
  for (const auto& [other, t] : place.recent) {
    if (other == key && t != 0 && s.t.ps() - t < kCopyWithin) return true;
  }
  place.recent[place.recent_at++ % place.recent.size()] = {key, std::max<int64_t>(s.t.ps(), 1)};
  return false;
}

int64_t RoceAnalyzer::number_near(int64_t near, Psn psn) {
  constexpr int64_t kRoom = int64_t{1} << 24;  // so that no number is negative
  return near < 0 ? kRoom + psn.value()
                  : near + (psn - Psn{static_cast<uint32_t>(near & Psn::kMask)});
}

void RoceAnalyzer::take(const RoceSighting& s) {
  if (!wanted(s)) {
    ++traffic_.filtered;
    return;
  }
  if (is_repeat(s)) {
    ++traffic_.repeats;
    return;
  }
  ++traffic_.frames;
  traffic_.first = std::min(traffic_.first, s.t);
  traffic_.last = std::max(traffic_.last, s.t);
  const RoceFrame& f = s.frame;
  const uint32_t flow = flow_of(f);
  if (flow == kNone) {
    ++traffic_.over_limit;
    return;
  }
  if (!f.whole) ++traffic_.cut;
  if (f.cm) on_cm(f);  // adds flows, so nothing refers to one yet
  RoceFlow& seen = traffic_.flows[flow];
  // Acknowledgements of XRC are to a queue pair that has requests of another transport's name only by chance.
  if (f.transport() != IbtaTransport::kCnp && seen.transport == IbtaTransport::kCnp) {
    seen.transport = f.transport();
  }
  if (s.dropped) return on_drop(s, flow);
  State& state = states_[flow];
  const size_t at = place_of(state, s);
  if (at == kNone) {
    ++traffic_.over_limit;
    return;
  }
  if (is_copy(state.places[at], s)) {
    ++traffic_.copies;
    return;
  }
  seen.first = std::min(seen.first, s.t);
  seen.last = std::max(seen.last, s.t);
  if (f.transport() == IbtaTransport::kCnp || f.is_response()) return on_answer(s, flow, at);
  state.places[at].marked += f.marked() ? 1 : 0;
  if (has_psns(f.transport())) return on_request(s, flow, at);
  // Datagrams: nobody answers or repeats them, and their PSNs count whatever their sender sends to anybody.
  ++state.places[at].requests;
  set_ends(state);
  if (at != state.up) return;
  if (f.cm) ++traffic_.cm[name_of_cm(f.cm->attribute)];
  ++seen.packets;
  seen.bytes += f.payload;
  seen.bins.bytes[seen.bins.bin_of(s.t)] += f.payload;
  on_datagram(s, flow);
}

/// A queue pair counts its datagrams, whoever they go to.
void RoceAnalyzer::on_datagram(const RoceSighting& s, uint32_t flow) {
  constexpr int64_t kAnew =
      1 << 14;  // more is another life of the queue pair, or went past this place
  constexpr size_t kMostKept = 1u << 10;
  if (!s.frame.source_qp || senders_.size() >= RoceTraffic::kMaxFlows) return;
  DatagramSender& sender = senders_[{s.frame.source, s.frame.source_qp->value}];
  const int64_t number = number_near(sender.highest, s.frame.psn);
  const int64_t count = number - sender.highest - 1;
  if (sender.highest < 0 || count > kAnew || count < -kAnew) {
    sender = {number, {}};
    return;
  }
  if (count < 0) {  // it was overtaken
    const auto found = std::find_if(sender.missing.begin(), sender.missing.end(),
                                    [&](const auto& entry) { return entry.first == number; });
    if (found == sender.missing.end()) return;
    ++traffic_.flows[flow].reordered;
    --traffic_.flows[found->second].gaps;
    take_back(found->second, number, RoceLossSign::kGap);
    sender.missing.erase(found);
    return;
  }
  if (count > 0) {
    traffic_.flows[flow].gaps += static_cast<uint64_t>(count);
    add_loss({s.t, flow, static_cast<uint32_t>((sender.highest + 1) & Psn::kMask),
              static_cast<uint32_t>(count), RoceLossSign::kGap, DropCause::kNone});
    for (int64_t n = sender.highest + 1; n < number; ++n) {
      sender.missing.emplace_back(n, flow);
      if (sender.missing.size() > kMostKept) sender.missing.pop_front();
    }
  }
  sender.highest = number;
}

/// REQ names the queue pair of who asks, REP that of who answers, with the number that the REQ had.
void RoceAnalyzer::on_cm(const RoceFrame& f) {
  const CmMessage& cm = *f.cm;
  if (!cm.local_qp) return;
  constexpr uint16_t kReq = 0x10;
  if (cm.attribute == kReq) {
    if (cm_requests_.size() < kMaxCm) {
      cm_requests_[{f.source, cm.local_id}] = {f.source, f.destination, *cm.local_qp};
    }
    return;
  }
  const auto asked = cm_requests_.find({f.destination, cm.remote_id});
  if (asked == cm_requests_.end()) return;
  RoceFrame there;
  there.opcode = 0;  // RC
  there.source = f.destination;
  there.destination = f.source;
  there.qp = *cm.local_qp;
  RoceFrame back = there;
  std::swap(back.source, back.destination);
  back.qp = asked->second.qp;
  const uint32_t one = flow_of(there), other = flow_of(back);
  if (one == kNone || other == kNone) return;
  pair(one, other);
  traffic_.flows[one].by_cm = traffic_.flows[other].by_cm = true;
}

/// A record of our own captures that names a packet and what dropped it.
void RoceAnalyzer::on_drop(const RoceSighting& s, uint32_t flow) {
  State& state = states_[flow];
  if (s.frame.is_response() || state.up == kNone || state.places[state.up].highest < 0) return;
  const int64_t number = number_near(state.places[state.up].highest, s.frame.psn);
  for (size_t i = state.attempts.size(); i-- > 0;) {
    Attempt& attempt = state.attempts[i];
    if (attempt.number != number || attempt.drop != DropCause::kNone) continue;
    attempt.drop = s.cause;
    return;
  }
}

void RoceAnalyzer::add_loss(const RoceLoss& loss) {
  if (traffic_.losses.size() < RoceTraffic::kMaxEvents) {
    traffic_.losses.push_back(loss);
  } else {
    traffic_.events_cut = true;
  }
}

/// What its places and its peer's show, as one result.
void RoceAnalyzer::sum_up(uint32_t flow) {
  RoceFlow& f = traffic_.flows[flow];
  State& state = states_[flow];
  const auto requests_at = [&](size_t place) { return state.places[place].requests; };
  f.both_ends = state.up != kNone && state.down != kNone &&
                2 * requests_at(state.down) >= requests_at(state.up);
  const Verdict& v = f.both_ends ? state.arrivals : state.answers;
  f.lost = v.lost + state.skips;
  f.open = v.open;
  f.needed = v.needed;
  f.gone_back = v.gone_back;
  f.needless = v.needless;
  f.need_unknown = v.need_unknown;
  f.delivered = v.delivered;
  f.delivered_bytes = v.bytes;
  if (state.up != kNone) f.sent_at = state.places[state.up].point;
  if (f.both_ends) f.arrived_at = state.places[state.down].point;
  if (state.up != kNone) f.marked = state.places[f.both_ends ? state.down : state.up].marked;
  if (f.peer == kNone) return;
  const auto most = [&](uint64_t Place::*count) {
    uint64_t largest = 0;
    for (const Place& place : states_[f.peer].places) largest = std::max(largest, place.*count);
    return largest;
  };
  f.acks = most(&Place::acks);
  f.naks = most(&Place::naks);
  f.not_ready = most(&Place::not_ready);
  f.refusals = most(&Place::refusals);
  f.cnps = most(&Place::cnps);
  f.responses = most(&Place::responses);
  f.response_bytes = most(&Place::response_bytes);
}

/// The flows that --qp names, and those the other way.
RoceTraffic RoceAnalyzer::filtered() {
  if (!filter_.qp) return std::move(traffic_);
  std::vector<uint32_t> kept(traffic_.flows.size(), kNone);
  std::vector<RoceFlow> flows;
  for (size_t i = 0; i < traffic_.flows.size(); ++i) {
    const RoceFlow& f = traffic_.flows[i];
    if (f.qp != *filter_.qp && f.source_qp != filter_.qp) continue;
    kept[i] = static_cast<uint32_t>(flows.size());
    flows.push_back(f);
  }
  for (RoceFlow& f : flows) {
    if (f.peer != kNone) f.peer = kept[f.peer];
  }
  traffic_.flows = std::move(flows);
  const auto renumber = [&](auto& events) {
    std::erase_if(events, [&](const auto& event) { return kept[event.flow] == kNone; });
    for (auto& event : events) event.flow = kept[event.flow];
  };
  renumber(traffic_.losses);
  renumber(traffic_.rounds);
  return std::move(traffic_);
}

RoceTraffic RoceAnalyzer::finish() {
  emit(waiting_.size());
  for (uint32_t flow = 0; flow < states_.size(); ++flow) {
    while (!states_[flow].attempts.empty()) judge_front(flow);
  }
  for (uint32_t flow = 0; flow < states_.size(); ++flow) sum_up(flow);
  std::erase_if(traffic_.losses, [&](const RoceLoss& loss) {
    const bool by_arrival =
        loss.sign == RoceLossSign::kOvertaken || loss.sign == RoceLossSign::kDropRecord;
    const bool both = traffic_.flows[loss.flow].both_ends;
    const bool at_one_place =
        loss.sign == RoceLossSign::kSkipped || loss.sign == RoceLossSign::kGap;
    return !at_one_place && both != by_arrival;
  });
  std::stable_sort(traffic_.losses.begin(), traffic_.losses.end(),
                   [](const RoceLoss& a, const RoceLoss& b) { return a.t < b.t; });
  return filtered();
}

}  // namespace mrclab::analysis
