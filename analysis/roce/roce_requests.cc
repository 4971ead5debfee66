// Requests of RC, XRC and UC: what was sent, again or not, what was skipped, what arrived.

#include <algorithm>

#include "analysis/roce/roce_analyzer.h"

namespace mrclab::analysis {

/// The first place on the way, and the last one if it is another.
void RoceAnalyzer::set_ends(State& state) {
  size_t up = kNone, down = kNone;
  for (size_t i = 0; i < state.places.size(); ++i) {
    if (state.places[i].requests == 0) continue;
    if (up == kNone || state.places[i].rank < state.places[up].rank) up = i;
    if (down == kNone || state.places[i].rank >= state.places[down].rank) down = i;
  }
  if (down == up) down = kNone;
  if (up == state.up && down == state.down) return;
  if (up != state.up) {  // what was sent before was seen elsewhere
    attempts_ -= state.attempts.size();
    state.base += static_cast<uint32_t>(state.attempts.size());
    state.attempts.clear();
    state.newest_arrived = -1;
  }
  state.up = up;
  state.down = down;
  state.expected = -1;
}

/// A READ takes as many PSNs as its response has packets. How long those are no request shows: the longest that was seen,
/// or the next request's PSN does.
int64_t RoceAnalyzer::packets_of(State& state, const RoceFrame& f, int64_t number) const {
  state.mtu = std::max(state.mtu, f.goes_on() ? f.payload : 0);
  if (!f.is_read_request()) return 1;
  state.read_number = number;
  state.read_length = f.dma_length.value_or(0);
  if (state.mtu == 0 || state.read_length == 0) return 1;
  return (int64_t{state.read_length} + state.mtu - 1) / state.mtu;
}

void RoceAnalyzer::on_request(const RoceSighting& s, uint32_t flow, size_t at) {
  State& state = states_[flow];
  Place& place = state.places[at];
  if (++place.requests == 1) set_ends(state);
  const int64_t near = state.up == kNone ? -1 : state.places[state.up].highest;
  const int64_t number = number_near(near, s.frame.psn);
  if (at == state.up) on_sent(s, flow, number);
  if (at == state.down) on_arrived(s, flow, number);
}

/// Is it one that was skipped, and that arrives behind later ones without anybody having asked for it?
bool RoceAnalyzer::came_late(const RoceSighting& s, uint32_t flow, int64_t number) {
  State& state = states_[flow];
  const auto found = std::find(state.skipped.begin(), state.skipped.end(), number);
  if (found == state.skipped.end()) return false;
  state.skipped.erase(found);
  const bool unasked = !state.nak || s.frame.transport() == IbtaTransport::kUc;
  constexpr int64_t kSoon = 50'000'000;  // ps; before any timer ends
  if (!unasked || s.t.ps() - state.last_sent > kSoon) return false;
  --state.skips;
  ++traffic_.flows[flow].reordered;
  take_back(flow, number, RoceLossSign::kSkipped);
  return true;
}

/// One of the PSNs that were taken for lost has come.
void RoceAnalyzer::take_back(uint32_t flow, int64_t number, RoceLossSign sign) {
  for (size_t i = traffic_.losses.size(); i-- > 0;) {
    RoceLoss& loss = traffic_.losses[i];
    if (loss.flow != flow || loss.sign != sign) continue;
    const auto into = (static_cast<uint32_t>(number) - loss.psn) & Psn::kMask;
    if (into >= loss.count) continue;
    if (--loss.count == 0) {
      traffic_.losses.erase(traffic_.losses.begin() + static_cast<std::ptrdiff_t>(i));
    } else if (into == 0) {
      loss.psn = (loss.psn + 1) & Psn::kMask;
    }
    return;
  }
}

/// PSNs that were lost on the way to this place.
void RoceAnalyzer::skip(const RoceSighting& s, uint32_t flow, int64_t number) {
  State& state = states_[flow];
  const Place& place = state.places[state.up];
  constexpr int64_t kMostSkipped = 1 << 14;  // more is another life of the queue pair
  constexpr size_t kMostKept = 1u << 10;
  const bool read = state.read_number >= 0 && state.read_number == place.previous;
  if (read && state.read_length > 0) {
    for (uint32_t mtu = 256; mtu <= 4096; mtu *= 2) {
      const int64_t packets = (int64_t{state.read_length} + mtu - 1) / mtu;
      if (state.read_number + packets != number) continue;
      if (packets > 1) state.mtu = std::max(state.mtu, mtu);
      return;
    }
  }
  const int64_t count = number - place.highest - 1;
  if (place.highest < 0 || count <= 0 || count > kMostSkipped) return;
  state.skips += static_cast<uint64_t>(count);
  add_loss({s.t, flow, static_cast<uint32_t>((place.highest + 1) & Psn::kMask),
            static_cast<uint32_t>(count), RoceLossSign::kSkipped, DropCause::kNone});
  for (int64_t n = place.highest + 1; n < number && state.skipped.size() < kMostKept; ++n) {
    state.skipped.push_back(n);
  }
}

void RoceAnalyzer::begin_round(const RoceSighting& s, uint32_t flow, int64_t number) {
  State& state = states_[flow];
  RoceFlow& f = traffic_.flows[flow];
  state.cause = state.nak         ? RoceCause::kNak
                : state.not_ready ? RoceCause::kNotReady
                                  : RoceCause::kTimer;
  state.nak.reset();
  state.not_ready.reset();
  const FabricTime waited = FabricTime::from_ps(std::max<int64_t>(s.t.ps() - state.last_sent, 0));
  ++f.rounds[static_cast<size_t>(state.cause)];
  if (state.cause == RoceCause::kTimer) f.longest_wait = std::max(f.longest_wait, waited);
  state.round = kNone;
  if (traffic_.rounds.size() >= RoceTraffic::kMaxEvents) {
    traffic_.events_cut = true;
    return;
  }
  state.round = traffic_.rounds.size();
  traffic_.rounds.push_back(
      {s.t, flow, static_cast<uint32_t>(number & Psn::kMask), 0, waited, state.cause});
}

void RoceAnalyzer::on_sent(const RoceSighting& s, uint32_t flow, int64_t number) {
  State& state = states_[flow];
  RoceFlow& f = traffic_.flows[flow];
  Place& place = state.places[state.up];
  if (place.highest >= 0 && std::abs(number - place.highest) > (1 << 20)) {
    place.highest = place.previous = -1;  // the queue pair began anew
    state.acknowledged = state.expected = state.timed = -1;
    state.skipped.clear();
  }
  Attempt attempt;
  attempt.number = number;
  attempt.sent = s.t.ps();
  attempt.bytes = s.frame.payload;
  const bool known = place.highest >= 0;
  if (known && number > place.highest + 1) skip(s, flow, number);
  if (known && number <= place.highest) {
    if (came_late(s, flow, number)) {
      ++f.packets;
      f.bytes += s.frame.payload;
    } else {
      attempt.again = true;
      attempt.begins_round = number != place.previous + 1;
      if (attempt.begins_round) begin_round(s, flow, number);
      ++f.resent;
      ++f.resent_by[static_cast<size_t>(state.cause)];
      if (state.round != kNone) ++traffic_.rounds[state.round].packets;
    }
  } else {
    ++f.packets;
    f.bytes += s.frame.payload;
    if (s.frame.is_read_request()) ++f.reads;
    if (s.frame.operation() == 0x13 || s.frame.operation() == 0x14) ++f.atomics;
  }
  attempt.cause = state.cause;
  const auto id = static_cast<uint32_t>(state.base + state.attempts.size());
  if (attempt.again) {
    for (size_t i = state.attempts.size(); i-- > 0;) {
      if (state.attempts[i].number != number) continue;
      state.attempts[i].later = id;
      break;
    }
  }
  const int64_t packets = packets_of(state, s.frame, number);
  place.highest = std::max(place.highest, number + packets - 1);
  place.previous = number + packets - 1;
  state.last_sent = s.t.ps();
  const size_t bin = f.bins.bin_of(s.t);
  f.bins.bytes[bin] += s.frame.payload;
  f.bins.marked[bin] += s.frame.marked() ? 1 : 0;
  state.attempts.push_back(attempt);
  ++attempts_;
  if (state.attempts.size() > kMaxAttempts || attempts_ > kMaxAttemptsOfAll) judge_front(flow);
}

/// The attempt that has arrived: the oldest that none has overtaken and that is not long overdue, else the newest that has not
/// arrived.
uint32_t RoceAnalyzer::attempt_arriving(const State& state, int64_t number, int64_t t) const {
  constexpr int64_t kOverdue = 16;
  const size_t count = state.attempts.size();
  const int64_t next = std::max<int64_t>(state.newest_arrived + 1 - state.base, 0);
  for (auto i = static_cast<size_t>(next); i < count; ++i) {
    const Attempt& attempt = state.attempts[i];
    if (attempt.number != number) continue;
    const bool overdue = state.longest_way > 0 && t - attempt.sent > kOverdue * state.longest_way;
    if (overdue && attempt.later != kNone) continue;
    return static_cast<uint32_t>(i);
  }
  for (size_t i = std::min(count, static_cast<size_t>(next)); i-- > 0;) {
    const Attempt& attempt = state.attempts[i];
    if (attempt.number == number && attempt.by_arrival == Fate::kUnknown)
      return static_cast<uint32_t>(i);
  }
  return kNone;
}

void RoceAnalyzer::on_arrived(const RoceSighting& s, uint32_t flow, int64_t number) {
  State& state = states_[flow];
  const uint32_t at = attempt_arriving(state, number, s.t.ps());
  if (at == kNone) return;
  Attempt& attempt = state.attempts[at];
  state.newest_arrived = std::max<int64_t>(state.newest_arrived, int64_t{state.base} + at);
  if (s.t.ps() >= attempt.sent) {
    state.longest_way = std::max(state.longest_way, s.t.ps() - attempt.sent);
    traffic_.one_way_ns.add(static_cast<uint64_t>(s.t.ps() - attempt.sent) / 1000);
  }
  if (state.expected < 0) state.expected = number;
  if (number > state.expected) {
    attempt.by_arrival = Fate::kRefused;
    return;
  }
  attempt.by_arrival = Fate::kTaken;
  if (number < state.expected) return;
  RoceFrame frame = s.frame;
  state.expected = number + packets_of(state, frame, number);
  ++state.arrivals.delivered;
  state.arrivals.bytes += s.frame.payload;
}

void RoceAnalyzer::judge(uint32_t flow, const Attempt& attempt, Fate fate, Fate before,
                         bool by_arrivals) {
  State& state = states_[flow];
  Verdict& verdict = by_arrivals ? state.arrivals : state.answers;
  if (attempt.again) {
    switch (before) {
      case Fate::kUnknown: ++verdict.need_unknown; break;
      case Fate::kLost: ++verdict.needed; break;
      case Fate::kRefused: ++verdict.gone_back; break;
      case Fate::kTaken: ++verdict.needless; break;
    }
  }
  if (fate == Fate::kUnknown) ++verdict.open;
  if (fate != Fate::kLost) return;
  ++verdict.lost;
  const bool named = by_arrivals && attempt.drop != DropCause::kNone;
  add_loss({FabricTime::from_ps(attempt.sent), flow,
            static_cast<uint32_t>(attempt.number & Psn::kMask), 1,
            named         ? RoceLossSign::kDropRecord
            : by_arrivals ? RoceLossSign::kOvertaken
                          : attempt.sign,
            attempt.drop});
}

/// Forgets the oldest attempt; what became of it counts for the next one of its packet.
void RoceAnalyzer::judge_front(uint32_t flow) {
  State& state = states_[flow];
  Attempt attempt = state.attempts.front();
  const int64_t id = state.base;
  if (attempt.by_arrival == Fate::kUnknown &&
      (attempt.drop != DropCause::kNone || state.newest_arrived > id)) {
    attempt.by_arrival = Fate::kLost;
  }
  if (attempt.by_answer == Fate::kUnknown && traffic_.flows[flow].transport == IbtaTransport::kUc) {
    attempt.by_answer = Fate::kTaken;  // nobody answers
  }
  if (state.down != kNone)
    judge(flow, attempt, attempt.by_arrival, attempt.before_by_arrival, true);
  judge(flow, attempt, attempt.by_answer, attempt.before_by_answer, false);
  if (attempt.later != kNone && attempt.later >= state.base) {
    Attempt& later = state.attempts[attempt.later - state.base];
    later.before_by_arrival = std::max(attempt.before_by_arrival, attempt.by_arrival);
    later.before_by_answer = std::max(attempt.before_by_answer, attempt.by_answer);
  }
  state.attempts.pop_front();
  ++state.base;
  state.open_from = std::max(state.open_from, state.base);
  --attempts_;
}

}  // namespace mrclab::analysis
