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
  const auto concerns = [&](size_t fault) {
    const auto& parts = spans[fault].impairments;
    const auto at = [&](const analysis::Impairment& part) { return part.wire == answer.wire; };
    return std::any_of(parts.begin(), parts.end(), at) ||
           (went_astray(answer.cause) && path &&
            struck[fault].crosses(answer.source, answer.destination, *path));
  };
  return analysis::fault_of_loss(struck, where, answer.t, topology.base_rtt, concerns);
}

}  // namespace mrclab::lab
