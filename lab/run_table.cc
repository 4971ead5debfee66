#include "lab/run_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace mrclab::lab {
namespace {

using analysis::CheckResult;
using analysis::Result;
using analysis::Verdict;

constexpr size_t kWhat = 40;  // columns of the first cell

std::string capitals(Result result) {
  std::string word(analysis::name_of(result));
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return c == ' ' ? c : static_cast<char>(c - 'a' + 'A'); });
  return word;
}

std::string cut(const std::string& text, size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 2) + "..";
}

/// Lines of at most `width` columns, broken between words.
std::vector<std::string> lines_of(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  while (text.size() > width) {
    const size_t space = text.rfind(' ', width);
    const size_t end = space == std::string_view::npos || space == 0 ? width : space;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + (end < text.size() && text[end] == ' ' ? 1 : 0));
  }
  lines.emplace_back(text);
  return lines;
}

std::string headline(const RunRow& row) {
  const Verdict& verdict = *row.verdict;
  const std::string left =
      fmt::format("{}{}{}{}", fmt::join(row.ids, " "), row.ids.empty() ? "" : " ", verdict.scenario,
                  analysis::circumstances(verdict));
  const bool wall = verdict.timing.mode == analysis::TimingMode::kWall;
  const std::string right = (!verdict.timing.sound() ? (wall ? "DISTURBED  " : "NOT FAITHFUL  ")
                             : wall                  ? "wall clock  "
                                                     : "") +
                            capitals(verdict.result);
  return fmt::format("{:<{}} {}\n", cut(left, 79 - right.size()), 79 - right.size(), right);
}

std::string check_lines(const CheckResult& check) {
  const std::vector<std::string> what =
      lines_of((check.result == Result::kPass ? "" : capitals(check.result) + ": ") +
                   (check.published ? check.published->figure : check.about),
               kWhat - 2);
  const std::string ours = check.measured ? fmt::format("{:.2f}", *check.measured) : "-";
  std::string text =
      fmt::format("  {:<{}} {:>10} {:>10}  {}", what[0], kWhat - 2, ours,
                  check.published ? analysis::shown(*check.published) : "", cut(check.unit, 15));
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
