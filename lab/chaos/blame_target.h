#pragma once
// What a fault broke, as blame would call it, and how many packets it touched: for scoring alone.
// Here the schedule is looked at; blame itself never sees it.

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analysis/blame/taken_ways.h"
#include "analysis/history/evidence.h"
#include "fabric/topology/topology.h"
#include "faults/fault.h"

namespace mrclab::lab {

/// One target of a fault: a fault on two links has two.
struct BlameTarget {
  std::set<std::string> names;  ///< "link h0:p2--p2.t0-0:d0": any of these is right
  std::set<LinkId> links;       ///< its parts
  std::set<WireId> wires;       ///< where its losses are recorded
  std::set<NodeId> nodes;       ///< likewise
  /// Links of a line card, nodes of a power zone: where the fault touched one of them alone, nothing distinguishes it
  /// from the whole, and its name is right as well.
  std::vector<BlameTarget> parts = {};
};
std::vector<BlameTarget> blame_targets(const Topology& topology, const faults::Fault& fault);

/// Why a fault of this kind leaves nothing that packets or hosts' reports show; empty if it does.
std::string_view without_evidence(faults::FaultKind kind);

/// A target of a fault, to be found. Neither is owned.
struct BlameCase {
  const faults::Fault* fault = nullptr;
  const BlameTarget* target = nullptr;
};
/// Do both name the same part? A blame of it names both.
bool same_part(const BlameTarget& a, const BlameTarget& b);
/// Does it turn ports dark?
bool darkens_ports(faults::FaultKind kind);
/// Do hosts come back from it without their queue pairs? What is sent to those is lost for good.
bool loses_queue_pairs(faults::FaultKind kind);
/// May faults of both kinds have done the same to a packet: lost it, doubled it, marked it, refused it?
bool same_damage(faults::FaultKind a, faults::FaultKind b);

/// What a fault took at a target.
struct TargetHits {
  uint64_t all = 0;
  /// Of these, what no rival could have taken: no other part on the packet's path was broken then by a fault that does
  /// such damage.
  uint64_t alone = 0;
};

/// Transmissions of data that the fault lost, doubled or marked at this target while it was on, by
/// the records of the nodes; `ways` are those of the evidence's packets. A host's report of a dark port of its own counts as
/// kObservableHits. `rivals` are the other parts that were broken in the run.
TargetHits hits_of(const Topology& topology, const analysis::Evidence& evidence,
                   const analysis::TakenWays& ways, const BlameCase& of,
                   std::span<const BlameCase> rivals);

/// So many transmissions make a fault observable: fewer could be anything on the way.
inline constexpr uint64_t kObservableHits = 5;
/// From the start of a packet to its loss, and from a fault's end to the last of its losses.
inline constexpr FabricTime kBlameSlack = FabricTime::from_us(20);

}  // namespace mrclab::lab
