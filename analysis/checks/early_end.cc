#include "analysis/checks/early_end.h"

#include <algorithm>

#include "analysis/checks/expectation_rules.h"

namespace mrclab::analysis {

std::vector<FaultSpan> take_not_reached(std::vector<FaultSpan>& spans, FabricTime end) {
  const auto later = std::stable_partition(
      spans.begin(), spans.end(), [end](const FaultSpan& span) { return span.start <= end; });
  std::vector<FaultSpan> taken(std::make_move_iterator(later),
                               std::make_move_iterator(spans.end()));
  spans.erase(later, spans.end());
  return taken;
}

CheckResult judge_early_end(const Expectation& expectation, CheckResult check,
                            std::span<const FaultSpan> faults, FabricTime ended,
                            const EarlyEnd& early) {
  const EarlyResult result(std::move(check), faults, ended, early);
  return std::visit([&](const auto& e) { return rules_of(e).early_end(e, result); },
                    static_cast<const ExpectationKind&>(expectation));
}

std::string describe(const EarlyEnd& early, FabricTime ended) {
  std::string text =
      "ended at " + to_string(ended) + " of the scenario's " + to_string(early.planned);
  if (!early.not_reached.empty()) {
    text += ", before " + std::to_string(early.not_reached.size()) + " of its faults";
  }
  return text;
}

}  // namespace mrclab::analysis
