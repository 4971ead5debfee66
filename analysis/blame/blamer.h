#pragma once
// From samples to blames: the search's suspicions joined in time and upwards (optic, switch, host, plane), and put into
// words. blame.h asks for packets, analysis/mapper for probes.

#include <optional>
#include <span>
#include <vector>

#include "analysis/blame/blame_class.h"
#include "analysis/blame/blame_result.h"
#include "analysis/blame/blame_samples.h"
#include "analysis/blame/blame_search.h"

namespace mrclab::analysis {

/// Adds to `blames` what these samples, in order of time, accuse. `symptom`: what all of them show; empty: it
/// is derived from their clues. `events` hold which host first left a path.
void blame_by_samples(const Topology& topology, const EventHistory& events, const PortLight& light,
                      std::span<const BlameSample> samples, const SearchOptions& options,
                      std::optional<Symptom> symptom, std::vector<Blame>& blames);

}  // namespace mrclab::analysis
