// Acknowledgements, NAKs, responses and CNPs: which flow they are about, and what they show of it.

#include <algorithm>

#include "analysis/roce/roce_analyzer.h"

namespace mrclab::analysis {

void RoceAnalyzer::pair(uint32_t one, uint32_t other) {
  RoceFlow &a = traffic_.flows[one], &b = traffic_.flows[other];
  if (a.peer != kNone || b.peer != kNone) return;
  a.peer = other;
  b.peer = one;
  a.source_qp = b.qp;
  b.source_qp = a.qp;
}

/// The flow that is answered: the peer, which is found as the one flow between the two hosts that has sent such a PSN.
uint32_t RoceAnalyzer::data_of(const RoceFrame& f, uint32_t flow) {
  if (traffic_.flows[flow].peer != kNone) return traffic_.flows[flow].peer;
  if (f.transport() == IbtaTransport::kCnp) return kNone;  // it has no PSN
  const auto found = between_.find({f.destination, f.source});
  if (found == between_.end()) return kNone;
  uint32_t fitting = kNone, same_port = kNone;
  size_t fit = 0, fit_port = 0;
  constexpr int64_t kBehind = 1 << 13;
  for (const uint32_t candidate : found->second) {
    const State& state = states_[candidate];
    if (state.up == kNone || traffic_.flows[candidate].peer != kNone) continue;
    const int64_t highest = state.places[state.up].highest;
    if (highest < 0) continue;
    const int64_t number = number_near(highest, f.psn);
    const int64_t ahead = traffic_.flows[candidate].reads > 0 ? kBehind : 1;
    if (number > highest + ahead || number < highest - kBehind) continue;
    fitting = candidate;
    ++fit;
    if (traffic_.flows[candidate].source_port != f.source_port) continue;
    same_port = candidate;
    ++fit_port;
  }
  const uint32_t data = fit == 1 ? fitting : fit_port == 1 ? same_port : kNone;
  if (data != kNone) pair(data, flow);
  return data;
}

void RoceAnalyzer::take_rtt(uint32_t data, int64_t ps) {
  RoceFlow& f = traffic_.flows[data];
  State& state = states_[data];
  ++f.rtts;
  f.rtt_sum_ps += ps;
  f.rtt_min_ps = std::min(f.rtt_min_ps, ps);
  f.rtt_max_ps = std::max(f.rtt_max_ps, ps);
  state.least_rtt = f.rtt_min_ps;
  traffic_.rtt_ns.add(static_cast<uint64_t>(ps) / 1000);
}

void RoceAnalyzer::on_answer(const RoceSighting& s, uint32_t flow, size_t at) {
  const RoceFrame& f = s.frame;
  Place& place = states_[flow].places[at];
  bool near = true;  // to the host that is answered
  for (const Place& other : states_[flow].places) near = near && other.rank <= place.rank;
  const uint32_t data = data_of(f, flow);
  if (f.transport() == IbtaTransport::kCnp) {
    ++place.cnps;
    if (data == kNone || !near) return;
    RoceBins& bins = traffic_.flows[data].bins;
    ++bins.cnps[bins.bin_of(s.t)];
    return;
  }
  if (f.is_read_response()) {
    ++place.responses;
    place.response_bytes += f.payload;
    if (data != kNone && f.operation() <= 0x0E) {
      states_[data].mtu = std::max(states_[data].mtu, f.payload);
    }
  }
  const int kind = f.syndrome.value_or(0) >> 5;
  if (!f.is_read_response()) {
    if (kind == 0) ++place.acks;
    if (kind == 1) ++place.not_ready;
    if (kind == 3) ++(f.syndrome == 0x60 ? place.naks : place.refusals);
  }
  if (data == kNone) {
    ++traffic_.answers_unmatched;
    return;
  }
  State& state = states_[data];
  if (state.up == kNone || state.places[state.up].highest < 0) return;
  const int64_t number = number_near(state.places[state.up].highest, f.psn);
  if (f.is_read_response() || kind == 0) return acknowledge(s, data, number, near);
  acknowledge(s, data, number - 1, false);
  if (kind == 1) {
    state.not_ready = number;
    refuse_from(state, number, false);
  } else if (f.syndrome == 0x60) {
    state.nak = number;
    refuse_from(state, number, true);
  }
}

/// A NAK: the packet is `missing`, and what was sent behind it is refused. "Receiver not ready": it is refused, too.
void RoceAnalyzer::refuse_from(State& state, int64_t number, bool missing) {
  for (size_t i = state.open_from - state.base; i < state.attempts.size(); ++i) {
    Attempt& attempt = state.attempts[i];
    if (attempt.by_answer != Fate::kUnknown || attempt.number < number) continue;
    const bool lost = missing && attempt.number == number;
    attempt.by_answer = lost ? Fate::kLost : Fate::kRefused;
    if (lost) attempt.sign = RoceLossSign::kNak;
  }
}

void RoceAnalyzer::acknowledge(const RoceSighting& s, uint32_t data, int64_t number, bool near) {
  State& state = states_[data];
  // A NIC that takes packets out of order acknowledges more than arrivals in order would allow.
  if (state.expected >= 0 && number >= state.expected && state.down != kNone) {
    for (Attempt& attempt : state.attempts) {
      if (attempt.number > number || attempt.by_arrival != Fate::kRefused) continue;
      attempt.by_arrival = Fate::kTaken;
      ++state.arrivals.delivered;
      state.arrivals.bytes += attempt.bytes;
    }
    state.expected = number + 1;
  }
  state.acknowledged = std::max(state.acknowledged, number);
  for (size_t i = near ? state.attempts.size() : 0; i-- > 0;) {
    const Attempt& attempt = state.attempts[i];
    if (attempt.number > number) continue;
    // Only the first of several answers, and of one transmission alone (Karn).
    const bool timed = attempt.number == number && !attempt.again && number > state.timed;
    if (timed) take_rtt(data, s.t.ps() - attempt.sent);
    break;
  }
  if (near) state.timed = std::max(state.timed, number);
  // A retransmission cannot have been answered within less than the shortest round trip.
  const int64_t soonest = state.least_rtt - state.least_rtt / 8;
  for (size_t i = state.open_from - state.base; i < state.attempts.size(); ++i) {
    Attempt& attempt = state.attempts[i];
    if (attempt.by_answer != Fate::kUnknown || attempt.number > number) continue;
    if (attempt.later != kNone) {
      const Attempt& later = state.attempts[attempt.later - state.base];
      const bool before = soonest > 0 && s.t.ps() - later.sent < soonest;
      attempt.by_answer = before ? Fate::kTaken : later.begins_round ? Fate::kLost : Fate::kRefused;
      continue;
    }
    attempt.by_answer = Fate::kTaken;
    ++state.answers.delivered;
    state.answers.bytes += attempt.bytes;
  }
  while (state.open_from - state.base < state.attempts.size() &&
         state.attempts[state.open_from - state.base].by_answer != Fate::kUnknown) {
    ++state.open_from;
  }
}

}  // namespace mrclab::analysis
