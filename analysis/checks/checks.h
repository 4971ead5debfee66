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

/// In a run that is not sound (reports.h) every check is inconclusive, whether it was met or missed: what disturbed the
/// run may have made it so. Its note names the original result and the cause. Only memory_intact stays as it is: neither lateness nor
/// a fault from outside excuses a wrong byte.
CheckResult as_sound_as(const TimingReport& timing, CheckResult check);

/// The result of the run: kNoChecks if nothing was checked, fail if a check fails, inconclusive if
/// the run was not sound (reports.h) or a check could not be judged.
Result overall_result(std::span<const CheckResult> checks, const TimingReport& timing);

}  // namespace mrclab::analysis
