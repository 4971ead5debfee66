#include "lab/drill/alert_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "fabric/text/input_error.h"
#include "fabric/text/yaml_write.h"

namespace mrclab::lab {
namespace {

constexpr std::string_view kQuery = "ALERTS{alertstate=\"firing\"}";

/// Equal values in a row are one word of promtool's: "3x5" is 3 and five more.
std::string values_text(const std::vector<double>& values) {
  std::string text;
  for (size_t i = 0; i < values.size();) {
    size_t same = 1;
    while (i + same < values.size() && values[i + same] == values[i]) ++same;
    text += fmt::format("{}{:.15g}", i > 0 ? " " : "", values[i]);
    if (same > 1) text += fmt::format("+0x{}", same - 1);
    i += same;
  }
  return text;
}

[[noreturn]] void refuse(std::string_view what) {
  throw InputError(fmt::format("promtool: found {}, expected an answer as of version 2.42",
                               in_quotes(std::string(what.substr(0, 80)))));
}

/// Reads one line of promtool from left to right.
class AnswerScanner {
 public:
  explicit AnswerScanner(std::string_view text) : text_(text) {}
  bool done() const { return text_.empty(); }
  bool skip(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  void expect(std::string_view word) {
    if (!skip(word)) refuse(text_);
  }
  std::string name() {
    const size_t end = std::min(text_.find('='), text_.size());
    std::string result(text_.substr(0, end));
    text_.remove_prefix(end);
    return result;
  }
  /// In quotes, as Go writes it: of its escapes those that stand for a character of their own.
  std::string quoted() {
    expect("\"");
    std::string result;
    while (!text_.empty() && text_.front() != '"') {
      if (text_.front() == '\\' && text_.size() > 1) {
        text_.remove_prefix(1);
        result += text_.front() == 'n' ? '\n' : text_.front();
      } else {
        result += text_.front();
      }
      text_.remove_prefix(1);
    }
    expect("\"");
    return result;
  }
  void number() {
    const size_t end = std::min(text_.find(','), text_.size());
    text_.remove_prefix(end);
  }

 private:
  std::string_view text_;
};

std::vector<AlertLabels> alerts_in(std::string_view got) {
  std::vector<AlertLabels> alerts;
  if (got == "nil" || got.empty()) return alerts;
  AnswerScanner in(got);
  while (!in.done()) {
    AlertLabels labels;
    in.expect("{");
    while (!in.skip("}")) {
      const std::string name = in.name();
      in.expect("=");
      labels[name] = in.quoted();
      in.skip(", ");
    }
    in.number();
    if (!in.done()) in.expect(", ");
    labels.erase("alertstate");
    labels.erase("__name__");
    alerts.push_back(std::move(labels));
  }
  return alerts;
}

/// "1m30s", "15s", "500ms" as promtool prints a time: in ms.
int64_t printed_ms(std::string_view text) {
  int64_t sum = 0;
  while (!text.empty()) {
    int64_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc()) refuse(text);
    text.remove_prefix(static_cast<size_t>(read.ptr - text.data()));
    constexpr std::pair<std::string_view, int64_t> kUnits[] = {
        {"ms", 1},         {"s", 1000},        {"m", 60'000},        {"h", 3'600'000},
        {"d", 86'400'000}, {"w", 604'800'000}, {"y", 31'536'000'000}};
    const auto unit = std::find_if(std::begin(kUnits), std::end(kUnits),
                                   [&](const auto& one) { return text.starts_with(one.first); });
    if (unit == std::end(kUnits)) refuse(text);
    text.remove_prefix(unit->first.size());
    sum += number * unit->second;
  }
  return sum;
}

}  // namespace

std::string drill_test(const RuleFile& rules, const DrillData& data, int64_t interval_ms) {
  if (data.steps > kMaxDrillSteps) {
    throw InputError(fmt::format("found {} steps, expected at most {}: longer ones (--every)",
                                 data.steps, kMaxDrillSteps));
  }
  std::string text = fmt::format(
      "rule_files: [{}]\nevaluation_interval: {}ms\ntests:\n- interval: {}ms\n  input_series:\n",
      yaml_string(rules.path.string()), interval_ms, interval_ms);
  for (const DrillSeries& series : data.series) {
    text += fmt::format("  - {{series: {}, values: \"{}\"}}\n", yaml_string(series.name),
                        values_text(series.values));
  }
  text += "  promql_expr_test:\n";
  for (size_t i = 0; i < data.steps; ++i) {
    text += fmt::format("  - {{expr: {}, eval_time: {}ms, exp_samples: []}}\n", yaml_string(kQuery),
                        static_cast<int64_t>(i) * interval_ms);
  }
  return text;
}

std::vector<AlertSpan> alert_spans(std::string_view answer, size_t steps, int64_t interval_ms) {
  constexpr std::string_view kAsked = "expr: ", kTime = ", time: ", kGot = "got: ";
  std::map<AlertLabels, std::vector<size_t>> firing;
  std::optional<size_t> step;
  for (size_t from = 0; from < answer.size();) {
    const size_t end = std::min(answer.find('\n', from), answer.size());
    std::string_view line = answer.substr(from, end - from);
    from = end + 1;
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.starts_with(kAsked) && line.rfind(kTime) != std::string_view::npos) {
      std::string_view time = line.substr(line.rfind(kTime) + kTime.size());
      time = time.substr(0, time.find(','));
      step = static_cast<size_t>(printed_ms(time) / interval_ms);
    } else if (line.starts_with(kGot) && step) {
      for (AlertLabels& labels : alerts_in(line.substr(kGot.size()))) {
        firing[std::move(labels)].push_back(*step);
      }
    }
  }
  std::vector<AlertSpan> spans;
  for (auto& [labels, at] : firing) {
    std::sort(at.begin(), at.end());
    for (const size_t i : at) {
      const bool goes_on =
          !spans.empty() && spans.back().labels == labels && spans.back().until == i;
      if (!goes_on) spans.push_back({labels, i, i, false});
      spans.back().until = i + 1;
      spans.back().open = i + 1 >= steps;
    }
  }
  std::stable_sort(spans.begin(), spans.end(),
                   [](const AlertSpan& a, const AlertSpan& b) { return a.from < b.from; });
  return spans;
}

}  // namespace mrclab::lab
