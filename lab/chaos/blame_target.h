#pragma once
// What a fault broke, as blame would call it, and how many packets it touched: for scoring alone.
// Here the schedule is looked at; blame itself never sees it.

#include <cstdint>
#include <set>
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

/// Transmissions of data that the fault lost, doubled or marked at this target while it was on, by
/// the records of the nodes; `ways` are those of the evidence's packets. A host's report of a dark port of its own counts as kObservableHits.
uint64_t hits_of(const Topology& topology, const analysis::Evidence& evidence,
                 const analysis::TakenWays& ways, const faults::Fault& fault,
                 const BlameTarget& target);

/// So many transmissions make a fault observable: fewer could be anything on the way.
inline constexpr uint64_t kObservableHits = 5;
/// From the start of a packet to its loss, and from a fault's end to the last of its losses.
inline constexpr FabricTime kBlameSlack = FabricTime::from_us(20);

}  // namespace mrclab::lab
