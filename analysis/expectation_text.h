#pragma once
// What an expectation is called in a verdict, in the light of the run that was judged.

#include <optional>
#include <string>

#include "analysis/expectation.h"

namespace mrclab::analysis {

/// As describe(), but names the heal where the interval begins behind it (`healed` is the end of
/// the last fault): "goodput of plane 0 after the heal (from 600us) ≥ 95 % of baseline".
std::string describe_for_run(const Expectation& expectation, std::optional<FabricTime> healed);

}  // namespace mrclab::analysis
