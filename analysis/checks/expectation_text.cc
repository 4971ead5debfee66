#include "analysis/checks/expectation_text.h"

#include "analysis/checks/expectation_rules.h"

namespace mrclab::analysis {

std::string describe(const Expectation& expectation) { return describe_for_run(expectation, {}); }

std::string describe_for_run(const Expectation& expectation, const RunTimes& times) {
  const Wording wording(times);
  return std::visit([&](const auto& e) { return rules_of(e).sentence(e, wording); },
                    static_cast<const ExpectationKind&>(expectation));
}

}  // namespace mrclab::analysis
