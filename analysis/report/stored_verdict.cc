// A verdict.json of any origin, read as far as it is compared (regression.h).

#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/report/compared_metrics.h"
#include "analysis/report/regression.h"
#include "fabric/text/json_text.h"
#include "fabric/text/schema_id.h"
#include "fabric/text/visible_text.h"
#include "fabric/text/yaml.h"

namespace mrclab::analysis {
namespace {

using Json = nlohmann::ordered_json;
using Values = std::map<std::string, double, std::less<>>;

constexpr size_t kMaxJobs = 64;        // a scenario has no more workloads
constexpr size_t kMaxFaults = 16'384;  // four times what a scenario may have
constexpr double kMaxValue = 1e18;     // in any unit

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
      if (value->is_array() && pointer.substr(begin, end - begin) == "0") {  // if it has any
        if (value->empty()) return std::nullopt;
        value = &value->front();
        begin = end + 1;
        continue;
      }
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

/// The list at that key; an empty one where it may be missing and is.
const Json& read_list(const Json& verdict, const Reader& reader, const char* key, size_t most,
                      bool required) {
  static const Json kNone = Json::array();
  const std::string place = std::string("/") + key;
  const auto list = verdict.find(key);
  if (list == verdict.end() && !required) return kNone;
  if (list == verdict.end() || !list->is_array()) {
    reader.fail(place, "no list", std::string("the ") + key + " of a verdict.json");
  }
  if (list->size() > most) {
    reader.fail(place, std::to_string(list->size()) + " " + key, "at most " + std::to_string(most));
  }
  return *list;
}

Values read_values(const Json& verdict, const Reader& reader, StoredVerdict& stored) {
  const auto metrics = verdict.find("metrics");
  if (metrics == verdict.end() || !metrics->is_object()) {
    reader.fail("/metrics", "no object", "the metrics of a verdict.json");
  }
  const Json& faults = read_list(verdict, reader, "faults", kMaxFaults, true);
  const Json& jobs = read_list(verdict, reader, "jobs", kMaxJobs, false);
  stored.faults = faults.size();
  stored.jobs = jobs.size();
  Values values;
  const auto put = [&](const MetricSpec& metric, size_t number, const Json& part,
                       const std::string& place) {
    const auto value = reader.number(part, metric.pointer, place);
    if (value) values.emplace(label_of(metric, number), *value);
    if (!value && metric.absent == Absent::kZero) values.emplace(label_of(metric, number), 0);
  };
  for (const MetricSpec& metric : kComparedMetrics) {
    if (metric.of == MetricOf::kRun) {
      put(metric, 0, verdict, "");
      continue;
    }
    const bool of_fault = metric.of == MetricOf::kFault;
    const Json& list = of_fault ? faults : jobs;
    for (size_t i = 0; i < list.size(); ++i) {
      put(metric, i, list[i], (of_fault ? "/faults/" : "/jobs/") + std::to_string(i));
    }
  }
  if (!values.contains("goodput")) {
    reader.fail("/metrics/goodput_bps", "nothing", "a number, as in a verdict.json");
  }
  return values;
}

void read_timing(const Json& verdict, const Reader& reader, StoredVerdict& baseline) {
  const auto timing = verdict.find("timing");
  if (timing == verdict.end()) return;
  if (!timing->is_object()) reader.fail("/timing", "no object", "the timing of a verdict.json");
  if (timing->contains("mode")) baseline.by_wall_clock = reader.text(*timing, "mode") == "wall";
  const auto faithful = timing->find("faithful");
  if (faithful == timing->end()) return;
  if (!faithful->is_boolean()) reader.fail("/timing/faithful", "no truth value", "true or false");
  baseline.faithful = faithful->get<bool>();
}

}  // namespace

StoredVerdict read_stored_verdict(std::string_view json, const std::string& file) {
  const Reader reader(file);
  if (nests_too_deep(json)) reader.fail("", "JSON that nests too deep", "a verdict.json");
  Json document;
  try {
    document = Json::parse(json);
  } catch (const Json::exception& error) {
    throw InputError(file + ": " + json_problem(error) + ": expected a verdict.json");
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
  read_timing(document, reader, baseline);
  baseline.values = read_values(document, reader, baseline);
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

}  // namespace mrclab::analysis
