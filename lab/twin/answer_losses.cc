#include "lab/twin/answer_losses.h"

#include <algorithm>

#include "analysis/history/path_wires.h"

namespace mrclab::lab {
namespace {

/// A switch had no way for it, or it came to one that is on no way.
bool went_astray(DropCause cause) {
  return cause == DropCause::kUnknownUsid || cause == DropCause::kEndOfCarrier ||
         cause == DropCause::kNoReceiver || cause == DropCause::kForeignCarrier;
}

}  // namespace

std::optional<size_t> fault_of_answer(const Topology& topology, const LostAnswer& answer,
                                      std::span<const analysis::FaultSpan> spans,
                                      std::span<const analysis::StruckWires> struck) {
  const auto path = analysis::built_path(topology, answer.source, answer.destination, answer.ev);
  const PortRef where = topology.wire(answer.wire).from;
  std::optional<size_t> best;
  uint32_t best_fit = 0;
  for (size_t i = 0; i < spans.size(); ++i) {
    const FabricTime over = struck[i].until();
    const bool then = answer.t >= spans[i].start &&
                      (over == FabricTime::never() || answer.t <= over + topology.base_rtt);
    if (!then) continue;
    const auto at = [&](const analysis::Impairment& part) { return part.wire == answer.wire; };
    const bool there = std::any_of(spans[i].impairments.begin(), spans[i].impairments.end(), at);
    const bool on_path = went_astray(answer.cause) && path &&
                         struck[i].crosses(answer.source, answer.destination, *path);
    if (!there && !on_path) continue;
    const uint32_t fit = struck[i].fit(where, answer.t, topology.base_rtt);
    if (best && best_fit >= fit) continue;
    best = i;
    best_fit = fit;
  }
  return best;
}

}  // namespace mrclab::lab
