#include "analysis/checks/early_end.h"

#include <algorithm>

#include "analysis/checks/expectation_rules.h"

namespace mrclab::analysis {

CheckResult EarlyResult::inconclusive(const std::string& why) const {
  return unjudged(check_, why);
}

CheckResult EarlyResult::so_far() const {
  CheckResult check = check_;
  if (check.result != Result::kPass) return check;
  check.note += (check.note.empty() ? "" : ", ") + std::string("until ") + to_string(ended_);
  return check;
}

CheckResult EarlyResult::in_interval_until(FabricTime until) const {
  if (std::min(until, early_.planned) <= ended_) return check_;
  return inconclusive("its interval goes on after " + at());
}

CheckResult EarlyResult::alive() const {
  if (check_.result == Result::kFail) return inconclusive("there was time left at " + at());
  return early_.not_reached.empty() ? check_ : inconclusive("faults begin after " + at());
}

CheckResult EarlyResult::within(FabricTime bound) const {
  const bool exceeded = check_.measured && check_.bound && *check_.measured > *check_.bound;
  if (check_.result == Result::kFail && exceeded) return check_;
  const bool time_left = std::any_of(faults_.begin(), faults_.end(), [&](const FaultSpan& fault) {
    return ended_ - fault.start < bound;
  });
  if (time_left) return inconclusive("there was time left at " + at());
  if (!early_.not_reached.empty()) return inconclusive("faults begin after " + at());
  return check_;
}

bool EarlyResult::more_to_heal() const {
  return std::any_of(early_.not_reached.begin(), early_.not_reached.end(),
                     [](const FaultSpan& fault) { return fault.heals; });
}

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
