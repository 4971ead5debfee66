#pragma once
// Judges expectations against measurements. Everything is decided in integers; the doubles in a
// CheckResult are for display.

#include <span>
#include <vector>

#include "analysis/checks/check_inputs.h"
#include "analysis/checks/check_result.h"
#include "analysis/expect/expectation.h"
#include "analysis/history/reports.h"

namespace mrclab::analysis {

/// One result per expectation, in order. Bundles have to be opened before (without_bundles).
std::vector<CheckResult> run_checks(std::span<const Expectation> expectations,
                                    const CheckInputs& inputs);

/// The result of the run: kNoChecks if nothing was checked, fail if a check fails, inconclusive if
/// the run was not sound (reports.h) or a check could not be judged. A run that is not sound fails
/// only by memory_intact: neither lateness nor a fault from outside excuses a wrong byte.
Result overall_result(std::span<const CheckResult> checks, const TimingReport& timing);

}  // namespace mrclab::analysis
