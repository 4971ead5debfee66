#include "analysis/checks/early_end.h"

#include <algorithm>

namespace mrclab::analysis {
namespace {

CheckResult inconclusive(CheckResult check, const std::string& why) {
  check.result = Result::kInconclusive;
  check.note = why;
  return check;
}

class EarlyJudge {
 public:
  EarlyJudge(CheckResult check, std::span<const FaultSpan> faults, FabricTime ended,
             const EarlyEnd& early)
      : check_(std::move(check)), faults_(faults), ended_(ended), early_(early) {}

  CheckResult operator()(const ExpectNoQpError&) const { return so_far(); }
  CheckResult operator()(const ExpectMemoryIntact&) const { return so_far(); }
  CheckResult operator()(const ExpectQpError&) const {
    const bool none_failed = check_.measured == 0.0;
    return none_failed ? inconclusive(check_, "no QP failed until " + to_string(ended_)) : so_far();
  }
  CheckResult operator()(const ExpectHealed&) const {
    // A path that was not used again by now may still be used later.
    if (check_.result != Result::kPass) return inconclusive(check_, "still open at " + at());
    const bool more = std::any_of(early_.not_reached.begin(), early_.not_reached.end(),
                                  [](const FaultSpan& fault) { return fault.heals; });
    return more ? inconclusive(check_, "faults begin after " + at()) : check_;
  }
  /// Expectations that are measured over an interval.
  CheckResult operator()(const auto& expected) const requires requires { expected.until; }
  {
    if (std::min(expected.until, early_.planned) <= ended_) return check_;
    return inconclusive(check_, "its interval goes on after " + at());
  }
  CheckResult operator()(const ExpectSteady&) const { return check_; }
  CheckResult operator()(const ExpectCounter& expected) const {
    const bool short_of =
        check_.measured && *check_.measured < static_cast<double>(expected.at_least);
    return short_of ? inconclusive(check_, "there was time left at " + at()) : so_far();
  }
  CheckResult operator()(const ExpectSafety&) const { return so_far(); }
  CheckResult operator()(const ExpectPlacedOnce&) const { return so_far(); }
  CheckResult operator()(const ExpectNoSilentLoss&) const { return so_far(); }
  CheckResult operator()(const ExpectInOrder&) const { return so_far(); }
  CheckResult operator()(const ExpectNoQpErrorWhileAPathLives&) const { return so_far(); }
  CheckResult operator()(const ExpectAccounted&) const { return so_far(); }
  CheckResult operator()(const ExpectLiveness&) const { return alive(); }
  CheckResult operator()(const ExpectGoodputBack&) const { return alive(); }
  CheckResult operator()(const ExpectEvsGood&) const { return alive(); }
  CheckResult operator()(const ExpectQueuesEmpty&) const { return alive(); }
  CheckResult operator()(const ExpectDetect& expected) const { return within(expected.within); }
  CheckResult operator()(const ExpectRecover& expected) const { return within(expected.within); }
  CheckResult operator()(const ExpectLeave& expected) const { return within(expected.within); }

 private:
  std::string at() const { return to_string(ended_) + ", where the run was ended"; }

  CheckResult so_far() const {
    CheckResult check = check_;
    if (check.result != Result::kPass) return check;
    check.note += (check.note.empty() ? "" : ", ") + std::string("until ") + to_string(ended_);
    return check;
  }

  /// Liveness is asked for when everything was healed, and later faults may come.
  CheckResult alive() const {
    if (check_.result == Result::kFail)
      return inconclusive(check_, "there was time left at " + at());
    return early_.not_reached.empty() ? check_ : inconclusive(check_, "faults begin after " + at());
  }

  /// Every fault of the scenario has `bound` to be answered in.
  CheckResult within(FabricTime bound) const {
    const bool exceeded = check_.measured && check_.bound && *check_.measured > *check_.bound;
    if (check_.result == Result::kFail && exceeded) return check_;
    const bool time_left = std::any_of(faults_.begin(), faults_.end(), [&](const FaultSpan& fault) {
      return ended_ - fault.start < bound;
    });
    if (time_left) return inconclusive(check_, "there was time left at " + at());
    if (!early_.not_reached.empty()) return inconclusive(check_, "faults begin after " + at());
    return check_;
  }

  CheckResult check_;
  std::span<const FaultSpan> faults_;
  FabricTime ended_;
  const EarlyEnd& early_;
};

}  // namespace

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
  return std::visit(EarlyJudge(std::move(check), faults, ended, early), expectation);
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
