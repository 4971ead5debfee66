#pragma once
// A sighting: one frame, seen at one place. SightingReader makes them of capture records and of what
// watched nodes report; join_sightings() makes packets of them. Kept small, because there may be
// kMaxSightings of them at once.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/frame/seen_headers.h"
#include "analysis/frame/sender_tally.h"
#include "analysis/history/packet_history.h"

namespace mrclab::analysis {

inline constexpr size_t kMaxSightings = 1u << 25;

struct Sighting : SeenHeaders {
  /// At equal instants the lower kind comes first: what leaves before what arrives.
  enum class Kind : uint8_t { kEgress, kTrimmedHere, kIngress, kDropOut, kDropIn };
  uint32_t source;   ///< here, because it fills up the line
  FabricTime t;      ///< of the last bit
  FabricTime start;  ///< of the first bit, if it leaves; else t
  uint32_t destination, qp;
  PortRef where;
  uint32_t detail =
      Attempt::kNone;  ///< index into Sightings: answers of answers, placements of data
  Kind kind;
  DropCause cause = DropCause::kNone;
  bool probe = false;
};
static_assert(sizeof(Sighting) == 64, "a line of the cache");

/// All that was read, in the order in which it was.
struct Sightings {
  std::vector<Sighting> frames;
  std::vector<SeenAnswer> answers;
  std::vector<Placement> placements;
  std::vector<DatagramBurst> bursts;
  std::vector<PauseSeen> pauses;
  std::vector<Crossing> crossings;
  SenderTally senders;
  HistoryCounters counters;                          ///< as far as reading goes
  FabricTime complete_until = FabricTime::never();   ///< the earliest that found no room
  FabricTime crossings_until = FabricTime::never();  ///< likewise, of crossings
  std::vector<std::string> notes;
};

}  // namespace mrclab::analysis
