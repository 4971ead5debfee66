// Joining observations of the same packet by (QP, PSN, attempt).
// packet_answers.cc reads the answers.

#include <algorithm>
#include <set>
#include <tuple>

#include "analysis/history/flow_keys.h"
#include "analysis/history/packet_history.h"
#include "fabric/node.h"

namespace mrclab::analysis {
namespace {

/// How far a PSN may be from those seen: MRC's largest window (specification table 7-4).
constexpr int64_t kMaxPsnGap = 32'640;
constexpr size_t kMaxSlots = 1u << 25;        // PSN slots of all flows together
constexpr int64_t kMaxFrontGrowth = 1 << 16;  // slots that may move when an older PSN turns up
constexpr int64_t kPsnModulus = 1 << 24;

}  // namespace

/// Writers order records within an interface only. Equal instants: what leaves comes first, then
/// the order of the file. Places are sorted, because observations are four times as long.
std::vector<PacketHistory::Place> PacketHistory::by_time() const {
  std::vector<Place> places;
  places.reserve(observations_.size());
  for (const Observation& o : observations_) {
    places.push_back({o.t, static_cast<uint32_t>(o.kind), static_cast<uint32_t>(places.size())});
  }
  if (!std::is_sorted(places.begin(), places.end())) std::sort(places.begin(), places.end());
  return places;
}

void PacketHistory::finish() {
  const auto attempts = std::count_if(observations_.begin(), observations_.end(),
                                      [](const auto& o) { return o.kind == Kind::kEgress; });
  transmissions_.reserve(static_cast<size_t>(attempts));
  packets_.reserve(static_cast<size_t>(attempts));
  deliveries_.reserve(static_cast<size_t>(attempts));
  skip_refused_answers();
  const std::vector<Place> places = by_time();
  for (const Place& place : places) join(observations_[place.observation]);
  if (!topology_.carries_time() && !places.empty()) give_up_on(places.back().t);
  std::erase_if(deliveries_, [](const Delivery& d) { return d.packet == kNone; });
  for (const Attempt& t : transmissions_) {
    counters_.trimmed += t.trimmed ? 1 : 0;
    counters_.dropped += t.lost() ? 1 : 0;
    counters_.refused += t.refused() ? 1 : 0;
  }
  observations_ = {};
  sacks_ = {};
}

/// `last`: of all records.
void PacketHistory::give_up_on(FabricTime last) {
  const FabricTime patience = topology_.base_rtt * kLostAfterRtts;
  for (Attempt& attempt : transmissions_) {
    if (attempt.fate != Fate::kInFlight || !attempt.start_seen || attempt.start + patience > last) {
      continue;
    }
    attempt.fate = Fate::kDropped;
    attempt.ended = attempt.start;
  }
}

/// An answer that arrived and was then refused by the NIC (its ICRC was wrong) said nothing: its
/// arrival is one ingress latency older than its drop.
void PacketHistory::skip_refused_answers() {
  using Refused = std::tuple<FabricTime, PortRef, uint32_t, uint32_t, Opcode>;
  const auto refused_as = [](const Observation& o, FabricTime arrival) {
    return Refused{arrival, o.where, o.qp, o.psn, o.opcode};
  };
  std::set<Refused> refused;
  for (const Observation& o : observations_) {
    const bool here = o.kind == Kind::kDropIn && o.where.node == topology_.host(o.destination);
    if (here && !is_write(o.opcode)) refused.insert(refused_as(o, o.t - topology_.host_latency));
  }
  if (refused.empty()) return;
  for (Observation& o : observations_) {
    if (o.kind != Kind::kIngress || is_write(o.opcode)) continue;
    // Each instant was rounded down to a nanosecond on its own.
    const FabricTime tick = FabricTime::from_ns(1);
    for (const FabricTime t : {o.t - tick, o.t, o.t + tick}) {
      if (!refused.contains(refused_as(o, t))) continue;
      o.detail = kNone;
      o.probe = true;  // no traffic either
    }
  }
}

void PacketHistory::join(const Observation& o) {
  const bool data = is_write(o.opcode);
  switch (o.kind) {
    case Kind::kEgress: on_egress(o); break;
    case Kind::kTrimmedHere:
      if (data) {
        const uint32_t packet = packet_of(o);
        if (packet == kNone) break;
        const std::optional<uint32_t> attempt = attempts_of(o, packet).open();
        if (!attempt) break;
        transmissions_[*attempt].trimmed = true;
        transmissions_[*attempt].where = o.where;
      }
      break;
    case Kind::kIngress: data ? on_arrival(o) : on_control_arrival(o); break;
    case Kind::kDropOut:
    case Kind::kDropIn:
      if (data) {
        on_drop(o);
      } else {
        ++counters_.dropped_control;
      }
      break;
  }
}

uint32_t PacketHistory::flow_of(uint32_t source, uint32_t destination, uint32_t qp) {
  const auto [entry, added] = flow_index_.try_emplace(flow_key(source, destination, qp),
                                                      static_cast<uint32_t>(flows_.size()));
  if (added) {
    flows_between_[pair_key(source, destination)].push_back(entry->second);
    flows_.push_back({source, destination, Qpn{qp}});
    flow_states_.emplace_back();
  }
  return entry->second;
}

/// The slot of a PSN, nullptr if it is out of range (or not there, without `create`).
uint32_t* PacketHistory::slot_of(uint32_t flow, Psn psn, bool create) {
  FlowState& state = flow_states_[flow];
  if (state.slots.empty()) {
    if (!create || slots_in_use_ >= kMaxSlots) return nullptr;
    // One modulus up, so that PSNs before the first seen stay positive.
    state.base = state.highest = psn.value() + kPsnModulus;
    state.acknowledged = state.arrived = state.base - 1;
    state.slots.assign(1, kNone);
    ++slots_in_use_;
    return &state.slots[0];
  }
  const Psn highest{static_cast<uint32_t>(state.highest & Psn::kMask)};
  const int64_t unwrapped = state.highest + (psn - highest);
  int64_t index = unwrapped - state.base;
  const auto size = static_cast<int64_t>(state.slots.size());
  if (index >= 0 && index < size) return &state.slots[static_cast<size_t>(index)];
  const int64_t missing = index < 0 ? -index : index - size + 1;
  if (!create || missing > kMaxPsnGap || slots_in_use_ + missing > kMaxSlots) return nullptr;
  if (index < 0 && size > kMaxFrontGrowth) return nullptr;
  slots_in_use_ += static_cast<size_t>(missing);
  if (index < 0) {
    state.slots.insert(state.slots.begin(), static_cast<size_t>(missing), kNone);
    state.base -= missing;
    state.acknowledged = std::min(state.acknowledged, state.base - 1);
    state.arrived = std::min(state.arrived, state.base - 1);
    index = 0;
  } else {
    state.slots.resize(static_cast<size_t>(index) + 1, kNone);
    state.highest = unwrapped;
  }
  return &state.slots[static_cast<size_t>(index)];
}

uint32_t PacketHistory::existing_packet(uint32_t flow, Psn psn) {
  const uint32_t* slot = slot_of(flow, psn, false);
  return slot == nullptr ? kNone : *slot;
}

/// The packet of an observation, made if it is new; kNone (counted) beyond the limits.
uint32_t PacketHistory::packet_of(const Observation& o) {
  const uint32_t flow = flow_of(o.source, o.destination, o.qp);
  uint32_t* slot = slot_of(flow, Psn{o.psn}, true);
  if (slot == nullptr) {
    leave_out(o.t);
    return kNone;
  }
  if (*slot == kNone) {
    *slot = static_cast<uint32_t>(packets_.size());
    Packet packet;
    packet.flow = flow;
    packet.psn = Psn{o.psn};
    packet.payload = o.payload;
    packets_.push_back(packet);
  }
  return *slot;
}

uint32_t PacketHistory::add_transmission(const Observation& o, uint32_t packet) {
  Packet& owner = packets_[packet];
  Attempt t;
  t.start = o.start;
  t.ended = FabricTime::never();
  t.ev = EntropyValue{o.ev};
  t.rtx = o.rtx;
  t.timed = o.timed;
  t.timestamp = o.timestamp;
  t.packet = packet;
  t.previous = owner.last;
  t.attempt = owner.attempts;
  if (owner.attempts < UINT16_MAX) ++owner.attempts;
  owner.last = static_cast<uint32_t>(transmissions_.size());
  transmissions_.push_back(t);
  return owner.last;
}

AttemptChoice<uint32_t> PacketHistory::attempts_of(const Observation& o, uint32_t packet) const {
  AttemptChoice<uint32_t> choice;
  uint32_t at = packets_[packet].last;
  for (uint32_t step = 0; at != kNone && step < kMaxAttemptsWalked; ++step) {
    const Attempt& t = transmissions_[at];
    if (t.mark().agrees(o.mark())) choice.offer(at, t.fate == Fate::kInFlight);
    at = t.previous;
  }
  return choice;
}

/// Is this frame the second copy that a faulty wire sends right behind the first? A retransmission
/// comes later: its sender needs a round trip to know that it must send again.
bool PacketHistory::is_copy(const Observation& o, uint32_t packet) const {
  if (packets_[packet].last == kNone) return false;
  const Attempt& before = transmissions_[packets_[packet].last];
  const FabricTime length = o.t - o.start;
  return before.mark().agrees(o.mark()) && o.start - before.start < length * 2;
}

void PacketHistory::on_egress(const Observation& o) {
  const uint32_t packet = packet_of(o);
  if (packet == kNone) return;
  if (is_copy(o, packet)) {
    ++counters_.copies;
    return;
  }
  const Attempt& t = transmissions_[add_transmission(o, packet)];
  if (t.attempt > 0) ++counters_.retransmissions;
  if ((t.attempt > 0) != o.rtx) ++counters_.rtx_bit_wrong;
  if (packets_[packet].placement == kNone) packets_[packet].placement = o.detail;
}

/// An arrival has to say the same as the first that was seen of its packet. A retransmission may
/// differ in its headers' flags, never in where its bytes go or what they are.
void PacketHistory::compare_placement(const Observation& o, Packet& packet, Attempt& t) const {
  if (o.detail == kNone) return;
  if (packet.placement == kNone) {
    packet.placement = o.detail;
    return;
  }
  Placement then = placements_[packet.placement];
  const Placement& now = placements_[o.detail];
  if (then.sample == 0 || now.sample == 0) then.sample = now.sample;
  t.differs = t.differs || then != now;
}

void PacketHistory::on_arrival(const Observation& o) {
  const uint32_t packet = packet_of(o);
  if (packet == kNone) return;
  const AttemptChoice<uint32_t> choice = attempts_of(o, packet);
  if (choice.open()) return arrives(o, transmissions_[*choice.open()]);
  if (choice.ended()) return arrives_again(o, transmissions_[*choice.ended()]);
  ++counters_.unmatched_arrivals;
  Attempt& unseen = transmissions_[add_transmission(o, packet)];
  unseen.start_seen = false;
  arrives(o, unseen);
}

void PacketHistory::arrives(const Observation& o, Attempt& t) {
  t.ended = o.t;
  t.fate = o.trimmed ? Fate::kTrimmed : Fate::kDelivered;
  if (!t.trimmed) t.where = o.where;
  t.trimmed = t.trimmed || o.trimmed;
  t.marked = o.marked;
  t.cause = DropCause::kNone;
  ++(o.trimmed ? t.headers : t.whole);
  if (o.trimmed) return;
  Packet& owner = packets_[t.packet];
  compare_placement(o, owner, t);
  if (owner.delivered != FabricTime::never()) {
    ++counters_.duplicate_deliveries;
    return;
  }
  owner.delivered = o.t;
  deliveries_.push_back({o.t, t.packet, owner.payload, topology_.port(o.where).plane});
}

/// A wire carried the attempt twice. If the first of the two frames was lost or trimmed, the second
/// may still bring the payload.
void PacketHistory::arrives_again(const Observation& o, Attempt& t) {
  ++counters_.copies;
  if (t.copies < UINT8_MAX) ++t.copies;
  if (t.fate == Fate::kDropped || (t.fate == Fate::kTrimmed && !o.trimmed)) return arrives(o, t);
  if (uint8_t& frames = o.trimmed ? t.headers : t.whole; frames < UINT8_MAX) ++frames;
  if (o.trimmed) return;
  ++counters_.duplicate_deliveries;
  compare_placement(o, packets_[t.packet], t);
}

void PacketHistory::on_drop(const Observation& o) {
  const uint32_t packet = packet_of(o);
  if (packet == kNone) return;
  const bool at_sender = o.where.node == topology_.host(o.source) && o.kind == Kind::kDropOut;
  const AttemptChoice<uint32_t> choice = attempts_of(o, packet);
  std::optional<uint32_t> attempt = choice.open();
  if (at_sender) {
    // Given to a port that could not send it: it has no egress record.
    attempt = add_transmission(o, packet);
    if (transmissions_[*attempt].attempt > 0) ++counters_.retransmissions;
  } else if (!attempt && choice.ended()) {
    const bool refused = o.where.node == topology_.host(o.destination) && !lost_on_wire(o.cause);
    if (!refused || stands(o, *choice.ended())) {
      ++counters_.copies;  // the second frame of an attempt that a wire carried twice
      return;
    }
    attempt = choice.ended();
  }
  if (!attempt) {
    ++counters_.unmatched_drops;
    return;
  }
  Attempt& t = transmissions_[*attempt];
  t.ended = o.t;
  t.fate = Fate::kDropped;
  t.cause = o.cause;
  t.where = o.where;
  t.trimmed = t.trimmed || o.trimmed;
}

/// The NIC has refused a frame that was counted as arrived. Does the arrival stand all the same, by
/// another frame of the same attempt?
bool PacketHistory::stands(const Observation& refused, uint32_t transmission) {
  Attempt& t = transmissions_[transmission];
  if (uint8_t& frames = refused.trimmed ? t.headers : t.whole; frames > 0) --frames;
  if (t.whole > 0) return true;
  undo_arrival(transmission);
  if (t.headers > 0) t.fate = Fate::kTrimmed;
  return t.headers > 0;
}

void PacketHistory::undo_arrival(uint32_t transmission) {
  const Attempt& t = transmissions_[transmission];
  if (t.fate != Fate::kDelivered) return;
  Packet& owner = packets_[t.packet];
  if (owner.delivered != t.ended) return;
  owner.delivered = FabricTime::never();
  flow_states_[owner.flow].arrived = flow_states_[owner.flow].base - 1;  // look again
  for (auto d = deliveries_.rbegin(); d != deliveries_.rend() && d->t >= t.ended; ++d) {
    if (d->packet != t.packet) continue;
    d->bytes = 0;
    d->packet = kNone;  // removed in finish()
    return;
  }
}

}  // namespace mrclab::analysis
