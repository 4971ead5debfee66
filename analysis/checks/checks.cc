#include "analysis/checks/checks.h"

#include <algorithm>

#include "analysis/checks/coverage_check.h"
#include "analysis/checks/expectation_rules.h"
#include "analysis/checks/expectation_text.h"

namespace mrclab::analysis {

namespace {

/// The interval that an expectation names, and the hosts.
std::optional<WhereToLook> interval_of(const Expectation& expectation, FabricTime end) {
  std::optional<WhereToLook> where;
  std::visit(
      [&](const auto& e) {
        if constexpr (requires { e.until; }) where = {e.from, std::min(e.until, end), {}};
      },
      expectation);
  return where;
}

}  // namespace

std::vector<CheckResult> run_checks(std::span<const Expectation> expectations,
                                    const CheckInputs& inputs) {
  std::vector<CheckResult> results;
  const CheckedSpan span = span_of(inputs);
  const JudgedRun run(inputs);
  const RunTimes times{run.last_heal(), inputs.measurements.base_rtt};
  for (const Expectation& expectation : expectations) {
    CheckResult check = std::visit([&](const auto& e) { return rules_of(e).judge(e, run); },
                                   static_cast<const ExpectationKind&>(expectation));
    check = judge_coverage(expectation, std::move(check), inputs.coverage, span);
    check.name = name_of(expectation);
    check.about = describe_for_run(expectation, times);
    check.published = expectation.published;
    if (!check.where) check.where = interval_of(expectation, inputs.measurements.end);
    results.push_back(std::move(check));
  }
  return results;
}

Result overall_result(std::span<const CheckResult> checks, const TimingReport& timing) {
  if (checks.empty() && timing.sound()) return Result::kNoChecks;
  Result result = timing.sound() ? Result::kPass : Result::kInconclusive;
  for (const CheckResult& check : checks) {
    const bool excused = !timing.sound() && check.name != "memory_intact";
    if (check.result == Result::kFail && !excused) return Result::kFail;
    if (check.result == Result::kInconclusive) result = Result::kInconclusive;
  }
  return result;
}

}  // namespace mrclab::analysis
