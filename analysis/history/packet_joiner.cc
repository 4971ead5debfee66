#include "analysis/history/packet_joiner.h"

#include <algorithm>
#include <deque>
#include <set>
#include <tuple>

#include "analysis/history/answer_joiner.h"
#include "analysis/history/flow_table.h"
#include "analysis/history/joined_parts.h"
#include "analysis/history/sighting_order.h"
#include "fabric/base/cache_line.h"
#include "fabric/packet/headers.h"

namespace mrclab::analysis {
namespace {

/// Joins one part.
class PacketJoiner {
 public:
  /// `seen` outlives it.
  PacketJoiner(const Topology& topology, const Sightings& seen)
      : topology_(topology), seen_(seen), answers_(topology, seen.answers, flows_, tables_) {}
  PacketJoiner(const PacketJoiner&) = delete;
  PacketJoiner& operator=(const PacketJoiner&) = delete;
  /// `last`: of all sightings, of whichever part. `alone`: there are no other parts, so which turn made
  /// what need not be known.
  void join_all(const SightingPart& part, FabricTime last, bool alone);
  size_t slots_in_use() const { return flows_.slots_in_use(); }
  JoinedPart take();

 private:
  static constexpr uint32_t kNone = Attempt::kNone;
  static constexpr size_t kAhead = 8;  // so long before it is joined a sighting is fetched
  using Kind = Sighting::Kind;

  void note_turn(uint32_t turn);
  void remove_undone();
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
  const Sightings& seen_;
  PacketTables tables_;
  JoinedPart::MadeBy made_by_;
  FlowTable flows_;
  AnswerJoiner answers_;
};

void PacketJoiner::join_all(const SightingPart& part, FabricTime last, bool alone) {
  tables_.attempts.reserve(part.leaving);
  tables_.packets.reserve(part.leaving);
  tables_.deliveries.reserve(part.leaving);
  const std::vector<SightingTurn>& turns = part.turns;
  for (size_t i = 0; i < turns.size(); ++i) {
    if (i + kAhead < turns.size()) {
      fetch_lines(&seen_.frames[turns[i + kAhead].sighting], sizeof(Sighting));
    }
    if (i + kAhead / 2 < turns.size()) {  // is fetched by now
      const Sighting& next = seen_.frames[turns[i + kAhead / 2].sighting];
      if (carries_data(next.opcode) && next.detail != kNone) {
        fetch_line(&seen_.placements[next.detail]);
      }
    }
    join(seen_.frames[turns[i].sighting]);
    if (!alone) note_turn(turns[i].turn);
  }
  answers_.finish();
  if (!topology_.carries_time() && !turns.empty()) give_up_on_silent(last);
  remove_undone();
  count_fates();
  flows_.give_to(tables_);
}

JoinedPart PacketJoiner::take() { return {std::move(tables_), std::move(made_by_)}; }

/// A sighting makes at most one of each.
void PacketJoiner::note_turn(uint32_t turn) {
  const auto note = [turn](std::vector<uint32_t>& turns, size_t made) {
    if (turns.size() < made) turns.push_back(turn);
  };
  note(made_by_.flows, flows_.size());
  note(made_by_.packets, tables_.packets.size());
  note(made_by_.attempts, tables_.attempts.size());
  note(made_by_.deliveries, tables_.deliveries.size());
  note(made_by_.control, tables_.control.size());
}

/// Deliveries that were taken back.
void PacketJoiner::remove_undone() {
  std::vector<Delivery>& all = tables_.deliveries;
  std::vector<uint32_t>& turns = made_by_.deliveries;
  size_t kept = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].packet == kNone) continue;
    if (!turns.empty()) turns[kept] = turns[i];
    all[kept++] = all[i];
  }
  all.resize(kept);
  if (!turns.empty()) turns.resize(kept);
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
  Placement then = seen_.placements[packet.placement];
  const Placement& now = seen_.placements[s.detail];
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

/// What reading has found out already stands in the history as it is; placements are looked at until all
/// is joined.
PacketTables begun_with(Sightings& seen) {
  PacketTables tables;
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

/// An answer that arrived and was then refused by the NIC (its ICRC was wrong) said nothing: its
/// arrival is one ingress latency older than its drop.
void skip_refused_answers(const Topology& topology, std::vector<Sighting>& frames) {
  using Refused = std::tuple<FabricTime, PortRef, uint32_t, uint32_t, Opcode>;
  const auto refused_as = [](const Sighting& s, FabricTime arrival) {
    return Refused{arrival, s.where, s.qp, s.psn, s.opcode};
  };
  std::set<Refused> refused;
  for (const Sighting& s : frames) {
    const bool here =
        s.kind == Sighting::Kind::kDropIn && s.where.node == topology.host(s.destination);
    if (here && !carries_data(s.opcode)) refused.insert(refused_as(s, s.t - topology.host_latency));
  }
  if (refused.empty()) return;
  for (Sighting& s : frames) {
    if (s.kind != Sighting::Kind::kIngress || carries_data(s.opcode)) continue;
    // Each instant was rounded down to a nanosecond on its own.
    const FabricTime tick = FabricTime::from_ns(1);
    for (const FabricTime t : {s.t - tick, s.t, s.t + tick}) {
      if (!refused.contains(refused_as(s, t))) continue;
      s.detail = Attempt::kNone;
      s.probe = true;  // no traffic either
    }
  }
}

/// The history of the one part that there is.
void add_only(PacketTables& tables, PacketTables part) {
  tables.flows = std::move(part.flows);
  tables.in_order = std::move(part.in_order);
  tables.packets = std::move(part.packets);
  tables.attempts = std::move(part.attempts);
  tables.deliveries = std::move(part.deliveries);
  tables.control = std::move(part.control);
  tables.rc_answers = std::move(part.rc_answers);
  tables.counters.add(part.counters);
  tables.complete_until = std::min(tables.complete_until, part.complete_until);
}

/// Empty if the parts together have more PSNs than one would have had room for: then which of them it is
/// that finds none depends on all.
std::vector<JoinedPart> joined(const Topology& topology, const Sightings& seen, FabricTime last,
                               const SideBySide& side_by_side) {
  const std::vector<SightingPart> parts = parts_by_time(seen.frames, side_by_side);
  std::deque<PacketJoiner> joiners;
  for (size_t i = 0; i < parts.size(); ++i) joiners.emplace_back(topology, seen);
  run_all(side_by_side, parts.size(),
          [&](size_t i) { joiners[i].join_all(parts[i], last, parts.size() == 1); });
  size_t slots = 0;
  std::vector<JoinedPart> joined;
  for (PacketJoiner& joiner : joiners) {
    slots += joiner.slots_in_use();
    joined.push_back(joiner.take());
  }
  if (parts.size() > 1 && slots > FlowTable::kMaxSlots) joined.clear();
  return joined;
}

}  // namespace

PacketHistory join_sightings(const Topology& topology, Sightings seen,
                             const SideBySide& side_by_side) {
  PacketTables tables = begun_with(seen);
  skip_refused_answers(topology, seen.frames);
  FabricTime last = FabricTime::zero();
  if (!topology.carries_time()) {
    for (const Sighting& s : seen.frames) last = std::max(last, s.t);
  }
  std::vector<JoinedPart> parts = joined(topology, seen, last, side_by_side);
  if (parts.empty()) parts = joined(topology, seen, last, {});
  std::vector<Sighting>().swap(seen.frames);  // its memory is given back before parts are copied
  tables.placements = std::move(seen.placements);
  if (parts.size() == 1) {
    add_only(tables, std::move(parts[0].tables));
  } else {
    add_parts(tables, std::move(parts), side_by_side);
  }
  return PacketHistory(std::move(tables));
}

}  // namespace mrclab::analysis
