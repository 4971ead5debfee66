#include "analysis/report/compared_metrics.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "analysis/report/text_table.h"
#include "fabric/text/visible_text.h"
#include "fabric/text/yaml.h"

namespace mrclab::analysis {
namespace {

constexpr double kMaxPercent = 10'000;

std::string percent_text(double percent) {
  char text[48];
  std::snprintf(text, sizeof text, "%.4g %%", percent);
  return text;
}

Tolerance read_amount(const std::string& word, const MetricSpec* metric) {
  if (word == "exact") return {Tolerance::Kind::kExact, 0};
  const std::string option = "--tolerance";
  if (word.ends_with('%')) {
    double percent = 0;
    const char* const end = word.data() + word.size() - 1;
    const auto [stop, error] = std::from_chars(word.data(), end, percent, std::chars_format::fixed);
    if (error != std::errc() || stop != end || !(percent >= 0 && percent <= kMaxPercent)) {
      throw InputError(option + ": found " + in_quotes(word) +
                       ": expected a share of the baseline such as 2%, up to 10000%");
    }
    return {Tolerance::Kind::kRelative, percent / 100};
  }
  if (metric == nullptr) {
    throw InputError(option + ": found " + in_quotes(word) +
                     " for all metrics: expected a share such as 2%, or exact");
  }
  if (word.find_first_of("\"\\") != std::string::npos) {  // it would end the quoted text below
    throw InputError(option + ": found " + in_quotes(word) + ": expected a value without quotes");
  }
  const YamlValue value = read_yaml_text(in_quotes(word), option);
  constexpr int64_t kMaxCount = 1'000'000'000'000;
  switch (metric->unit) {
    case MetricUnit::kRate:
      return {Tolerance::Kind::kAbsolute, static_cast<double>(value.as_rate().bps)};
    case MetricUnit::kTime:
      return {Tolerance::Kind::kAbsolute, static_cast<double>(value.as_time().ps()) / 1000};
    case MetricUnit::kBytes:
      return {Tolerance::Kind::kAbsolute, static_cast<double>(value.as_bytes().value)};
    case MetricUnit::kCount: break;
  }
  return {Tolerance::Kind::kAbsolute, static_cast<double>(value.as_integer(0, kMaxCount))};
}

}  // namespace

const MetricSpec* metric_called(std::string_view name) {
  const auto found = std::find_if(kComparedMetrics.begin(), kComparedMetrics.end(),
                                  [&](const MetricSpec& metric) { return metric.name == name; });
  return found == kComparedMetrics.end() ? nullptr : &*found;
}

std::string label_of(const MetricSpec& metric, size_t place) {
  const bool numbered = metric.of == MetricOf::kFault || (metric.of == MetricOf::kJob && place > 0);
  return std::string(metric.name) + (numbered ? " " + std::to_string(place + 1) : "");
}

std::string value_text(double value, MetricUnit unit) {
  switch (unit) {
    case MetricUnit::kRate: return rate_text(value);
    case MetricUnit::kTime: return to_string(FabricTime::from_ps(std::llround(value * 1000)));
    case MetricUnit::kBytes: return plain_number(value) + " B";
    case MetricUnit::kCount: break;
  }
  return plain_number(value);
}

std::string tolerance_text(const Tolerance& tolerance, MetricUnit unit) {
  if (tolerance.kind == Tolerance::Kind::kExact) return "exact";
  if (tolerance.kind == Tolerance::Kind::kRelative) return percent_text(100 * tolerance.amount);
  return value_text(tolerance.amount, unit);
}

double allowed_loss(const Tolerance& tolerance, double before) {
  return tolerance.kind == Tolerance::Kind::kRelative ? tolerance.amount * before
                                                      : tolerance.amount;
}

Tolerances default_tolerances() {
  Tolerances tolerances;
  for (const MetricSpec& metric : kComparedMetrics) {
    tolerances.emplace(metric.name, Tolerance{Tolerance::Kind::kRelative, metric.tolerance});
  }
  return tolerances;
}

void set_tolerance(std::string_view text, Tolerances& tolerances) {
  const size_t equals = text.find('=');
  if (text != "exact" && equals == std::string_view::npos) {
    throw InputError("--tolerance: found " + in_quotes(text) +
                     ": expected METRIC=AMOUNT such as goodput=2%, or exact");
  }
  const std::string name(text == "exact" ? "all" : text.substr(0, equals));
  const std::string amount(text == "exact" ? text : text.substr(equals + 1));
  if (name == "all") {
    const Tolerance all = read_amount(amount, nullptr);
    for (auto& each : tolerances) each.second = all;
    return;
  }
  const MetricSpec* const metric = metric_called(name);
  if (metric == nullptr) {
    std::vector<std::string> known{"all"};
    for (const MetricSpec& each : kComparedMetrics) known.emplace_back(each.name);
    throw InputError("--tolerance: found " + in_quotes(name) + ": expected " + one_of(name, known));
  }
  tolerances[name] = read_amount(amount, metric);
}

}  // namespace mrclab::analysis
