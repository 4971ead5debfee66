#pragma once
// How well a mapper does: what its probes named against what was broken.

#include <string>

#include "fabric/mapper/mapper_witness.h"
#include "lab/chaos/blame_score.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// What chaos gives a mapper: as often as 0.1 % of a port allows, rounded up to whole base RTTs. Throws InputError where
/// the fabric cannot be probed.
void switch_mapper_on(Scenario& scenario);

/// Runs it in the simulator, in memory. A target counts as observable if it took at least five probes, or if a host saw a
/// port of its own dark for it.
BlameScore score_mapper(const std::string& run, const Scenario& scenario, MapperWitness by);

}  // namespace mrclab::lab
