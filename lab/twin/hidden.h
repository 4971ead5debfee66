#pragma once
// Why a fault cost a job nothing: what it held back had room to be late, as its rank still computed.

#include <optional>

#include "lab/twin/twin_report.h"

namespace mrclab::lab {

/// Of what is exchanged in both runs the operation that ended later by most; of equal ones the first. Empty where none was
/// later by 0.1 % of its step or more, where its rank did not compute when it ended, or where jobs are too large (JobSpans).
std::optional<Hidden> hidden_of(const Scenario& scenario, const TwinMeasure& with,
                                const TwinMeasure& without);

}  // namespace mrclab::lab
