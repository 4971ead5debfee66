#pragma once
// Every check held against how far the evidence reaches that it needs.

#include "analysis/checks/check_result.h"
#include "analysis/checks/expectation.h"
#include "analysis/history/coverage.h"
#include "fabric/units.h"

namespace mrclab::analysis {

/// The instants of a run that decide how much evidence a check needs.
struct CheckedSpan {
  FabricTime end;          ///< of the run
  FabricTime first_fault;  ///< never() if there is none
  /// A packet that left at t has met its fate by t + settling, as far as checks over an interval
  /// ask: it has left wholly, and if it arrived, its NIC has taken it.
  FabricTime settling;
};

/// `check`, made inconclusive if it needs more evidence than there is. A failure that more evidence
/// cannot take back (CheckResult::proven) stays.
CheckResult judge_coverage(const Expectation& expectation, CheckResult check,
                           const Coverage& coverage, const CheckedSpan& span);

}  // namespace mrclab::analysis
