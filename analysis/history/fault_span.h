#pragma once
// Faults as the judge sees them: which wires were impaired, from when until when. No knowledge of
// the fault engine; the schedule of effects (fabric/node/effect.h) is enough.

#include <span>
#include <string>
#include <vector>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"
#include "fabric/node/effect.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

/// One directed wire that did not carry everything during [from, until).
struct Impairment {
  WireId wire;
  FabricTime from;
  FabricTime until = FabricTime::never();
  bool operator==(const Impairment&) const = default;
};

/// A host whose NIC moved what it received to memory slowly, or not at all, during [from, until).
struct SlowedReceiver {
  NodeId host;
  FabricTime from;
  FabricTime until = FabricTime::never();
  bool operator==(const SlowedReceiver&) const = default;
};

/// One fault of the run. A flapping link has one impairment per wire and outage.
struct FaultSpan {
  std::string description;                     ///< as written: "optic_glitch p0.t0-0:o0 ..."
  std::string kind;                            ///< "optic_glitch"
  FabricTime start;                            ///< first effect
  FabricTime healed_at = FabricTime::never();  ///< last effect of the undo; never if not undone
  bool heals = true;                           ///< its schedule has an undo, whether or not reached
  std::vector<Impairment> impairments;         ///< ordered by (from, wire)
  std::vector<SlowedReceiver> receivers;       ///< ordered by `from`
  bool healed() const { return healed_at != FabricTime::never(); }
};

/// What a fault is called; its index is ScheduledEffect::fault.
struct FaultName {
  std::string description;
  std::string kind;
};

/// Turns an executed schedule (in any order) into spans. Which fault impairs which wires is
/// defined in fabric/node/impairment.h. Effects after `end` are not executed, so they do not heal.
std::vector<FaultSpan> fault_spans(const Topology& topology, std::span<const FaultName> names,
                                   std::span<const ScheduledEffect> schedule, FabricTime end);

/// Both wires of each link: for callers that have links only.
std::vector<Impairment> impairments_of_links(const Topology& topology,
                                             std::span<const LinkId> links, FabricTime from,
                                             FabricTime until);

}  // namespace mrclab::analysis
