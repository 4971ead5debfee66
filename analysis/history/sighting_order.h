#pragma once
// Sightings in the order of time, dealt out to parts that can be joined side by side: all that two hosts
// send each other is in one part, and joining looks at nothing else for it.

#include <cstdint>
#include <vector>

#include "analysis/capture/side_by_side.h"
#include "analysis/history/sighting.h"

namespace mrclab::analysis {

/// One sighting, where it stands.
struct SightingTurn {
  uint32_t turn;      ///< in the order of time of all
  uint32_t sighting;  ///< index into Sightings::frames
};

struct SightingPart {
  std::vector<SightingTurn> turns;  ///< in order
  size_t leaving = 0;               ///< so many of them left their host
};

/// So many parts that several threads have about the same to do; any number gives the same history.
inline constexpr size_t kJoinedParts = 4;

/// The writer of a capture orders the records of each interface, not those of several, so they are sorted here. Of
/// sightings at one instant, those of frames that leave a host come first, then the order of the file decides. If
/// `side_by_side` is empty, all sightings are in one part.
std::vector<SightingPart> parts_by_time(const std::vector<Sighting>& frames,
                                        const SideBySide& side_by_side);

}  // namespace mrclab::analysis
