#include "analysis/report/summary.h"

#include <algorithm>
#include <cstdio>

#include "analysis/report/text_table.h"

namespace mrclab::analysis {
namespace {

constexpr size_t kNamed = 8;  // checks of one result; the table above lists all of them

size_t count(const Verdict& verdict, Result result) {
  return static_cast<size_t>(
      std::count_if(verdict.checks.begin(), verdict.checks.end(),
                    [&](const CheckResult& c) { return c.result == result; }));
}

std::string checks_text(const Verdict& verdict) {
  const size_t all = verdict.checks.size(), failed = count(verdict, Result::kFail),
               unknown = count(verdict, Result::kInconclusive);
  if (all == 0) return "no checks";
  if (failed + unknown == 0)
    return (all == 1 ? "its" : "all") + (" " + counted_noun(all, "check")) + " passed";
  std::string text = "of " + counted_noun(all, "check");
  if (failed > 0) text += ", " + std::to_string(failed) + " failed";
  if (unknown > 0) text += ", " + std::to_string(unknown) + " inconclusive";
  return text;
}

std::string seconds_text(double seconds) {
  char text[48];
  std::snprintf(text, sizeof text, seconds < 100 ? "%.1f s" : "%.0f s", seconds);
  return text;
}

/// One line for each check with this result; one that could not be judged with its reason.
void add_checks(const Verdict& verdict, Result result, TextTable& table) {
  size_t named = 0;
  for (const CheckResult& check : verdict.checks) {
    if (check.result != result || ++named > kNamed) continue;
    const bool open = result == Result::kInconclusive && !check.note.empty();
    table.marked(result == Result::kFail ? "  FAIL" : "  ????", result,
                 sentence_of(check) + (open ? ": " + check.note : ""));
  }
  if (named > kNamed) table.line("  and " + std::to_string(named - kNamed) + " more, above");
}

/// What left checks inconclusive: once, if one reason holds for all of them.
void add_open(const Verdict& verdict, TextTable& table) {
  const TimingReport& timing = verdict.timing;
  const auto& reasons = timing.reasons.empty() ? verdict.notes : timing.reasons;
  if (timing.sound()) add_checks(verdict, Result::kInconclusive, table);
  if (verdict.result != Result::kInconclusive || reasons.empty()) return;
  if (!timing.sound() || count(verdict, Result::kInconclusive) == 0) {
    table.indented(reasons.front(), 2);
  }
}

}  // namespace

std::string to_summary(const Verdict& verdict, const RunFacts& facts, TableOptions options) {
  TextTable table(options);
  table.rule();
  const bool carried = verdict.timing.mode == TimingMode::kCarried;
  table.marked(capitals(verdict.result), verdict.result,
               verdict.scenario + ": " + checks_text(verdict) + "; " +
                   (!carried                  ? "wall clock"
                    : verdict.timing.faithful ? "FAITHFUL"
                                              : "NOT FAITHFUL") +
                   "; " + seconds_text(facts.seconds));
  add_checks(verdict, Result::kFail, table);
  add_open(verdict, table);
  if (verdict.cost) table.line("cost    " + to_string(*verdict.cost));
  return table.take() + "report  " + facts.report + "\n";
}

}  // namespace mrclab::analysis
