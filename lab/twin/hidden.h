#pragma once
// Why a fault cost a job nothing: what it held back had room to be late, as its rank still computed.

#include <cstdint>
#include <optional>
#include <string>

#include "lab/twin/twin_measure.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// What a fault held back most of what a job exchanges, though no step waited for it.
struct Hidden {
  size_t work = 0;    ///< as in WorkSteps
  uint32_t rank = 0;  ///< of the job
  std::string held;   ///< "grads"
  FabricTime by;      ///< so much later it ended
  std::string under;  ///< "backward": what the rank computed then
  FabricTime until;   ///< when that ended
};

/// Of what is exchanged in both runs the operation that ended later by most; of equal ones the first. Empty where none was
/// later by 0.1 % of its step or more, where its rank did not compute when it ended, or where jobs are too large (JobSpans).
std::optional<Hidden> hidden_of(const Scenario& scenario, const TwinMeasure& with,
                                const TwinMeasure& without);

}  // namespace mrclab::lab
