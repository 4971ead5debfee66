#include "analysis/checks/early_result.h"

#include <algorithm>

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

}  // namespace mrclab::analysis
