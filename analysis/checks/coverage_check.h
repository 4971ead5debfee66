#pragma once
// Every check held against how far the evidence reaches that it needs.

#include "analysis/checks/check_result.h"
#include "analysis/checks/reliance.h"
#include "analysis/expect/expectation.h"
#include "analysis/history/coverage.h"

namespace mrclab::analysis {

/// `check`, made inconclusive if it needs more evidence than there is. A failure that more evidence
/// cannot take back (CheckResult::proven) stays.
CheckResult judge_coverage(const Expectation& expectation, CheckResult check,
                           const Coverage& coverage, const CheckedSpan& span);

}  // namespace mrclab::analysis
