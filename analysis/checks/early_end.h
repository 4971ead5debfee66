#pragma once
// A run that the user ended before its scenario's end (run --until): which results of its checks
// still stand. What would have happened later must neither pass nor fail unseen.

#include <span>
#include <string>
#include <vector>

#include "analysis/checks/early_result.h"
#include "analysis/expect/expectation.h"

namespace mrclab::analysis {

/// Takes the spans that begin after `end` out of `spans`, in order.
std::vector<FaultSpan> take_not_reached(std::vector<FaultSpan>& spans, FabricTime end);

/// `check` is what the run until `ended` gave for `expectation`; `faults` are those that happened.
/// A violation that nothing later could heal stays a failure, and no_qp_error, memory_intact and
/// qp_error hold "until" there; what depends on anything later becomes inconclusive.
CheckResult judge_early_end(const Expectation& expectation, CheckResult check,
                            std::span<const FaultSpan> faults, FabricTime ended,
                            const EarlyEnd& early);

/// One line for the verdict.
std::string describe(const EarlyEnd& early, FabricTime ended);

}  // namespace mrclab::analysis
