#pragma once
// Joins sightings of the same packet, by (QP, PSN, attempt), in the order of time. Which attempt a
// frame belongs to says capture/attempt_match.h.

#include "analysis/history/packet_history.h"
#include "analysis/history/sighting.h"

namespace mrclab::analysis {

/// Where others than our switches forward, nobody records what they lose: there what has not
/// arrived after PacketHistory::kLostAfterRtts is lost from the instant at which it left.
PacketHistory join_sightings(const Topology& topology, Sightings seen);

}  // namespace mrclab::analysis
