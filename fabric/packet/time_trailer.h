#pragma once
// The time trailer as a value; trailer.h has where it stands in a frame.

#include <cstddef>
#include <cstdint>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"
#include "fabric/packet/drop_cause.h"

namespace mrclab {

inline constexpr size_t kTrailerBytes = 64;

struct TimeTrailer {
  uint32_t lab = 0;
  WireId wire;
  uint32_t incarnation = 0;    ///< counts the processes that had the sender's place
  uint32_t modelled_size = 0;  ///< Ethernet frame without FCS, as modelled
  uint64_t sequence = 0;       ///< per wire, from 0
  FabricTime start;
  FabricTime end;
  FabricTime flight;
  DropCause lost = DropCause::kNone;  ///< not kNone: this is a void frame
  /// Which bits of a frame without payload are wrong (Frame::damage): its receiver cannot find that by the ICRC.
  uint32_t damage = 0;
  bool operator==(const TimeTrailer&) const = default;
};

}  // namespace mrclab
