// Joining the sightings of one packet to attempts (packet_life.h: by what).

#include <algorithm>

#include "analysis/history/path_wires.h"
#include "analysis/trace/packet_life.h"
#include "fabric/paths/path_list.h"
#include "fabric/topology/routes.h"

namespace mrclab::analysis {
namespace {

/// IPv6 hop limit of the outer header (64): a frame visits no more nodes.
constexpr size_t kMaxHops = 2 * 64 + 2;

class Walker {
 public:
  Walker(const Topology& topology, const FoundPacket& found)
      : topology_(topology), found_(found), used_(found.sightings.size(), false) {}

  std::vector<LifeAttempt> walks() {
    std::vector<LifeAttempt> attempts;
    const NodeId source = topology_.host(found_.source);
    for (size_t i = 0; i < used_.size(); ++i) {
      const LifeSighting& s = found_.sightings[i];
      const bool leaves = s.where.node == source && s.side == Direction::kEgress;
      if (leaves && !used_[i]) attempts.push_back(walk(i));
    }
    std::stable_sort(attempts.begin(), attempts.end(), [](const auto& a, const auto& b) {
      return a.hops.front().seen->t < b.hops.front().seen->t;
    });
    // The remaining sightings have no record of leaving: copies that a wire made, or the sender was
    // not captured.
    for (size_t left = earliest_left(); left < used_.size(); left = earliest_left()) {
      attempts.push_back(walk(left));
    }
    number(attempts);
    return attempts;
  }

 private:
  static bool same_crossing(const LifeSighting& a, const LifeSighting& b) {
    return a.trailer && b.trailer && a.trailer->wire == b.trailer->wire &&
           a.trailer->incarnation == b.trailer->incarnation &&
           a.trailer->sequence == b.trailer->sequence;
  }

  /// How near to the sender a sighting is, by what is left of its carrier.
  size_t distance(const LifeSighting& s) const {
    const auto path = built_path(topology_, found_.source, found_.destination, s.ev);
    if (!path) return 0;
    size_t at = 0;
    for (const WireId wire : wires_of(topology_, found_.source, found_.destination, *path)) {
      const Wire& w = topology_.wire(wire);
      if (s.where == w.from && s.side == Direction::kEgress) return at;
      if (s.where == w.to && s.side == Direction::kIngress) return at + 1;
      at += 2;
    }
    return at + 1;
  }

  size_t earliest_left() const {
    size_t best = used_.size();
    for (size_t i = 0; i < used_.size(); ++i) {
      if (used_[i]) continue;
      if (best == used_.size() ||
          distance(found_.sightings[i]) < distance(found_.sightings[best])) {
        best = i;
      }
    }
    return best;
  }

  /// The next sighting at places that `here` accepts; used_.size() if there is none. Captures come
  /// first, what passed before what was dropped; then records, by time. Attempts of RC look alike, but go
  /// one after the other over one path: there the earliest is the one.
  template <class Here>
  size_t next(const LifeSighting& first, const LifeSighting* before, const Here& here) const {
    constexpr FabricTime kRounding = FabricTime::from_ns(1);  // captures count nanoseconds
    size_t best = used_.size();
    const std::optional<Path> path = path_of(first.ev);
    const bool alike = path && path->chosen == Chosen::kByFlow;
    const auto rank = [](const LifeSighting& s) {
      return s.from_record ? 2 : s.event == PacketEvent::kDropped ? 1 : 0;
    };
    for (size_t i = 0; i < used_.size(); ++i) {
      const LifeSighting& s = found_.sightings[i];
      if (used_[i] || !here(s) || !s.mark().agrees(first.mark())) continue;
      if (before != nullptr && same_crossing(*before, s)) return i;
      const bool by_time = s.from_record || alike;
      if (by_time && before != nullptr && s.t + kRounding < before->t) continue;
      if (best == used_.size()) {
        best = i;
        continue;
      }
      const LifeSighting& other = found_.sightings[best];
      const bool sooner = (alike || (s.from_record && other.from_record)) && s.t < other.t;
      if ((!alike && rank(s) < rank(other)) || sooner) best = i;
    }
    return best;
  }

  LifeAttempt walk(size_t start) {
    const LifeSighting& first = found_.sightings[start];
    LifeAttempt attempt;
    attempt.ev = first.ev;
    carrier_ = first.carrier;
    if (!carrier_) {
      const auto path = path_of(first.ev);
      if (path && has_path(topology_, found_.source, found_.destination, *path)) {
        carrier_ = make_carrier(topology_, found_.source, found_.destination, *path);
      } else if (path && !path->named()) {
        carrier_ = path->chosen == Chosen::kByHashIpv4
                       ? host_address_ipv4(found_.destination)
                       : host_address(topology_, found_.destination);
      }
    }
    last_seen_ = nullptr;
    step(attempt, start, first.where, first.side);
    while (attempt.fate == Fate::kInFlight && attempt.hops.size() < kMaxHops) {
      const Hop& hop = attempt.hops.back();
      const bool more =
          hop.side == Direction::kEgress ? cross_wire(attempt, first) : cross_node(attempt, first);
      if (!more) break;
    }
    while (attempt.hops.back().seen == nullptr) attempt.hops.pop_back();
    return attempt;
  }

  bool cross_wire(LifeAttempt& attempt, const LifeSighting& first) {
    const PortRef to = topology_.port(attempt.hops.back().where).peer;
    const size_t found = next(first, last_seen_, [&](const LifeSighting& s) {
      return s.where == to && s.side == Direction::kIngress;
    });
    return step(attempt, found, to, Direction::kIngress);
  }

  bool cross_node(LifeAttempt& attempt, const LifeSighting& first) {
    const PortRef in = attempt.hops.back().where;
    const bool host = topology_.node(in.node).role == NodeRole::kHost;
    const size_t found = next(first, last_seen_, [&](const LifeSighting& s) {
      const bool dropped = s.event == PacketEvent::kDropped;
      return s.where.node == in.node && (dropped || (!host && s.side == Direction::kEgress));
    });
    if (found < used_.size()) {
      const LifeSighting& s = found_.sightings[found];
      return step(attempt, found, s.where, s.side);
    }
    if (host) {
      if (in.node == topology_.host(found_.destination) && attempt.hops.back().seen != nullptr) {
        attempt.fate = attempt.hops.back().seen->trimmed ? Fate::kTrimmed : Fate::kDelivered;
      }
      return false;
    }
    const std::optional<PortId> out = route(in.node, attempt.ev);
    return out && step(attempt, used_.size(), {in.node, *out}, Direction::kEgress);
  }

  /// Where a switch sends what has this carrier, as built; shifts the carrier if the switch does.
  std::optional<PortId> route(NodeId node, EntropyValue ev) const {
    if (!carrier_) return std::nullopt;
    if (!in_usid_block(*carrier_)) return route_by_path(node, ev);
    if (const auto link = port_of_adjacency(topology_, node, active_usid(*carrier_))) return link;
    const bool stripped = active_usid(*carrier_) == topology_.node(node).usid &&
                          end_of_carrier(*carrier_) && topology_.decap == Decap::kLeaf;
    if (stripped) return route_by_path(node, ev);
    Ipv6Address after = *carrier_;
    shift_if_own(node, after);
    return port_toward(topology_, node, active_usid(after));
  }

  /// Without a carrier: by the wires of the value's path.
  std::optional<PortId> route_by_path(NodeId node, EntropyValue ev) const {
    const auto path = built_path(topology_, found_.source, found_.destination, ev);
    if (!path) return std::nullopt;
    for (const WireId id : wires_of(topology_, found_.source, found_.destination, *path)) {
      const Wire& wire = topology_.wire(id);
      if (wire.from.node == node) return wire.from.port;
    }
    return std::nullopt;
  }

  void shift_if_own(NodeId node, Ipv6Address& carrier) const {
    if (!in_usid_block(carrier)) return;
    const NodeSite& site = topology_.node(node);
    if (site.role == NodeRole::kHost) return;
    const Usid active = active_usid(carrier);
    if (end_of_carrier(carrier)) return;
    if (active == site.usid || port_of_adjacency(topology_, node, active)) shift_carrier(carrier);
  }

  bool step(LifeAttempt& attempt, size_t found, PortRef where, Direction side) {
    Hop hop;
    hop.where = where;
    hop.side = side;
    const LifeSighting* seen = found < used_.size() ? &found_.sightings[found] : nullptr;
    if (carrier_ && side == Direction::kEgress) shift_if_own(where.node, *carrier_);
    if (seen != nullptr) {
      used_[found] = true;
      hop.seen = seen;
      hop.trimmed = seen->event == PacketEvent::kTrimmed;
      if (seen->carrier) carrier_ = seen->carrier;
      hop.marked = seen->marked() && last_seen_ != nullptr && !last_seen_->marked();
      hop.waited = waited(attempt, *seen);
      if (seen->event == PacketEvent::kDropped) {
        attempt.fate = Fate::kDropped;
        attempt.cause = seen->cause;
      }
      last_seen_ = seen;
    }
    hop.carrier = carrier_;
    attempt.hops.push_back(hop);
    return true;
  }

  /// From the end of the ingress pipeline to the first bit leaving; both by the clock of one node.
  std::optional<FabricTime> waited(const LifeAttempt& attempt, const LifeSighting& out) const {
    if (out.side != Direction::kEgress || out.event == PacketEvent::kDropped) return std::nullopt;
    if (attempt.hops.empty() || attempt.hops.back().seen == nullptr) return std::nullopt;
    const Hop& in = attempt.hops.back();
    if (in.where.node != out.where.node || in.side != Direction::kIngress) return std::nullopt;
    const BitRate rate = topology_.link(topology_.port(out.where).link).rate;
    const FabricTime sending = serialization_time({out.wire_bytes}, rate);
    const FabricTime idle = inside(in, out) + sending;
    // Each instant of a capture was rounded down on its own.
    const bool rounded = !out.from_record || !in.seen->from_record;
    const FabricTime wait = out.t - in.seen->t - idle;
    const FabricTime noise = rounded ? FabricTime::from_ns(1) : FabricTime::zero();
    return wait <= noise ? FabricTime::zero() : wait;
  }

  /// How long the ingress pipeline keeps a frame.
  FabricTime inside(const Hop& in, const LifeSighting& out) const {
    if (topology_.node(out.where.node).role == NodeRole::kHost) return topology_.host_latency;
    return topology_.pipeline_time(topology_.wire(topology_.port(in.where).in),
                                   topology_.wire(topology_.port(out.where).out),
                                   {in.seen->wire_bytes});
  }

  static void number(std::vector<LifeAttempt>& attempts) {
    std::vector<const LifeSighting*> originals;
    for (LifeAttempt& attempt : attempts) {
      const LifeSighting& first = *attempt.hops.front().seen;
      const auto same =
          std::find_if(originals.begin(), originals.end(), [&](const LifeSighting* s) {
            const bool known = !s->from_record && !first.from_record && s->timed;
            return known && s->mark().agrees(first.mark());
          });
      attempt.copy = same != originals.end();
      if (!attempt.copy) originals.push_back(&first);
      attempt.number =
          static_cast<uint32_t>(attempt.copy ? same - originals.begin() + 1 : originals.size());
    }
  }

  const Topology& topology_;
  const FoundPacket& found_;
  std::vector<bool> used_;
  std::optional<Ipv6Address> carrier_;
  const LifeSighting* last_seen_ = nullptr;
};

/// The answer that reported an attempt as missing to its sender: the first between it and the next one.
/// The instants are all of the sender's own ports.
void attach_answers(const FoundPacket& found, PacketLife& life) {
  for (const Answer& answer : found.answers) {
    if (!answer.covers) continue;
    if (life.acknowledged == nullptr || answer.t < life.acknowledged->t)
      life.acknowledged = &answer;
  }
  for (size_t i = 0; i < life.attempts.size(); ++i) {
    LifeAttempt& attempt = life.attempts[i];
    if (attempt.copy || attempt.fate == Fate::kDelivered) continue;
    const FabricTime from = attempt.hops.front().seen->t;
    FabricTime until = FabricTime::never();
    for (size_t later = i + 1; later < life.attempts.size(); ++later) {
      const LifeAttempt& next = life.attempts[later];
      if (!next.copy) until = std::min(until, next.hops.front().seen->t);
    }
    for (const Answer& answer : found.answers) {
      const bool nack = answer.reason && (answer.reflected == attempt.ev ||
                                          answer.reflected == reflected(attempt.ev));
      if (!(nack || answer.gap) || answer.t < from || answer.t > until) continue;
      const bool better =
          attempt.reported == nullptr || (nack && !attempt.reported->reason) ||
          (nack == attempt.reported->reason.has_value() && answer.t < attempt.reported->t);
      if (better) attempt.reported = &answer;
    }
    for (const DeclaredLoss& loss : found.declared) {
      const bool fits = loss.ev == attempt.ev && loss.t >= from && loss.t <= until;
      if (fits && attempt.declared == nullptr) attempt.declared = &loss;
    }
  }
}

}  // namespace

PacketLife life_of(const Topology& topology, const FoundPacket& found) {
  PacketLife life;
  life.attempts = Walker(topology, found).walks();
  attach_answers(found, life);
  return life;
}

}  // namespace mrclab::analysis
