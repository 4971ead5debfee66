#include "lab/run/run_spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/report/regression.h"
#include "analysis/report/summary.h"
#include "analysis/report/text_table.h"
#include "console/json_print.h"

namespace mrclab::lab {
namespace {

using analysis::MetricUnit;
using analysis::Result;

/// Of messages, which have no tolerances.
constexpr std::array kMessageMetrics{std::pair{"message_p50", &analysis::MessageTimes::p50},
                                     std::pair{"message_p99", &analysis::MessageTimes::p99},
                                     std::pair{"message_max", &analysis::MessageTimes::max}};

std::string_view unit_word(MetricUnit unit) {
  switch (unit) {
    case MetricUnit::kRate: return "b/s";
    case MetricUnit::kTime: return "ns";
    case MetricUnit::kBytes: return "B";
    case MetricUnit::kCount: break;
  }
  return "";
}

/// "20 pass", "18 pass, 2 fail"
std::string results_text(const RunGroup& group) {
  std::string text;
  for (const Result result :
       {Result::kPass, Result::kFail, Result::kInconclusive, Result::kNoChecks}) {
    if (group.of(result) == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", group.of(result),
                        result == Result::kNoChecks ? "without checks" : name_of(result));
  }
  return text.empty() ? "no run" : text;
}

/// "size 1MiB, load 50%"
std::string settings_text(const RunGroup& group) {
  std::string text;
  for (const auto& [key, value] : group.settings()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, value);
  }
  return text;
}

/// RFC 4180.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back(), values.size()};
}

void RunGroup::add(const analysis::Verdict& verdict) {
  seeds_.push_back(verdict.seed);
  ++results_.at(static_cast<size_t>(verdict.result));
  const auto stored = analysis::read_stored_verdict(analysis::to_json(verdict), "verdict");
  for (const auto& [label, value] : stored.values) values_[label].push_back(value);
  if (!verdict.metrics.messages) return;
  for (const auto& [label, member] : kMessageMetrics) {
    const FabricTime time = (*verdict.metrics.messages).*member;
    values_[label].push_back(static_cast<double>(time.ps()) / 1000);
  }
}

std::vector<RunGroup::Metric> RunGroup::metrics() const {
  std::vector<Metric> metrics;
  const auto add = [&](const std::string& label, MetricUnit unit) {
    const auto values = values_.find(label);
    if (values == values_.end()) return;
    const Spread spread = spread_of(values->second);
    if (spread.least != 0 || spread.most != 0) metrics.push_back({label, unit, spread});
  };
  for (const analysis::MetricSpec& metric : analysis::kComparedMetrics) {
    add(label_of(metric, 0), metric.unit);
    const bool several = metric.of != analysis::MetricOf::kRun;
    for (size_t i = 1; several && values_.contains(label_of(metric, i)); ++i) {
      add(label_of(metric, i), metric.unit);
    }
  }
  for (const auto& [label, member] : kMessageMetrics) add(label, MetricUnit::kTime);
  return metrics;
}

std::string spread_table(const std::vector<RunGroup>& groups, analysis::TableOptions options) {
  analysis::TextTable table(options);
  std::vector<analysis::TextTable::Row> all{{"metric", "runs", "median", "least", "most"}};
  for (const RunGroup& group : groups) {
    for (const RunGroup::Metric& metric : group.metrics()) {
      const auto text = [&](double value) { return analysis::value_text(value, metric.unit); };
      all.push_back({metric.label, std::to_string(metric.spread.of), text(metric.spread.median),
                     text(metric.spread.least), text(metric.spread.most)});
    }
  }
  const std::vector<size_t> widths = table.fit(all);
  const std::vector<bool> right{false, true, true, true, true};
  size_t row = 1;
  for (const RunGroup& group : groups) {
    const std::string settings = settings_text(group);
    table.rule();
    table.line(group.scenario() + (settings.empty() ? "" : ", " + settings) + ": " +
               results_text(group));
    table.row(all.front(), widths, right);
    for (size_t i = group.metrics().size(); i > 0; --i) table.row(all[row++], widths, right);
  }
  table.rule();
  return table.take();
}

std::string spread_csv(const std::vector<RunGroup>& groups) {
  std::string text = "scenario";
  if (!groups.empty()) {
    for (const auto& [key, value] : groups.front().settings()) text += "," + csv_cell(key);
  }
  text += ",runs,pass,fail,inconclusive,metric,unit,values,median,least,most\n";
  for (const RunGroup& group : groups) {
    for (const RunGroup::Metric& metric : group.metrics()) {
      text += csv_cell(group.scenario());
      for (const auto& [key, value] : group.settings()) text += "," + csv_cell(value);
      text += fmt::format(",{},{},{},{},{},{},{},{},{},{}\n", group.runs(), group.of(Result::kPass),
                          group.of(Result::kFail), group.of(Result::kInconclusive),
                          csv_cell(metric.label), unit_word(metric.unit), metric.spread.of,
                          metric.spread.median, metric.spread.least, metric.spread.most);
    }
  }
  return text;
}

std::string spread_json(const std::vector<RunGroup>& groups) {
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  for (const RunGroup& group : groups) {
    Json settings = Json::object(), metrics = Json::object();
    for (const auto& [key, value] : group.settings()) settings[key] = value;
    for (const RunGroup::Metric& metric : group.metrics()) {
      metrics[metric.label] = {{"unit", unit_word(metric.unit)},
                               {"runs", metric.spread.of},
                               {"median", metric.spread.median},
                               {"least", metric.spread.least},
                               {"most", metric.spread.most}};
    }
    rows.push_back({{"scenario", group.scenario()},
                    {"set", settings},
                    {"seeds", group.seeds()},
                    {"pass", group.of(Result::kPass)},
                    {"fail", group.of(Result::kFail)},
                    {"inconclusive", group.of(Result::kInconclusive)},
                    {"no_checks", group.of(Result::kNoChecks)},
                    {"metrics", metrics}});
  }
  return printed(Json{{"rows", rows}}, "sweep");
}

}  // namespace mrclab::lab
