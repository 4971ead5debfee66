#pragma once
// Who paused whom in a run, and a sentence of its story for each root.

#include <span>
#include <vector>

#include "analysis/history/evidence.h"
#include "analysis/measure/pause_tree.h"
#include "analysis/verdict/story_line.h"

namespace mrclab::analysis {

/// The tree of a whole run; empty where nothing was paused, or where pauses of switches were not seen.
PauseTree pause_tree(const Topology& topology, const Evidence& evidence,
                     std::span<const ScheduledEffect> schedule, FabricTime end);

/// A line for each of the roots that held back the longest, of kind "paused".
std::vector<StoryLine> pause_story(const Topology& topology, const PauseTree& tree);

}  // namespace mrclab::analysis
