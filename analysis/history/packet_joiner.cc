#include "analysis/history/packet_joiner.h"

#include <algorithm>
#include <deque>
#include <set>
#include <tuple>

#include "analysis/history/part_joiner.h"
#include "fabric/packet/headers.h"

namespace mrclab::analysis {
namespace {

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
  tables.crossings_until = seen.crossings_until;
  tables.notes = std::move(seen.notes);
  return tables;
}

/// An answer that arrived and was then refused by the NIC (its ICRC was wrong) acknowledges nothing: its
/// arrival is one ingress latency older than its drop.
void skip_refused_answers(const Topology& topology, std::vector<Sighting>& frames) {
  using Refused = std::tuple<FabricTime, PortRef, uint32_t, uint32_t, Opcode>;
  const auto refused_as = [](const Sighting& s, FabricTime arrival) {
    return Refused{arrival, s.where, s.qp, s.psn.value(), s.opcode};
  };
  std::set<Refused> refused;
  for (const Sighting& s : frames) {
    const bool here =
        s.kind == Sighting::Kind::kDropIn && s.where.node == topology.host(s.destination);
    if (here && !is_request(s.opcode)) refused.insert(refused_as(s, s.t - topology.host_latency));
  }
  if (refused.empty()) return;
  for (Sighting& s : frames) {
    if (s.kind != Sighting::Kind::kIngress || is_request(s.opcode)) continue;
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

/// Empty if the parts together have more PSNs than one has room for: which PSN then finds no room
/// depends on the order of all.
std::vector<JoinedPart> joined(const Topology& topology, const Sightings& seen, FabricTime last,
                               const SideBySide& side_by_side) {
  const std::vector<SightingPart> parts = parts_by_time(seen.frames, side_by_side);
  std::deque<PartJoiner> joiners;
  for (size_t i = 0; i < parts.size(); ++i) joiners.emplace_back(topology, seen);
  run_all(side_by_side, parts.size(),
          [&](size_t i) { joiners[i].join_all(parts[i], last, parts.size() == 1); });
  size_t slots = 0;
  std::vector<JoinedPart> joined;
  for (PartJoiner& joiner : joiners) {
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
