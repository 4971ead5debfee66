#include "tests/lab/support/less_evidence.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

namespace mrclab::test {
namespace {

using analysis::Result;

bool is_better(Result whole, Result less) {
  return less == Result::kPass && whole != Result::kPass;
}
/// A failure that only comes from what is missing.
bool is_accused(Result whole, Result less) {
  return less == Result::kFail && whole != Result::kFail;
}

bool is_in(const analysis::Blame& blame, const std::vector<analysis::Blame>& list) {
  return std::any_of(list.begin(), list.end(), [&](const analysis::Blame& other) {
    return other.component == blame.component && other.symptom == blame.symptom;
  });
}

/// Beside the checks: a fault that was not noticed or not undone, a component that is blamed.
bool accuses_more(const analysis::Verdict& whole, const analysis::Verdict& less) {
  bool more = false;
  for (const analysis::Blame& blame : less.blame) {
    INFO("blamed: ", blame.component, ": ", blame.evidence);
    CHECK(is_in(blame, whole.blame));
    more = more || !is_in(blame, whole.blame);
  }
  REQUIRE(whole.faults.size() == less.faults.size());
  for (size_t i = 0; i < whole.faults.size(); ++i) {
    const analysis::FaultResult &a = whole.faults[i], &b = less.faults[i];
    const bool worse = (b.still_used && !a.still_used) || (a.healed && !b.healed);
    INFO(b.fault, ": ", b.note);
    CHECK_FALSE(worse);
    more = more || worse;
  }
  return more;
}

}  // namespace

void hold_against(const analysis::Verdict& whole, const analysis::Verdict& less, Tally& tally) {
  ++tally.cuts;
  bool better = is_better(whole.result, less.result);
  bool accused = is_accused(whole.result, less.result);
  bool differs = whole.result != less.result;
  CHECK_FALSE(better);
  CHECK_FALSE(accused);
  REQUIRE(whole.checks.size() == less.checks.size());
  for (size_t i = 0; i < whole.checks.size(); ++i) {
    const analysis::CheckResult &a = whole.checks[i], &b = less.checks[i];
    INFO(a.about, ": ", name_of(a.result), " (", a.note, ") became ", name_of(b.result), " (",
         b.note, ")");
    CHECK_FALSE(is_better(a.result, b.result));
    CHECK_FALSE(is_accused(a.result, b.result));
    better = better || is_better(a.result, b.result);
    accused = accused || is_accused(a.result, b.result);
    differs = differs || a.result != b.result;
  }
  accused = accuses_more(whole, less) || accused;
  tally.better += better ? 1 : 0;
  tally.accused += accused ? 1 : 0;
  (differs ? tally.weaker : tally.same) += 1;
}

void show(const Tallies& tallies) {
  const auto row = [](const std::string& source, const std::string& cut, const Tally& t) {
    fmt::print("{:28} {:18} {:7} {:7} {:7} {:7} {:7} {:7}\n", source, cut, t.cuts, t.better,
               t.accused, t.refused, t.weaker, t.same);
  };
  fmt::print("{:28} {:18} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}\n", "source", "taken away", "cuts",
             "better", "accused", "refused", "weaker", "same");
  Tally sum;
  for (const auto& [name, t] : tallies) {
    row(name.first, name.second, t);
    for (const auto count : {&Tally::cuts, &Tally::better, &Tally::accused, &Tally::refused,
                             &Tally::weaker, &Tally::same}) {
      sum.*count += t.*count;
    }
  }
  row("all", "", sum);
}

}  // namespace mrclab::test
