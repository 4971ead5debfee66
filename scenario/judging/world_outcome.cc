#include "scenario/judging/world_outcome.h"

namespace mrclab::lab {

void add_disturbance(WorldOutcome& outcome, std::string what) {
  outcome.timing.reasons.push_back(what);
  outcome.timing.disturbances.push_back(std::move(what));
}

}  // namespace mrclab::lab
