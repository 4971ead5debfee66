#include "analysis/report/regression.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "analysis/report/compared_metrics.h"
#include "analysis/report/text_table.h"
#include "fabric/text/visible_text.h"
#include "fabric/text/yaml.h"

namespace mrclab::analysis {
namespace {

using Values = std::map<std::string, double, std::less<>>;

constexpr std::string_view kHistory = "history";  // a row of its own where all is exact

/// By how much `now` is worse; below 0: better.
double worse_by(const MetricSpec& metric, double before, double now) {
  return more_is_better(metric) ? before - now : now - before;
}

void judge_metric(const MetricSpec& metric, bool captured, ComparedMetric& compared) {
  const auto fail = [&](const char* note) {
    compared.result = Result::kFail;
    compared.note = note;
  };
  const bool exact = compared.tolerance.kind == Tolerance::Kind::kExact;
  if (!compared.before) {
    if (exact) return fail("the baseline has no value");
    compared.better = metric.absent == Absent::kWorst;
    if (!compared.better) compared.note = "the baseline has no value";
    return;
  }
  if (!compared.now) {
    if (captured && metric.absent == Absent::kWorst)
      return fail("it did not happen before the run's end");
    if (exact) return fail("the run has no value");
    compared.result = Result::kInconclusive;
    compared.note = "the run has no value";
    return;
  }
  const double worse = worse_by(metric, *compared.before, *compared.now);
  if (exact) {
    if (worse != 0) fail("it changed");
    return;
  }
  // A fraction of a whole number is no whole number: a hair above the bound is the bound.
  constexpr double kHair = 1e-9;
  const double limit = allowed_loss(compared.tolerance, *compared.before);
  if (worse > limit + kHair * *compared.before) return fail("worse than the tolerance");
  compared.better = -worse > limit + kHair * *compared.before;
}

void add_metric(const MetricSpec& metric, size_t fault, const StoredVerdict& baseline,
                const Values& now, const Tolerances& tolerances, bool captured,
                BaselineComparison& result) {
  ComparedMetric compared;
  compared.label = label_of(metric, fault);
  compared.metric = metric.name;
  compared.tolerance = tolerances.at(std::string(metric.name));
  if (const auto value = baseline.values.find(compared.label); value != baseline.values.end()) {
    compared.before = value->second;
  }
  if (const auto value = now.find(compared.label); value != now.end()) {
    compared.now = value->second;
  }
  if (compared.before.value_or(0) == 0 && compared.now.value_or(0) == 0) return;
  judge_metric(metric, captured, compared);
  result.metrics.push_back(std::move(compared));
}

/// Where every metric is compared exactly, so is every packet.
void add_history(const StoredVerdict& baseline, const Tolerances& tolerances,
                 const Verdict& verdict, BaselineComparison& result) {
  const bool exact = std::all_of(tolerances.begin(), tolerances.end(), [](const auto& each) {
    return each.second.kind == Tolerance::Kind::kExact;
  });
  if (!exact) return;
  ComparedMetric compared;
  compared.label = compared.metric = kHistory;
  compared.tolerance = {Tolerance::Kind::kExact, 0};
  const uint32_t version = verdict.metrics.history_version;
  if (baseline.history_version != version) {
    compared.result = Result::kFail;
    compared.note = "digests of version " + std::to_string(baseline.history_version) + " there, " +
                    std::to_string(version) +
                    " here, so packets cannot be compared: store a new baseline";
  } else if (baseline.history_sha256 != verdict.metrics.history_sha256) {
    compared.result = Result::kFail;
    compared.note = "packets differ: " + baseline.history_sha256.substr(0, 12) + " there, " +
                    verdict.metrics.history_sha256.substr(0, 12) + " here";
  }
  result.metrics.push_back(std::move(compared));
}

void add_notes(const StoredVerdict& baseline, const Verdict& verdict, BaselineComparison& result) {
  const auto differs = [&](const char* what, const std::string& there, const std::string& here) {
    if (there == here) return;
    result.notes.push_back(std::string(what) + " " + there + " there, " + here + " here");
  };
  differs("seed", std::to_string(baseline.seed), std::to_string(verdict.seed));
  differs("world", baseline.world, verdict.world);
  differs("version", baseline.version, verdict.version);
  if (baseline.by_wall_clock) {
    result.notes.emplace_back(
        "the baseline is timed by the wall clock: its times and rates are those of a machine");
  }
  if (baseline.result != "pass") {
    result.notes.push_back("the baseline's own result is \"" + baseline.result + "\"");
  }
  if (baseline.faults != verdict.faults.size()) {
    result.notes.push_back(counted_noun(baseline.faults, "fault") + " there, " +
                           std::to_string(verdict.faults.size()) + " here");
  }
}

/// Figures of such a run are no measurement, whatever they are.
std::string why_unusable(const StoredVerdict& baseline) {
  if (baseline.result == "inconclusive")
    return "the baseline is inconclusive: nothing can be held against it";
  if (!baseline.faithful && !baseline.by_wall_clock) {
    return "the baseline is not FAITHFUL: nothing can be held against it";
  }
  return "";
}

/// No metric may pass or fail beside such a baseline.
void make_inconclusive(BaselineComparison& result) {
  if (result.metrics.empty()) {
    ComparedMetric& history = result.metrics.emplace_back();
    history.label = history.metric = kHistory;
    history.tolerance = {Tolerance::Kind::kExact, 0};
  }
  for (ComparedMetric& compared : result.metrics) {
    compared.result = Result::kInconclusive;
    compared.better = false;
    compared.note = result.unusable;
  }
}

std::string change_text(const ComparedMetric& compared, MetricUnit unit) {
  if (!compared.before || !compared.now) return "-";
  const double change = *compared.now - *compared.before;
  if (change == 0) return "0";
  if (*compared.before == 0) return "+" + value_text(change, unit);
  char text[48];
  const double percent = 100 * change / *compared.before;
  std::snprintf(text, sizeof text, std::abs(percent) < 1000 ? "%+.2f %%" : "%+.0f %%", percent);
  return text;
}

std::string mark_of(const ComparedMetric& compared) {
  if (compared.result == Result::kFail) return "REGRESSION";
  if (compared.result == Result::kInconclusive) return "????";
  return compared.better ? "better" : "";
}

CheckResult with_result(CheckResult check, const ComparedMetric& compared) {
  check.looked = Looked(1, "value", FabricTime::zero(), FabricTime::never(), Source::kBaseline);
  switch (compared.result) {
    case Result::kPass: return passed(check, *check.looked);
    case Result::kFail: return failed(check, check.note);
    case Result::kInconclusive:
    case Result::kNoChecks: break;
  }
  return unjudged(check, check.note);
}

/// "≥ 98 % of 5.88 Tb/s", with the bound in the unit of the check.
CheckResult check_of(const ComparedMetric& compared) {
  CheckResult check;
  check.name = "baseline";
  check.note = compared.note;
  check = with_result(std::move(check), compared);
  check.where = WhereToLook{};
  check.about = "against the baseline: " + compared.label;
  const MetricSpec* const metric = metric_called(compared.metric);
  if (metric == nullptr) {
    check.about += " as it was";
    return check;
  }
  if (!compared.before) {
    check.about += ", which it does not have";
    return check;
  }
  const double before = *compared.before;
  const bool more = more_is_better(*metric);
  if (compared.tolerance.kind == Tolerance::Kind::kExact) {
    check.about += " = " + value_text(before, metric->unit);
  } else {
    const double limit = allowed_loss(compared.tolerance, before);
    const double bound = more ? before - limit : before + limit;
    check.about += (more ? " ≥ " : " ≤ ") + value_text(std::max(bound, 0.0), metric->unit);
  }
  if (compared.now && before > 0) {
    check.measured = 100 * *compared.now / before;
    check.unit = "% of it";
  } else if (compared.now) {
    check.measured = metric->unit == MetricUnit::kTime ? *compared.now / 1000 : *compared.now;
    check.unit = metric->unit == MetricUnit::kTime ? "us" : "";
  }
  return check;
}

}  // namespace

BaselineComparison compare_with(const BaselineCheck& against, const Verdict& verdict) {
  const auto& [baseline, tolerances] = against;
  const StoredVerdict now = read_stored_verdict(to_json(verdict), "this run");
  BaselineComparison result;
  const bool captured = verdict.metrics.captures > 0;
  for (const MetricSpec& metric : kComparedMetrics) {
    const size_t count = metric.of == MetricOf::kFault ? std::min(baseline.faults, now.faults)
                         : metric.of == MetricOf::kJob ? std::min(baseline.jobs, now.jobs)
                                                       : 1;
    for (size_t i = 0; i < count; ++i) {
      add_metric(metric, i, baseline, now.values, tolerances, captured, result);
    }
  }
  add_history(baseline, tolerances, verdict, result);
  add_notes(baseline, verdict, result);
  result.unusable = why_unusable(baseline);
  if (!result.unusable.empty()) make_inconclusive(result);
  return result;
}

std::vector<CheckResult> checks_of(const BaselineComparison& comparison) {
  std::vector<CheckResult> checks;
  for (const ComparedMetric& compared : comparison.metrics) checks.push_back(check_of(compared));
  return checks;
}

std::string to_table(const BaselineComparison& comparison, const StoredVerdict& baseline,
                     TableOptions options) {
  TextTable table(options);
  table.rule();
  table.line("against  " + baseline.file);
  for (const std::string& note : comparison.notes) table.indented(note, 9);
  std::vector<TextTable::Row> rows{{"metric", "baseline", "now", "change", "tolerance", ""}};
  for (const ComparedMetric& compared : comparison.metrics) {
    const MetricSpec* const metric = metric_called(compared.metric);
    const MetricUnit unit = metric != nullptr ? metric->unit : MetricUnit::kCount;
    const auto shown = [&](const std::optional<double>& value) {
      return value ? value_text(*value, unit) : std::string("-");
    };
    rows.push_back({compared.label, shown(compared.before), shown(compared.now),
                    change_text(compared, unit), tolerance_text(compared.tolerance, unit),
                    mark_of(compared)});
  }
  const std::vector<size_t> widths = table.fit(rows);
  for (const TextTable::Row& row : rows) {
    table.row(row, widths, {false, true, true, true, true, false});
  }
  if (!comparison.unusable.empty()) {
    table.line(comparison.unusable);
    return table.take();
  }
  for (const ComparedMetric& compared : comparison.metrics) {
    if (compared.note.empty() || compared.result == Result::kPass) continue;
    table.indented(compared.label + ": " + compared.note, 2);
  }
  const auto worse = std::count_if(comparison.metrics.begin(), comparison.metrics.end(),
                                   [](const auto& each) { return each.result == Result::kFail; });
  table.line(worse == 0 ? "no metric is worse than it may be"
                        : counted_noun(static_cast<size_t>(worse), "metric") +
                              (worse == 1 ? " is" : " are") + " worse than allowed");
  return table.take();
}

}  // namespace mrclab::analysis
