#pragma once
// Which fault of a run took an answer that was lost; analysis/verdict/story_losses.h finds that of data.

#include <optional>
#include <span>

#include "analysis/history/fault_span.h"
#include "analysis/verdict/struck_wires.h"
#include "lab/twin/frame_watch.h"

namespace mrclab::lab {

/// The place in `spans` of the fault that had broken the answer's wire; where a switch had no way for it, its path. Of
/// several the one that fits best in time and place, of equal ones the first. `struck`: their wires.
std::optional<size_t> fault_of_answer(const Topology& topology, const LostAnswer& answer,
                                      std::span<const analysis::FaultSpan> spans,
                                      std::span<const analysis::StruckWires> struck);

}  // namespace mrclab::lab
