#include "analysis/verdict/story_losses.h"

#include <algorithm>

#include "analysis/history/path_wires.h"

namespace mrclab::analysis {
namespace {

/// The list that a refused transmission belongs to: of the fault that slowed its receiver down, as
/// long as the buffer may still be full of it.
std::vector<uint32_t>& refusals_of(const Attempt& attempt, FabricTime base_rtt,
                                   std::span<const FaultSpan> faults, StoryLosses& losses) {
  if (attempt.cause == DropCause::kOutOfOrder) return losses.out_of_turn;
  if (attempt.cause == DropCause::kNotReady) return losses.not_ready;
  constexpr int64_t kDrainRtts = 8;
  const FabricTime slack = base_rtt * kDrainRtts;
  for (size_t i = 0; i < losses.refused.size(); ++i) {
    for (const SlowedReceiver& slow : faults[i].receivers) {
      const bool then = attempt.ended >= slow.from &&
                        (slow.until == FabricTime::never() || attempt.ended <= slow.until + slack);
      if (then && slow.host == attempt.where.node) return losses.refused[i];
    }
  }
  return losses.refused_elsewhere;
}

}  // namespace

StoryLosses story_losses(const Topology& topology, const PacketHistory& packets,
                         FabricTime base_rtt, std::span<const FaultSpan> faults,
                         std::span<const StruckWires> struck) {
  StoryLosses losses;
  losses.lost.resize(struck.size());
  losses.refused.resize(struck.size());
  const auto& attempts = packets.attempts();
  size_t seen = 0;
  for (uint32_t a = 0; a < attempts.size(); ++a) {
    if (attempts[a].fate != Fate::kDropped) continue;
    if (++seen > kMaxLossesTold) {
      losses.first_untold =
          std::min(losses.first_untold.value_or(attempts[a].ended), attempts[a].ended);
      continue;
    }
    if (attempts[a].refused()) {
      refusals_of(attempts[a], base_rtt, faults, losses).push_back(a);
      continue;
    }
    if (attempts[a].congested()) {
      (attempts[a].cause == DropCause::kPauseStorm ? losses.given_up : losses.congested)
          .push_back(a);
      continue;
    }
    const Flow& flow = packets.flows()[packets.packets()[attempts[a].packet].flow];
    const auto path = built_path(topology, flow.source, flow.destination, attempts[a].ev);
    const auto is_crossed = [&](size_t fault) {
      return path && struck[fault].crosses(flow.source, flow.destination, *path);
    };
    const std::optional<size_t> fault =
        fault_of_loss(struck, attempts[a].where, attempts[a].ended, base_rtt, is_crossed);
    (fault ? losses.lost[*fault] : losses.elsewhere).push_back(a);
  }
  return losses;
}

}  // namespace mrclab::analysis
