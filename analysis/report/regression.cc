#include "analysis/report/regression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "analysis/report/text_table.h"
#include "fabric/text/json_text.h"
#include "fabric/text/schema_id.h"
#include "fabric/text/visible_text.h"
#include "fabric/text/yaml.h"

namespace mrclab::analysis {
namespace {

using Json = nlohmann::ordered_json;
using Values = std::map<std::string, double, std::less<>>;

enum class Unit : uint8_t { kRate, kTime, kBytes, kCount };  // b/s, ns, bytes, how many

/// What no value means.
enum class Absent : uint8_t {
  kUnknown,
  kWorst,  ///< it did not complete, or it did not recover
  kZero    ///< no port was paused
};

/// A metric that is compared: where it stands in verdict.json, and what it may lose by default.
struct Metric {
  std::string_view name;
  std::string_view pointer;  ///< in the verdict, or in each of its faults
  Unit unit;
  bool of_fault;
  double tolerance;  ///< fraction of the baseline
  Absent absent = Absent::kUnknown;
};

constexpr double kTwoPercent = 0.02, kTenPercent = 0.1;

constexpr std::array kMetrics{
    Metric{"goodput", "/metrics/goodput_bps", Unit::kRate, false, kTwoPercent},
    Metric{"completion", "/metrics/completed_ns", Unit::kTime, false, kTwoPercent, Absent::kWorst},
    Metric{"detect", "/detected_ns", Unit::kTime, true, kTenPercent},
    Metric{"recover", "/recovered_ns", Unit::kTime, true, kTenPercent, Absent::kWorst},
    Metric{"lost", "/metrics/lost", Unit::kCount, false, kTenPercent},
    Metric{"retransmitted", "/metrics/retransmitted", Unit::kCount, false, kTenPercent},
    Metric{"trimmed", "/metrics/trimmed", Unit::kCount, false, kTenPercent},
    Metric{"refused", "/metrics/refused", Unit::kCount, false, kTenPercent},
    Metric{"naks", "/metrics/naks", Unit::kCount, false, kTenPercent},
    Metric{"timeouts", "/metrics/timeouts", Unit::kCount, false, kTenPercent},
    Metric{"cnps", "/metrics/cnps", Unit::kCount, false, kTenPercent},
    Metric{"qps_failed", "/metrics/qps_failed", Unit::kCount, false, 0},
    Metric{"queue", "/metrics/deepest_queue/bytes", Unit::kBytes, false, kTenPercent},
    Metric{"paused", "/metrics/pauses/longest_ns", Unit::kTime, false, kTenPercent, Absent::kZero},
};

constexpr std::string_view kHistory = "history";  // a row of its own where all is exact
constexpr size_t kMaxFaults = 16'384;             // four times what a scenario may have
constexpr double kMaxValue = 1e18;                // in any unit
constexpr double kMaxPercent = 10'000;

const Metric* metric_called(std::string_view name) {
  const auto found = std::find_if(kMetrics.begin(), kMetrics.end(),
                                  [&](const Metric& metric) { return metric.name == name; });
  return found == kMetrics.end() ? nullptr : &*found;
}

bool more_is_better(const Metric& metric) { return metric.unit == Unit::kRate; }

std::string value_text(double value, Unit unit) {
  switch (unit) {
    case Unit::kRate: return rate_text(value);
    case Unit::kTime: return to_string(FabricTime::from_ps(std::llround(value * 1000)));
    case Unit::kBytes: return plain_number(value) + " B";
    case Unit::kCount: break;
  }
  return plain_number(value);
}

std::string percent_text(double percent) {
  char text[48];
  std::snprintf(text, sizeof text, "%.4g %%", percent);
  return text;
}

std::string tolerance_text(const Tolerance& tolerance, Unit unit) {
  if (tolerance.kind == Tolerance::Kind::kExact) return "exact";
  if (tolerance.kind == Tolerance::Kind::kRelative) return percent_text(100 * tolerance.amount);
  return value_text(tolerance.amount, unit);
}

Tolerance read_amount(const std::string& word, const Metric* metric) {
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
    case Unit::kRate: return {Tolerance::Kind::kAbsolute, static_cast<double>(value.as_rate().bps)};
    case Unit::kTime:
      return {Tolerance::Kind::kAbsolute, static_cast<double>(value.as_time().ps()) / 1000};
    case Unit::kBytes:
      return {Tolerance::Kind::kAbsolute, static_cast<double>(value.as_bytes().value)};
    case Unit::kCount: break;
  }
  return {Tolerance::Kind::kAbsolute, static_cast<double>(value.as_integer(0, kMaxCount))};
}

/// Reads parts of a document, and refuses with the file and the place in it.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  [[noreturn]] void fail(const std::string& place, const std::string& found,
                         const std::string& expected) const {
    throw InputError(file_ + ": " + (place.empty() ? "" : place + ": ") + "found " + found +
                     ": expected " + expected);
  }

  std::string text(const Json& document, const char* key) const {
    const auto value = document.find(key);
    const std::string place = std::string("/") + key;
    if (value == document.end()) fail(place, "nothing", "text, as in a verdict.json");
    if (!value->is_string()) fail(place, description(*value), "text");
    return visible(value->get<std::string>());
  }

  /// Empty for null, and where an older version did not write it.
  std::optional<double> number(const Json& part, std::string_view pointer,
                               const std::string& place) const {
    const Json* value = &part;
    for (size_t begin = 1; begin <= pointer.size();) {
      const size_t end = std::min(pointer.find('/', begin), pointer.size());
      if (value->is_null()) return std::nullopt;
      if (!value->is_object()) {
        fail(place + std::string(pointer.substr(0, begin - 1)), description(*value), "an object");
      }
      const auto next = value->find(std::string(pointer.substr(begin, end - begin)));
      if (next == value->end()) return std::nullopt;
      value = &*next;
      begin = end + 1;
    }
    if (value->is_null()) return std::nullopt;
    const std::string where = place + std::string(pointer);
    if (!value->is_number()) fail(where, description(*value), "a number");
    const auto read = value->get<double>();
    if (!(read >= 0 && read <= kMaxValue)) fail(where, description(*value), "0 to 1e18");
    return read;
  }

 private:
  static std::string description(const Json& value) {
    if (value.is_object()) return "an object";
    if (value.is_array()) return "a list";
    return in_quotes(value.dump(-1, ' ', false, Json::error_handler_t::replace));
  }

  std::string file_;
};

std::string label_of(const Metric& metric, size_t fault) {
  return std::string(metric.name) + (metric.of_fault ? " " + std::to_string(fault + 1) : "");
}

Values read_values(const Json& verdict, const Reader& reader, size_t& faults) {
  const auto metrics = verdict.find("metrics");
  if (metrics == verdict.end() || !metrics->is_object()) {
    reader.fail("/metrics", "no object", "the metrics of a verdict.json");
  }
  const auto list = verdict.find("faults");
  if (list == verdict.end() || !list->is_array()) {
    reader.fail("/faults", "no list", "the faults of a verdict.json");
  }
  if (list->size() > kMaxFaults) {
    reader.fail("/faults", std::to_string(list->size()) + " faults",
                "at most " + std::to_string(kMaxFaults));
  }
  faults = list->size();
  Values values;
  const auto put = [&](const Metric& metric, size_t fault, const Json& part,
                       const std::string& place) {
    const auto value = reader.number(part, metric.pointer, place);
    if (value) values.emplace(label_of(metric, fault), *value);
    if (!value && metric.absent == Absent::kZero) values.emplace(label_of(metric, fault), 0);
  };
  for (const Metric& metric : kMetrics) {
    if (!metric.of_fault) put(metric, 0, verdict, "");
    for (size_t i = 0; metric.of_fault && i < faults; ++i) {
      put(metric, i, (*list)[i], "/faults/" + std::to_string(i));
    }
  }
  if (!values.contains("goodput")) {
    reader.fail("/metrics/goodput_bps", "nothing", "a number, as in a verdict.json");
  }
  return values;
}

/// By how much `now` is worse; below 0: better.
double worse_by(const Metric& metric, double before, double now) {
  return more_is_better(metric) ? before - now : now - before;
}

double allowed(const Tolerance& tolerance, double before) {
  return tolerance.kind == Tolerance::Kind::kRelative ? tolerance.amount * before
                                                      : tolerance.amount;
}

void judge_metric(const Metric& metric, bool captured, ComparedMetric& compared) {
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
  const double limit = allowed(compared.tolerance, *compared.before);
  if (worse > limit + kHair * *compared.before) return fail("worse than the tolerance");
  compared.better = -worse > limit + kHair * *compared.before;
}

void add_metric(const Metric& metric, size_t fault, const StoredVerdict& baseline,
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
  if (baseline.result != "pass") {
    result.notes.push_back("the baseline's own result is \"" + baseline.result + "\"");
  }
  if (baseline.faults != verdict.faults.size()) {
    result.notes.push_back(counted_noun(baseline.faults, "fault") + " there, " +
                           std::to_string(verdict.faults.size()) + " here");
  }
}

std::string change_text(const ComparedMetric& compared, Unit unit) {
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

/// "≥ 98 % of 5.88 Tb/s", with the bound in the unit of the check.
CheckResult check_of(const ComparedMetric& compared) {
  CheckResult check;
  check.name = "baseline";
  check.result = compared.result;
  check.note = compared.note;
  check.where = WhereToLook{};
  check.about = "against the baseline: " + compared.label;
  const Metric* const metric = metric_called(compared.metric);
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
    const double limit = allowed(compared.tolerance, before);
    const double bound = more ? before - limit : before + limit;
    check.about += (more ? " ≥ " : " ≤ ") + value_text(std::max(bound, 0.0), metric->unit);
  }
  if (compared.now && before > 0) {
    check.measured = 100 * *compared.now / before;
    check.unit = "% of it";
  } else if (compared.now) {
    check.measured = metric->unit == Unit::kTime ? *compared.now / 1000 : *compared.now;
    check.unit = metric->unit == Unit::kTime ? "us" : "";
  }
  return check;
}

}  // namespace

Tolerances default_tolerances() {
  Tolerances tolerances;
  for (const Metric& metric : kMetrics) {
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
  const Metric* const metric = metric_called(name);
  if (metric == nullptr) {
    std::vector<std::string> known{"all"};
    for (const Metric& each : kMetrics) known.emplace_back(each.name);
    throw InputError("--tolerance: found " + in_quotes(name) + ": expected " + one_of(name, known));
  }
  tolerances[name] = read_amount(amount, metric);
}

StoredVerdict read_stored_verdict(std::string_view json, const std::string& file) {
  const Reader reader(file);
  if (nests_too_deep(json)) reader.fail("", "JSON that nests too deep", "a verdict.json");
  Json document;
  try {
    document = Json::parse(json);
  } catch (const Json::exception& error) {
    throw InputError(file + ": found text that is no JSON: expected a verdict.json (" +
                     visible(error.what()) + ")");
  }
  if (!document.is_object()) reader.fail("", "no object", "the verdict.json of one run");
  if (has_another_schema(document, "verdict")) {
    reader.fail("/schema", "another schema", schema_id("verdict") + ", or none");
  }
  StoredVerdict baseline;
  baseline.file = file;
  baseline.scenario = reader.text(document, "scenario");
  baseline.world = reader.text(document, "world");
  baseline.version = reader.text(document, "version");
  baseline.result = reader.text(document, "result");
  const auto seed = document.find("seed");
  if (seed == document.end() || !seed->is_number_unsigned()) {
    reader.fail("/seed", "no whole number", "the seed of the run");
  }
  baseline.seed = seed->get<uint64_t>();
  baseline.values = read_values(document, reader, baseline.faults);
  const Json& metrics = document.at("metrics");
  baseline.history_sha256 = reader.text(metrics, "history_sha256");
  if (const auto version = metrics.find("history_version"); version != metrics.end()) {
    if (!version->is_number_unsigned()) {
      reader.fail("/metrics/history_version", "no whole number", "the version of the digest");
    }
    baseline.history_version = version->get<uint64_t>();
  }
  return baseline;
}

void require_scenario(const StoredVerdict& baseline, const std::string& scenario) {
  if (baseline.scenario == scenario) return;
  throw InputError(baseline.file + ": found a verdict of " + in_quotes(baseline.scenario) +
                   ": expected one of " + in_quotes(scenario));
}

BaselineComparison compare_with(const BaselineCheck& against, const Verdict& verdict) {
  const auto& [baseline, tolerances] = against;
  const StoredVerdict now = read_stored_verdict(to_json(verdict), "this run");
  BaselineComparison result;
  const bool captured = verdict.metrics.captures > 0;
  for (const Metric& metric : kMetrics) {
    const size_t count = metric.of_fault ? std::min(baseline.faults, now.faults) : 1;
    for (size_t i = 0; i < count; ++i) {
      add_metric(metric, i, baseline, now.values, tolerances, captured, result);
    }
  }
  add_history(baseline, tolerances, verdict, result);
  add_notes(baseline, verdict, result);
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
    const Metric* const metric = metric_called(compared.metric);
    const Unit unit = metric != nullptr ? metric->unit : Unit::kCount;
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
