#pragma once
// Notes of a verdict about hosts that sent what they may not: how much arrived, over how many links, how much was dropped.

#include <span>
#include <string>
#include <vector>

#include "analysis/history/evidence.h"
#include "fabric/node/effect.h"

namespace mrclab::analysis {

/// A line for each finding, as attackers come in the schedule; none in a run without an attack and without a packet
/// that was dropped because its sender may not send it.
std::vector<std::string> sender_notes(const Topology& topology, const Evidence& evidence,
                                      std::span<const ScheduledEffect> schedule);

}  // namespace mrclab::analysis
