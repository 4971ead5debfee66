#pragma once
// Which fault of a run each transmission that was dropped belongs to, as its story counts them.

#include <optional>
#include <span>
#include <vector>

#include "analysis/history/fault_span.h"
#include "analysis/history/packet_history.h"
#include "analysis/verdict/struck_wires.h"

namespace mrclab::analysis {

inline constexpr size_t kMaxLossesTold = 20'000;  ///< that are assigned to faults

/// Indices of attempts.
struct StoryLosses {
  std::vector<std::vector<uint32_t>> lost, refused;  ///< by fault
  std::vector<uint32_t> elsewhere, refused_elsewhere, out_of_turn, not_ready;
  std::vector<uint32_t> congested, given_up;  ///< whatever the faults: a queue was full
  std::optional<FabricTime> first_untold;     ///< when the first loss ended that is in none of them
};

/// `struck`: the wires of the first of `faults`. A loss belongs to the fault on its path that fits its place and instant
/// best (StruckWires::fit), of equal ones to the first.
StoryLosses story_losses(const Topology& topology, const PacketHistory& packets,
                         FabricTime base_rtt, std::span<const FaultSpan> faults,
                         std::span<const StruckWires> struck);

}  // namespace mrclab::analysis
