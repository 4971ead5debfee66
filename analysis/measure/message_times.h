#pragma once
// How long messages took, by their packets alone: from when the first packet of a message begins to leave its host
// to when the last missing one has arrived whole. A message of which something is missing is open.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/history/packet_history.h"

namespace mrclab::analysis {

struct MessageTime {
  uint32_t flow = 0;
  Bytes size;  ///< by its headers
  FabricTime began;
  FabricTime arrived = FabricTime::never();  ///< never(): it is open
  bool open() const { return arrived == FabricTime::never(); }
  /// Until `end` where it is open, or arrives later.
  FabricTime time(FabricTime end) const { return std::min(arrived, end) - began; }
};

/// The messages of a flow, in the order of their packets. What was not seen to begin is left out.
std::vector<MessageTime> messages_of(const PacketHistory& history, uint32_t flow);

/// The percentile by nearest rank: so many percent of the times (not empty) are no longer.
FabricTime time_at_rank(std::vector<FabricTime> times, size_t percent);
/// The same in thousandths.
FabricTime time_at_thousandth(std::vector<FabricTime> times, size_t thousandths);

/// The times of messages by rank; an open one has taken the time until the end.
struct MessageTimes {
  uint64_t messages = 0;
  uint64_t open = 0;
  FabricTime p50, p99, max;
  FabricTime longest_finished, longest_open;
};
/// Empty where there is no message.
std::optional<MessageTimes> message_times(std::span<const MessageTime> messages, FabricTime end);
/// The messages of all flows together.
std::optional<MessageTimes> message_times(const PacketHistory& history, FabricTime end);

}  // namespace mrclab::analysis
