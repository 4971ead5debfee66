#include "recorded/diff/run_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/report/text_table.h"
#include "fabric/text/text_wrap.h"

namespace mrclab::lab {
namespace {

using analysis::CheckResult;
using analysis::Result;
using analysis::Verdict;

constexpr size_t kWhat = 40;  // columns of the first cell

std::string headline(const RunRow& row) {
  const Verdict& verdict = *row.verdict;
  const std::string left =
      fmt::format("{}{}{}{}", fmt::join(row.ids, " "), row.ids.empty() ? "" : " ", verdict.scenario,
                  analysis::circumstances(verdict));
  const bool wall = verdict.timing.mode == analysis::TimingMode::kWall;
  const std::string right = (!verdict.timing.sound() ? (wall ? "DISTURBED  " : "NOT FAITHFUL  ")
                             : wall                  ? "wall clock  "
                                                     : "") +
                            analysis::capitals(verdict.result);
  return fmt::format("{:<{}} {}\n", cut_to(left, 79 - right.size()), 79 - right.size(), right);
}

std::string check_lines(const CheckResult& check) {
  std::vector<std::string> what =
      wrapped_lines((check.result == Result::kPass ? "" : analysis::capitals(check.result) + ": ") +
                        (check.published ? check.published->figure : check.about),
                    kWhat - 2);
  what.resize(std::max<size_t>(what.size(), 1));
  const std::string ours = check.measured ? fmt::format("{:.2f}", *check.measured) : "-";
  std::string text =
      fmt::format("  {:<{}} {:>10} {:>10}  {}", what[0], kWhat - 2, ours,
                  check.published ? analysis::shown(*check.published) : "", cut_to(check.unit, 15));
  text.erase(text.find_last_not_of(' ') + 1);
  text += '\n';
  for (size_t i = 1; i < what.size(); ++i) text += "  " + what[i] + "\n";
  return text;
}

}  // namespace

std::string run_table(std::span<const RunRow> rows, std::chrono::duration<double> wall) {
  const std::string rule = std::string(80, '-') + "\n";
  std::string text =
      fmt::format("{:<{}} {:>10} {:>10}  {}\n", "run", kWhat, "measured", "published", "unit") +
      rule;
  size_t count[4] = {};
  for (const RunRow& row : rows) {
    text += headline(row);
    for (const CheckResult& check : row.verdict->checks) {
      if (check.published || check.result != Result::kPass) text += check_lines(check);
    }
    ++count[static_cast<size_t>(row.verdict->result)];
  }
  const bool compared = std::any_of(rows.begin(), rows.end(),
                                    [](const RunRow& row) { return published_any(*row.verdict); });
  if (compared) {
    text += rule + "published: what others measured, to compare; bounds are each scenario's own\n";
  }
  return text + rule +
         fmt::format("{} passed, {} failed, {} inconclusive{} in {:.0f} s\n", count[0], count[1],
                     count[2], count[3] > 0 ? fmt::format(", {} without checks", count[3]) : "",
                     wall.count());
}

}  // namespace mrclab::lab
