#pragma once
// What one port did over time, as the page draws it.

#include <nlohmann/json.hpp>

#include "session/recording/fabric_tally.h"
#include "session/recording/recording.h"

namespace mrclab::lab {

/// {"rate_bps", "queue_limit" (bytes: where it trims, or drops), "used" (share of the line rate, 0 to 1), "queue" (bytes
/// in front of the packet that waited longest), "lost", "trimmed", "marked" (packets)}, the lists by complete bin.
nlohmann::json wire_series(const Topology& topology, const Recording& recording, WireId wire);

/// The whole bins around [from, to): {"from_ps", "to_ps", "received_bytes", "rate_bps" (what hosts received), "lost",
/// "trimmed", "marked", "again" (packets)} over all planes. Only what is complete.
nlohmann::json span_sums(const Recording& recording, FabricTime from, FabricTime to);

/// The same of a whole fabric.
nlohmann::json span_sums(const FabricTally& tally, FabricTime from, FabricTime to);

}  // namespace mrclab::lab
