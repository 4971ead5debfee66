#include "analysis/history/part_joiner.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "analysis/history/path_wires.h"
#include "fabric/base/cache_line.h"
#include "fabric/packet/headers.h"

namespace mrclab::analysis {

void PartJoiner::join_all(const SightingPart& part, FabricTime last, bool alone) {
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
      if (is_request(next.opcode) && next.detail != kNone) {
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

JoinedPart PartJoiner::take() { return {std::move(tables_), std::move(made_by_)}; }

/// A sighting makes at most one of each.
void PartJoiner::note_turn(uint32_t turn) {
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
void PartJoiner::remove_undone() {
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
void PartJoiner::give_up_on_silent(FabricTime last) {
  const FabricTime patience = topology_.base_rtt * PacketHistory::kLostAfterRtts;
  for (Attempt& attempt : tables_.attempts) {
    if (attempt.fate != Fate::kInFlight || !attempt.start_seen || attempt.start + patience > last) {
      continue;
    }
    attempt.fate = Fate::kDropped;
    attempt.ended = attempt.start;
  }
}

void PartJoiner::count_fates() {
  for (const Attempt& attempt : tables_.attempts) {
    tables_.counters.trimmed += attempt.trimmed ? 1 : 0;
    tables_.counters.dropped += attempt.lost() ? 1 : 0;
    tables_.counters.refused += attempt.refused() ? 1 : 0;
  }
}

void PartJoiner::join(const Sighting& s) {
  const bool data = is_request(s.opcode);
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
uint32_t PartJoiner::packet_of(const Sighting& s) {
  const uint32_t flow = flows_.find_or_add(s.source, s.destination, s.qp, is_rc(s.opcode));
  uint32_t* slot = flows_.slot_of(flow, s.psn, true);
  if (slot == nullptr) {
    ++tables_.counters.over_limit;
    tables_.complete_until = std::min(tables_.complete_until, s.t);
    return kNone;
  }
  if (*slot == kNone) {
    *slot = static_cast<uint32_t>(tables_.packets.size());
    Packet packet;
    packet.flow = flow;
    packet.psn = s.psn;
    packet.payload = s.payload;
    tables_.packets.push_back(packet);
  }
  const uint32_t found = *slot;
  if (is_rc_fetch(s.opcode) && s.detail != kNone) take_psns_of_answer(flow, s, found);
  return found;
}

/// A READ takes as many PSNs as its answer has packets: all of them are this packet's.
void PartJoiner::take_psns_of_answer(uint32_t flow, const Sighting& s, uint32_t packet) {
  const auto psns =
      static_cast<int32_t>(std::min(seen_.placements[s.detail].psns, kMostPsnsOfRead));
  for (int32_t i = 1; i < psns; ++i) {
    uint32_t* const slot = flows_.slot_of(flow, s.psn + i, true);
    if (slot == nullptr) return;
    if (*slot == kNone) *slot = packet;
  }
}

uint32_t PartJoiner::add_attempt(const Sighting& s, uint32_t packet) {
  Packet& owner = tables_.packets[packet];
  Attempt t;
  t.start = s.start;
  t.ended = FabricTime::never();
  t.ev = s.ev;
  t.rtx = s.retransmission;
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

AttemptChoice<uint32_t> PartJoiner::attempts_of(const Sighting& s, uint32_t packet) const {
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
bool PartJoiner::is_copy(const Sighting& s, uint32_t packet) const {
  if (tables_.packets[packet].last == kNone) return false;
  // RC may go back to the same packet once more at once, by its timer and by a NAK; not while it is new.
  if (is_rc(s.opcode) && tables_.packets[packet].attempts > 1) return false;
  const Attempt& before = tables_.attempts[tables_.packets[packet].last];
  const FabricTime length = s.t - s.start;
  return s.mark().copies(before.mark(), s.start - before.start, length * 2);
}

void PartJoiner::leaves(const Sighting& s) {
  const uint32_t packet = packet_of(s);
  if (packet == kNone) return;
  if (is_copy(s, packet)) {
    ++tables_.counters.copies;
    return;
  }
  const Attempt& t = tables_.attempts[add_attempt(s, packet)];
  if (t.attempt > 0) ++tables_.counters.retransmissions;
  if (is_write(s.opcode) && (t.attempt > 0) != s.retransmission) ++tables_.counters.rtx_bit_wrong;
  if (tables_.packets[packet].placement == kNone) tables_.packets[packet].placement = s.detail;
}

/// An arrival must have the same content as the first that was seen of its packet. A retransmission may
/// differ in its headers' flags, never in where its bytes go or what they are.
void PartJoiner::compare_placement(const Sighting& s, Packet& packet, Attempt& t) const {
  if (s.detail == kNone) return;
  if (packet.placement == kNone) {
    packet.placement = s.detail;
    return;
  }
  Placement then = seen_.placements[packet.placement];
  const Placement& now = seen_.placements[s.detail];
  if (then.nowhere || now.nowhere) return;  // a READ goes on where its answer ended
  if (then.sample == 0 || now.sample == 0) then.sample = now.sample;
  t.differs = t.differs || then != now;
}

void PartJoiner::is_trimmed(const Sighting& s) {
  const uint32_t packet = packet_of(s);
  if (packet == kNone) return;
  const std::optional<uint32_t> open = attempts_of(s, packet).open();
  if (!open) return;
  tables_.attempts[*open].trimmed = true;
  tables_.attempts[*open].where = s.where;
}

void PartJoiner::arrives(const Sighting& s) {
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

void PartJoiner::arrives_first(const Sighting& s, Attempt& t) {
  t.ended = s.t;
  t.fate = s.trimmed ? Fate::kTrimmed : Fate::kDelivered;
  if (!t.trimmed) t.where = s.where;
  t.trimmed = t.trimmed || s.trimmed;
  t.marked = s.marked();
  t.cause = DropCause::kNone;
  ++(s.trimmed ? t.headers : t.whole);
  if (s.trimmed) return;
  Packet& owner = tables_.packets[t.packet];
  compare_placement(s, owner, t);
  if (owner.delivered != FabricTime::never()) {
    ++tables_.counters.duplicate_deliveries;
    keep_spare(s, t.packet);
    return;
  }
  owner.delivered = s.t;
  tables_.deliveries.push_back({s.t, t.packet, owner.payload, known_ports_.of(s.where).plane});
}

/// A wire carried the attempt twice. If the first of the two frames was lost or trimmed, the second
/// may still bring the payload.
void PartJoiner::arrives_again(const Sighting& s, Attempt& t) {
  ++tables_.counters.copies;
  if (t.copies < UINT8_MAX) ++t.copies;
  if (t.fate == Fate::kDropped || (t.fate == Fate::kTrimmed && !s.trimmed))
    return arrives_first(s, t);
  if (uint8_t& frames = s.trimmed ? t.headers : t.whole; frames < UINT8_MAX) ++frames;
  if (s.trimmed) return;
  ++tables_.counters.duplicate_deliveries;
  compare_placement(s, tables_.packets[t.packet], t);
}

void PartJoiner::is_dropped(const Sighting& s) {
  const uint32_t packet = packet_of(s);
  if (packet == kNone) return;
  const bool at_sender = s.where.node == topology_.host(s.source) && s.kind == Kind::kDropOut;
  const AttemptChoice<uint32_t> choice = attempts_of(s, packet);
  std::optional<uint32_t> attempt = choice.open();
  const bool at_receiver = s.where.node == topology_.host(s.destination) && !lost_on_wire(s.cause);
  const std::optional<uint32_t> examined = at_receiver ? examined_by(s, packet) : std::nullopt;
  if (at_sender) {
    // Given to a port that could not send it: it has no egress record.
    attempt = add_attempt(s, packet);
    if (tables_.attempts[*attempt].attempt > 0) ++tables_.counters.retransmissions;
  } else if (examined || (!attempt && choice.ended())) {
    attempt = examined ? examined : choice.ended();
    if (!at_receiver || arrival_stands(s, *attempt)) {
      ++tables_.counters.copies;  // the second frame of an attempt that a wire carried twice
      return;
    }
  } else if (drop_kind(s.cause) == DropKind::kCongested) {
    attempt = last_to_queue(s, packet);
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

/// The attempt whose frame the receiving NIC has just looked at, one latency of the host after its last bit. Another
/// attempt of RC looks alike, and may be under way.
std::optional<uint32_t> PartJoiner::examined_by(const Sighting& s, uint32_t packet) const {
  const FabricTime rounding = FabricTime::from_ns(1);  // each instant was rounded down on its own
  const FabricTime arrived = s.t - topology_.host_latency;
  uint32_t at = tables_.packets[packet].last;
  for (uint32_t step = 0; at != kNone && step < kMaxAttemptsWalked; ++step) {
    const Attempt& t = tables_.attempts[at];
    const bool there = t.fate == Fate::kDelivered || t.fate == Fate::kTrimmed;
    if (there && t.mark().agrees(s.mark()) && t.ended >= arrived - rounding &&
        t.ended <= arrived + rounding) {
      return at;
    }
    at = t.previous;
  }
  return std::nullopt;
}

/// A full queue turns away what comes last. Of attempts that look alike (RC) and are under way that is the newest
/// which can have come as far as this switch; the older ones stand before it.
std::optional<uint32_t> PartJoiner::last_to_queue(const Sighting& s, uint32_t packet) const {
  std::optional<uint32_t> last;
  std::optional<FabricTime> way;
  uint32_t at = tables_.packets[packet].last;
  for (uint32_t step = 0; at != kNone && step < kMaxAttemptsWalked; ++step) {
    const Attempt& t = tables_.attempts[at];
    if (t.fate == Fate::kInFlight && t.mark().agrees(s.mark())) {
      if (last) {
        if (!way) way = shortest_way_to(s);
        if (tables_.attempts[*last].start + *way <= s.t) return last;
      }
      last = at;
    }
    at = t.previous;
  }
  return last;
}

/// The least time from the first bit leaving a host until a frame has come to the place of this sighting. Where the
/// path is not known that is no time.
FabricTime PartJoiner::shortest_way_to(const Sighting& s) const {
  const auto path = built_path(topology_, s.source, s.destination, s.ev);
  FabricTime way;
  if (!path) return way;
  const std::vector<WireId> wires = wires_of(topology_, s.source, s.destination, *path);
  const Bytes length = wire_length({s.payload});
  for (size_t i = 0; i < wires.size(); ++i) {
    const Wire& wire = topology_.wire(wires[i]);
    way += serialization_time(length, wire.rate) + wire.propagation;
    if (wire.to.node == s.where.node) return way;
    if (i + 1 < wires.size()) {
      way += topology_.pipeline_time(wire, topology_.wire(wires[i + 1]), length);
    }
  }
  return way;
}

/// The NIC has refused a frame that was counted as arrived. Does the arrival stand all the same, by
/// another frame of the same attempt?
bool PartJoiner::arrival_stands(const Sighting& refused, uint32_t attempt) {
  Attempt& t = tables_.attempts[attempt];
  if (uint8_t& frames = refused.trimmed ? t.headers : t.whole; frames > 0) --frames;
  if (t.whole > 0) return true;
  undo_arrival(attempt);
  if (t.headers > 0) t.fate = Fate::kTrimmed;
  return t.headers > 0;
}

void PartJoiner::undo_arrival(uint32_t attempt) {
  const Attempt& t = tables_.attempts[attempt];
  if (t.fate != Fate::kDelivered) return;
  Packet& owner = tables_.packets[t.packet];
  if (owner.delivered != t.ended) {
    if (take_spare(t.packet, t.ended, t.ended)) --tables_.counters.duplicate_deliveries;
    return;
  }
  owner.delivered = FabricTime::never();
  flows_[owner.flow].forget_arrivals();
  for (auto d = tables_.deliveries.rbegin(); d != tables_.deliveries.rend() && d->t >= t.ended;
       ++d) {
    if (d->packet != t.packet) continue;
    d->bytes = 0;
    d->packet = kNone;  // removed in join_all()
    break;
  }
  const auto spare = take_spare(t.packet, t.ended, FabricTime::never());
  if (!spare) return;
  tables_.deliveries[*spare].packet = t.packet;
  owner.delivered = tables_.deliveries[*spare].t;
  --tables_.counters.duplicate_deliveries;
}

/// An attempt arrived behind another of its packet, which the NIC may still refuse: then this one
/// brings the bytes. Its delivery is in the table already, marked as taken back.
void PartJoiner::keep_spare(const Sighting& s, uint32_t packet) {
  spares_.push_back({static_cast<uint32_t>(tables_.deliveries.size()), packet});
  tables_.deliveries.push_back(
      {s.t, kNone, tables_.packets[packet].payload, known_ports_.of(s.where).plane});
}

/// The first spare delivery of the packet that arrived in [from, until], taken out.
std::optional<uint32_t> PartJoiner::take_spare(uint32_t packet, FabricTime from, FabricTime until) {
  auto found = spares_.end();
  for (auto spare = spares_.end(); spare != spares_.begin();) {
    --spare;
    const FabricTime t = tables_.deliveries[spare->delivery].t;
    if (t < from) break;
    if (spare->packet == packet && t <= until) found = spare;
  }
  if (found == spares_.end()) return std::nullopt;
  const uint32_t delivery = found->delivery;
  spares_.erase(found);
  return delivery;
}

}  // namespace mrclab::analysis
