#pragma once
// Joins sightings of the same packet, by (QP, PSN, attempt), in the order of time. Which attempt a
// frame belongs to is decided by frame/attempt_match.h.

#include "analysis/capture/side_by_side.h"
#include "analysis/history/packet_history.h"
#include "analysis/history/sighting.h"

namespace mrclab::analysis {

/// To be called when all records are in. Switches that are not ours record no losses: a packet over
/// them that has not arrived after PacketHistory::kLostAfterRtts counts as lost from the instant at
/// which it left. Parts of them are joined `side_by_side`; the history is the same.
PacketHistory join_sightings(const Topology& topology, Sightings seen,
                             const SideBySide& side_by_side = {});

}  // namespace mrclab::analysis
