#pragma once
// A sighting: one frame, seen at one place. SightingReader makes them of capture records and of what
// watched nodes report; join_sightings() makes packets of them. Kept small, because there may be
// kMaxSightings of them at once.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/history/packet_history.h"
#include "fabric/packet/headers.h"

namespace mrclab::analysis {

inline constexpr size_t kMaxSightings = 1u << 25;

struct Sighting {
  /// At equal instants the lower kind comes first: what leaves before what arrives.
  enum class Kind : uint8_t { kEgress, kTrimmedHere, kIngress, kDropOut, kDropIn };
  FabricTime t;      ///< of the last bit
  FabricTime start;  ///< of the first bit, if it leaves; else t
  uint32_t source, destination, qp, psn, ev;
  uint32_t payload;  ///< bytes
  PortRef where;
  uint32_t detail =
      Attempt::kNone;  ///< index into Sightings: answers of answers, placements of data
  Kind kind;
  Opcode opcode;
  DropCause cause = DropCause::kNone;
  bool rtx = false, trimmed = false, probe = false, marked = false;
  bool timed = false;
  uint16_t timestamp = 0;
  AttemptMark mark() const { return {EntropyValue{ev}, rtx, timed, timestamp}; }
};

/// The fields of a SACK, NACK or transport ACK.
struct SeenAnswer {
  EntropyValue ev;
  Psn cumulative, trigger;
  int16_t bitmap_offset = 0;
  uint64_t bitmap = 0;
  uint8_t nack_reason = 0;
  bool is_nack = false;
  bool is_ack = false;        ///< MRC's transport ACK: cumulative, and whole messages only
  bool is_rc = false;         ///< an acknowledgement of RC; `ev` is its own
  bool is_nak = false;        ///< of RC: a NAK, or "receiver not ready"
  bool is_not_ready = false;  ///< the latter
};

/// All that was read, in the order in which it was.
struct Sightings {
  std::vector<Sighting> frames;
  std::vector<SeenAnswer> answers;
  std::vector<Placement> placements;
  std::vector<DatagramBurst> bursts;
  std::vector<PauseSeen> pauses;
  std::vector<Crossing> crossings;
  HistoryCounters counters;                          ///< as far as reading goes
  FabricTime complete_until = FabricTime::never();   ///< the earliest that found no room
  FabricTime crossings_until = FabricTime::never();  ///< likewise, of crossings
  std::vector<std::string> notes;
};

}  // namespace mrclab::analysis
