#pragma once
// What a fault cost until packets went other ways: losses, and, where switches route by themselves (routing: fare),
// when one of them noticed and when the last table was written.

#include <optional>
#include <span>

#include "analysis/history/event_history.h"
#include "analysis/history/fault_span.h"
#include "analysis/history/packet_history.h"

namespace mrclab::analysis {

/// Times count from the fault's start.
struct FaultLosses {
  uint64_t packets = 0;               ///< data packets lost, by whatever cause
  std::optional<FabricTime> last;     ///< when the last of them was lost; empty: none was
  std::optional<FabricTime> noticed;  ///< when the first session of switches broke; empty: none did
  std::optional<FabricTime> routed;   ///< when a switch last changed its table; empty: none did
};

/// What the fault `faults[which]` cost from its start until it heals, the next fault starts, or the run ends. Losses
/// after that may have another cause.
FaultLosses losses_after(const PacketHistory& packets, const EventHistory& events,
                         std::span<const FaultSpan> faults, size_t which);

}  // namespace mrclab::analysis
