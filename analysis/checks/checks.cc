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

CheckResult as_sound_as(const TimingReport& timing, CheckResult check) {
  if (timing.sound() || check.name == "memory_intact" || check.result == Result::kInconclusive) {
    return check;
  }
  const std::string& cause = !timing.disturbances.empty() ? timing.disturbances.front()
                             : !timing.reasons.empty()    ? timing.reasons.front()
                                                          : std::string("the run is not faithful");
  std::string note = check.result == Result::kFail ? "missed, " + check.note : "met, " + check.note;
  if (check.note.empty()) note.resize(note.size() - 2);
  return unjudged(std::move(check), note + "; but " + cause);
}

Result overall_result(std::span<const CheckResult> checks, const TimingReport& timing) {
  if (checks.empty() && timing.sound()) return Result::kNoChecks;
  Result result = timing.sound() ? Result::kPass : Result::kInconclusive;
  for (const CheckResult& check : checks) {
    const Outcome outcome = as_sound_as(timing, check).result;
    if (outcome == Result::kFail) return Result::kFail;
    if (outcome == Result::kInconclusive) result = Result::kInconclusive;
  }
  return result;
}

}  // namespace mrclab::analysis
