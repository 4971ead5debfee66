#pragma once
// Twins of one scenario as it is and as it is varied (twin_axis.h), a line each.

#include <string>
#include <vector>

#include "analysis/verdict/verdict.h"
#include "lab/twin/twin_report.h"

namespace mrclab::lab {

/// What all faults cost and what each did (marginal), in time or bytes, and the cost as a share of what is without them;
/// of more faults than kMaxFaultColumns the first. What is inconclusive has a reason below.
std::string twin_table(const std::vector<TwinReport>& reports, analysis::TableOptions options);
inline constexpr size_t kMaxFaultColumns = 4;

}  // namespace mrclab::lab
