#include "analysis/checks/coverage_check.h"

#include "analysis/checks/expectation_rules.h"

namespace mrclab::analysis {
namespace {

std::string missing_text(const Coverage& coverage, Witness witness) {
  const FabricTime until = coverage.until(witness);
  const std::string& why = coverage.why(witness);
  if (until == FabricTime::zero()) return why;
  return why + "; what " + std::string(kWitnessNames[static_cast<size_t>(witness)]) +
         " show is complete until " + to_string(until) + " only";
}

}  // namespace

CheckResult judge_coverage(const Expectation& expectation, CheckResult check,
                           const Coverage& coverage, const CheckedSpan& span) {
  if (check.proven || check.result == Result::kInconclusive) return check;
  const Reliances needed = std::visit([&](const auto& e) { return rules_of(e).evidence(e, span); },
                                      static_cast<const ExpectationKind&>(expectation));
  for (const Reliance& need : needed) {
    if (need.until <= coverage.until(need.of)) continue;
    check.measured.reset();  // a value measured on a part would look like the whole
    return unjudged(check, missing_text(coverage, need.of));
  }
  return check;
}

}  // namespace mrclab::analysis
