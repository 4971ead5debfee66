#pragma once
// What an expectation is called in a verdict, in the light of the run that was judged.

#include <string>

#include "analysis/checks/wording.h"
#include "analysis/expect/expectation.h"

namespace mrclab::analysis {

/// As describe(), but names the heal where the interval begins behind it: "goodput of plane 0 after
/// the heal (from 600us) ≥ 95 % of baseline". A time of more than four digits is rounded to four; if
/// it is a whole number of tenths of a base RTT, the text adds them:
/// "66.12us (6 RTT)".
std::string describe_for_run(const Expectation& expectation, const RunTimes& times);

}  // namespace mrclab::analysis
