#pragma once
// The second witness beside probes: what hosts report about the paths of their queue pairs (the MRC API's EV events). A
// value that became ASSUMED_BAD lost a packet between the two hosts, on this way; in a period in which the host reported
// its window to the peer, the values that stayed GOOD had theirs through. So they have a direction, and see a host's port
// on the way down, as no probe does that comes back to its sender (fabric/probes).
//
// A pair that loses values of most planes at once shows no place in the fabric: its receiver paused, or its answers were
// late. And a host that reports nothing is no evidence.

#include <vector>

#include "analysis/blame/blame_samples.h"
#include "analysis/history/event_history.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

struct EvSamples {
  std::vector<BlameSample> samples;  ///< in order of time; at most kMostEvSamples
  uint64_t events = 0;               ///< values that hosts reported as ASSUMED_BAD
};
/// A host noticed a loss at least so long after the packet had left it; samples have the instant at which it left (our
/// choice).
FabricTime noticed_after(const Topology& topology);
/// Samples of paths that are named by their entropy value, in regular planes. A period in which no value became bad has no
/// samples.
EvSamples ev_samples(const Topology& topology, const EventHistory& events, FabricTime period);
inline constexpr size_t kMostEvSamples = 1u << 20;

}  // namespace mrclab::analysis
