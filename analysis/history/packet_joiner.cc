#include "analysis/history/packet_joiner.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "analysis/history/answer_joiner.h"
#include "analysis/history/flow_table.h"
#include "fabric/headers.h"

namespace mrclab::analysis {
namespace {

class PacketJoiner {
 public:
  PacketJoiner(const Topology& topology, Sightings seen)
      : topology_(topology),
        seen_(std::move(seen)),
        tables_(begun_with(seen_)),
        answers_(topology, seen_.answers, flows_, tables_) {}
  PacketHistory join_all();

 private:
  static constexpr uint32_t kNone = Attempt::kNone;
  using Kind = Sighting::Kind;
  /// A sighting in the order of time, a quarter as long as the sighting itself.
  struct Place {
    FabricTime t;
    uint32_t kind;
    uint32_t sighting;
    auto operator<=>(const Place&) const = default;
  };

  static PacketTables begun_with(Sightings& seen);
  std::vector<Place> by_time() const;
  void skip_refused_answers();
  void give_up_on_silent(FabricTime last);
  void count_fates();

  void join(const Sighting& s);
  void leaves(const Sighting& s);
  void is_trimmed(const Sighting& s);
  void arrives(const Sighting& s);
  void arrives_first(const Sighting& s, Attempt& attempt);
  void arrives_again(const Sighting& s, Attempt& attempt);
  void is_dropped(const Sighting& s);

  bool arrival_stands(const Sighting& refused, uint32_t attempt);
  void undo_arrival(uint32_t attempt);
  void compare_placement(const Sighting& s, Packet& packet, Attempt& attempt) const;
  uint32_t packet_of(const Sighting& s);
  uint32_t add_attempt(const Sighting& s, uint32_t packet);
  AttemptChoice<uint32_t> attempts_of(const Sighting& s, uint32_t packet) const;
  bool is_copy(const Sighting& s, uint32_t packet) const;

  const Topology& topology_;
  Sightings seen_;
  PacketTables tables_;
  FlowTable flows_;
  AnswerJoiner answers_;
};

/// What reading has found out already stands in the history as it is.
PacketTables PacketJoiner::begun_with(Sightings& seen) {
  PacketTables tables;
  tables.placements = std::move(seen.placements);
  tables.bursts = std::move(seen.bursts);
  tables.crossings = std::move(seen.crossings);
  tables.pauses = std::move(seen.pauses);
  std::sort(tables.pauses.begin(), tables.pauses.end());
  tables.pauses.erase(std::unique(tables.pauses.begin(), tables.pauses.end()), tables.pauses.end());
  tables.counters = seen.counters;
  tables.complete_until = seen.complete_until;
  tables.notes = std::move(seen.notes);
  return tables;
}

/// Writers order records within an interface only. Equal instants: what leaves comes first, then
/// the order of the file. Places are sorted, because sightings are four times as long.
std::vector<PacketJoiner::Place> PacketJoiner::by_time() const {
  std::vector<Place> places;
  places.reserve(seen_.frames.size());
  for (const Sighting& s : seen_.frames) {
    places.push_back({s.t, static_cast<uint32_t>(s.kind), static_cast<uint32_t>(places.size())});
  }
  if (!std::is_sorted(places.begin(), places.end())) std::sort(places.begin(), places.end());
  return places;
}

PacketHistory PacketJoiner::join_all() {
  const auto leaving =
      static_cast<size_t>(std::count_if(seen_.frames.begin(), seen_.frames.end(),
                                        [](const Sighting& s) { return s.kind == Kind::kEgress; }));
  tables_.attempts.reserve(leaving);
  tables_.packets.reserve(leaving);
  tables_.deliveries.reserve(leaving);
  skip_refused_answers();
  const std::vector<Place> places = by_time();
  for (const Place& place : places) join(seen_.frames[place.sighting]);
  answers_.finish();
  if (!topology_.carries_time() && !places.empty()) give_up_on_silent(places.back().t);
  std::erase_if(tables_.deliveries, [](const Delivery& d) { return d.packet == kNone; });
  count_fates();
  flows_.give_to(tables_);
  return PacketHistory(std::move(tables_));
}

/// `last`: of all records.
void PacketJoiner::give_up_on_silent(FabricTime last) {
  const FabricTime patience = topology_.base_rtt * PacketHistory::kLostAfterRtts;
  for (Attempt& attempt : tables_.attempts) {
    if (attempt.fate != Fate::kInFlight || !attempt.start_seen || attempt.start + patience > last) {
      continue;
    }
    attempt.fate = Fate::kDropped;
    attempt.ended = attempt.start;
  }
}

void PacketJoiner::count_fates() {
  for (const Attempt& attempt : tables_.attempts) {
    tables_.counters.trimmed += attempt.trimmed ? 1 : 0;
    tables_.counters.dropped += attempt.lost() ? 1 : 0;
    tables_.counters.refused += attempt.refused() ? 1 : 0;
  }
}

/// An answer that arrived and was then refused by the NIC (its ICRC was wrong) said nothing: its
/// arrival is one ingress latency older than its drop.
void PacketJoiner::skip_refused_answers() {
  using Refused = std::tuple<FabricTime, PortRef, uint32_t, uint32_t, Opcode>;
  const auto refused_as = [](const Sighting& s, FabricTime arrival) {
    return Refused{arrival, s.where, s.qp, s.psn, s.opcode};
  };
  std::set<Refused> refused;
  for (const Sighting& s : seen_.frames) {
    const bool here = s.kind == Kind::kDropIn && s.where.node == topology_.host(s.destination);
    if (here && !carries_data(s.opcode))
      refused.insert(refused_as(s, s.t - topology_.host_latency));
  }
  if (refused.empty()) return;
  for (Sighting& s : seen_.frames) {
    if (s.kind != Kind::kIngress || carries_data(s.opcode)) continue;
    // Each instant was rounded down to a nanosecond on its own.
    const FabricTime tick = FabricTime::from_ns(1);
    for (const FabricTime t : {s.t - tick, s.t, s.t + tick}) {
      if (!refused.contains(refused_as(s, t))) continue;
      s.detail = kNone;
      s.probe = true;  // no traffic either
    }
  }
}

void PacketJoiner::join(const Sighting& s) {
  const bool data = carries_data(s.opcode);
  switch (s.kind) {
    case Kind::kEgress: leaves(s); break;
    case Kind::kTrimmedHere:
      if (data) is_trimmed(s);
      break;
    case Kind::kIngress: data ? arrives(s) : answers_.arrives(s); break;
    case Kind::kDropOut:
    case Kind::kDropIn:
      if (data) {
        is_dropped(s);
      } else {
        ++tables_.counters.dropped_control;
      }
      break;
  }
}

/// The packet of a sighting, made if it is new; kNone (counted) beyond the limits.
uint32_t PacketJoiner::packet_of(const Sighting& s) {
  const uint32_t flow = flows_.find_or_add(s.source, s.destination, s.qp, is_rc_request(s.opcode));
  uint32_t* slot = flows_.slot_of(flow, Psn{s.psn}, true);
  if (slot == nullptr) {
    ++tables_.counters.over_limit;
    tables_.complete_until = std::min(tables_.complete_until, s.t);
    return kNone;
  }
  if (*slot == kNone) {
    *slot = static_cast<uint32_t>(tables_.packets.size());
    Packet packet;
    packet.flow = flow;
    packet.psn = Psn{s.psn};
    packet.payload = s.payload;
    tables_.packets.push_back(packet);
  }
  return *slot;
}

uint32_t PacketJoiner::add_attempt(const Sighting& s, uint32_t packet) {
  Packet& owner = tables_.packets[packet];
  Attempt t;
  t.start = s.start;
  t.ended = FabricTime::never();
  t.ev = EntropyValue{s.ev};
  t.rtx = s.rtx;
  t.timed = s.timed;
  t.timestamp = s.timestamp;
  t.packet = packet;
  t.previous = owner.last;
  t.attempt = owner.attempts;
  if (owner.attempts < UINT16_MAX) ++owner.attempts;
  owner.last = static_cast<uint32_t>(tables_.attempts.size());
  tables_.attempts.push_back(t);
  return owner.last;
}

AttemptChoice<uint32_t> PacketJoiner::attempts_of(const Sighting& s, uint32_t packet) const {
  AttemptChoice<uint32_t> choice;
  uint32_t at = tables_.packets[packet].last;
  for (uint32_t step = 0; at != kNone && step < kMaxAttemptsWalked; ++step) {
    const Attempt& t = tables_.attempts[at];
    if (t.mark().agrees(s.mark())) choice.offer(at, t.fate == Fate::kInFlight);
    at = t.previous;
  }
  return choice;
}

/// Is this frame the second copy that a faulty wire sends right behind the first?
bool PacketJoiner::is_copy(const Sighting& s, uint32_t packet) const {
  if (tables_.packets[packet].last == kNone) return false;
  const Attempt& before = tables_.attempts[tables_.packets[packet].last];
  const FabricTime length = s.t - s.start;
  return s.mark().copies(before.mark(), s.start - before.start, length * 2);
}

void PacketJoiner::leaves(const Sighting& s) {
  const uint32_t packet = packet_of(s);
  if (packet == kNone) return;
  if (is_copy(s, packet)) {
    ++tables_.counters.copies;
    return;
  }
  const Attempt& t = tables_.attempts[add_attempt(s, packet)];
  if (t.attempt > 0) ++tables_.counters.retransmissions;
  if (is_write(s.opcode) && (t.attempt > 0) != s.rtx) ++tables_.counters.rtx_bit_wrong;
  if (tables_.packets[packet].placement == kNone) tables_.packets[packet].placement = s.detail;
}

/// An arrival has to say the same as the first that was seen of its packet. A retransmission may
/// differ in its headers' flags, never in where its bytes go or what they are.
void PacketJoiner::compare_placement(const Sighting& s, Packet& packet, Attempt& t) const {
  if (s.detail == kNone) return;
  if (packet.placement == kNone) {
    packet.placement = s.detail;
    return;
  }
  Placement then = tables_.placements[packet.placement];
  const Placement& now = tables_.placements[s.detail];
  if (then.sample == 0 || now.sample == 0) then.sample = now.sample;
  t.differs = t.differs || then != now;
}

void PacketJoiner::is_trimmed(const Sighting& s) {
  const uint32_t packet = packet_of(s);
  if (packet == kNone) return;
  const std::optional<uint32_t> open = attempts_of(s, packet).open();
  if (!open) return;
  tables_.attempts[*open].trimmed = true;
  tables_.attempts[*open].where = s.where;
}

void PacketJoiner::arrives(const Sighting& s) {
  const uint32_t packet = packet_of(s);
  if (packet == kNone) return;
  const AttemptChoice<uint32_t> choice = attempts_of(s, packet);
  if (choice.open()) return arrives_first(s, tables_.attempts[*choice.open()]);
  if (choice.ended()) return arrives_again(s, tables_.attempts[*choice.ended()]);
  ++tables_.counters.unmatched_arrivals;
  Attempt& unseen = tables_.attempts[add_attempt(s, packet)];
  unseen.start_seen = false;
  arrives_first(s, unseen);
}

void PacketJoiner::arrives_first(const Sighting& s, Attempt& t) {
  t.ended = s.t;
  t.fate = s.trimmed ? Fate::kTrimmed : Fate::kDelivered;
  if (!t.trimmed) t.where = s.where;
  t.trimmed = t.trimmed || s.trimmed;
  t.marked = s.marked;
  t.cause = DropCause::kNone;
  ++(s.trimmed ? t.headers : t.whole);
  if (s.trimmed) return;
  Packet& owner = tables_.packets[t.packet];
  compare_placement(s, owner, t);
  if (owner.delivered != FabricTime::never()) {
    ++tables_.counters.duplicate_deliveries;
    return;
  }
  owner.delivered = s.t;
  tables_.deliveries.push_back({s.t, t.packet, owner.payload, topology_.port(s.where).plane});
}

/// A wire carried the attempt twice. If the first of the two frames was lost or trimmed, the second
/// may still bring the payload.
void PacketJoiner::arrives_again(const Sighting& s, Attempt& t) {
  ++tables_.counters.copies;
  if (t.copies < UINT8_MAX) ++t.copies;
  if (t.fate == Fate::kDropped || (t.fate == Fate::kTrimmed && !s.trimmed))
    return arrives_first(s, t);
  if (uint8_t& frames = s.trimmed ? t.headers : t.whole; frames < UINT8_MAX) ++frames;
  if (s.trimmed) return;
  ++tables_.counters.duplicate_deliveries;
  compare_placement(s, tables_.packets[t.packet], t);
}

void PacketJoiner::is_dropped(const Sighting& s) {
  const uint32_t packet = packet_of(s);
  if (packet == kNone) return;
  const bool at_sender = s.where.node == topology_.host(s.source) && s.kind == Kind::kDropOut;
  const AttemptChoice<uint32_t> choice = attempts_of(s, packet);
  std::optional<uint32_t> attempt = choice.open();
  if (at_sender) {
    // Given to a port that could not send it: it has no egress record.
    attempt = add_attempt(s, packet);
    if (tables_.attempts[*attempt].attempt > 0) ++tables_.counters.retransmissions;
  } else if (!attempt && choice.ended()) {
    const bool refused = s.where.node == topology_.host(s.destination) && !lost_on_wire(s.cause);
    if (!refused || arrival_stands(s, *choice.ended())) {
      ++tables_.counters.copies;  // the second frame of an attempt that a wire carried twice
      return;
    }
    attempt = choice.ended();
  }
  if (!attempt) {
    ++tables_.counters.unmatched_drops;
    return;
  }
  Attempt& t = tables_.attempts[*attempt];
  t.ended = s.t;
  t.fate = Fate::kDropped;
  t.cause = s.cause;
  t.where = s.where;
  t.trimmed = t.trimmed || s.trimmed;
}

/// The NIC has refused a frame that was counted as arrived. Does the arrival stand all the same, by
/// another frame of the same attempt?
bool PacketJoiner::arrival_stands(const Sighting& refused, uint32_t attempt) {
  Attempt& t = tables_.attempts[attempt];
  if (uint8_t& frames = refused.trimmed ? t.headers : t.whole; frames > 0) --frames;
  if (t.whole > 0) return true;
  undo_arrival(attempt);
  if (t.headers > 0) t.fate = Fate::kTrimmed;
  return t.headers > 0;
}

void PacketJoiner::undo_arrival(uint32_t attempt) {
  const Attempt& t = tables_.attempts[attempt];
  if (t.fate != Fate::kDelivered) return;
  Packet& owner = tables_.packets[t.packet];
  if (owner.delivered != t.ended) return;
  owner.delivered = FabricTime::never();
  flows_[owner.flow].forget_arrivals();
  for (auto d = tables_.deliveries.rbegin(); d != tables_.deliveries.rend() && d->t >= t.ended;
       ++d) {
    if (d->packet != t.packet) continue;
    d->bytes = 0;
    d->packet = kNone;  // removed in join_all()
    return;
  }
}

}  // namespace

PacketHistory join_sightings(const Topology& topology, Sightings seen) {
  return PacketJoiner(topology, std::move(seen)).join_all();
}

}  // namespace mrclab::analysis
