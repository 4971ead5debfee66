#pragma once
// Histories of parts (sighting_order.h) put together as if all had been joined at once: flows, packets,
// attempts and what else is numbered in the order of the sightings that made them.

#include <cstdint>
#include <vector>

#include "analysis/capture/side_by_side.h"
#include "analysis/history/packet_history.h"

namespace mrclab::analysis {

struct JoinedPart {
  PacketTables tables;
  /// For each entry of these tables the turn (place in time) of the sighting that made it; ascending.
  struct MadeBy {
    std::vector<uint32_t> flows, packets, attempts, deliveries, control;
  } made_by;
};

/// Adds them to `tables`, which has none of these entries yet.
void add_parts(PacketTables& tables, std::vector<JoinedPart> parts, const SideBySide& side_by_side);

}  // namespace mrclab::analysis
