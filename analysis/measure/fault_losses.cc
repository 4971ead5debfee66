#include "analysis/measure/fault_losses.h"

#include <algorithm>

namespace mrclab::analysis {

FaultLosses losses_after(const PacketHistory& packets, const EventHistory& events,
                         std::span<const FaultSpan> faults, size_t which) {
  const FabricTime from = faults[which].start;
  FabricTime until = faults[which].healed_at;
  for (const FaultSpan& other : faults) {
    if (other.start > from) until = std::min(until, other.start);
  }
  const auto within = [&](FabricTime t) { return t >= from && t < until; };
  FaultLosses losses;
  for (const Attempt& attempt : packets.attempts()) {
    if (!attempt.lost() || !within(attempt.ended)) continue;
    ++losses.packets;
    losses.last = std::max(losses.last.value_or(FabricTime::zero()), attempt.ended - from);
  }
  for (const RoutingNews& news : events.routing()) {
    if (!within(news.t)) continue;
    if (!news.session_lost) {
      losses.routed = news.t - from;
    } else if (!losses.noticed) {
      losses.noticed = news.t - from;
    }
  }
  return losses;
}

}  // namespace mrclab::analysis
