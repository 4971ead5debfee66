#pragma once
// The text form of OpenMetrics 1.0 (prometheus/OpenMetrics, specification, "Text Format"): families with type, unit and
// help, their samples together, "# EOF" at the end.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/counter_table.h"

namespace mrclab::telemetry {

/// What a GET of this text must be labelled with.
inline constexpr std::string_view kOpenMetricsType =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

struct MetricLabel {
  std::string_view name;
  std::string_view value;  ///< any text: it is escaped
};

class OpenMetricsText {
 public:
  /// Adds a sample. Families appear in the order in which they were first named; type and help are those of the first
  /// time. `extra` is more of the label set as it stands in the text. Samples of one label set are
  /// added in the order of their time stamps, where they have any.
  void add(std::string_view family, MetricKind kind, std::string_view help,
           const std::vector<MetricLabel>& labels, std::string_view extra, double value,
           std::optional<int64_t> at_seconds = {});
  /// A family of texts: a gauge of 1 whose labels say it; `family` without "_info".
  void add_info(std::string_view family, std::string_view help,
                const std::vector<MetricLabel>& labels);

  std::string text() const;

 private:
  struct Family {
    std::string head, samples;
  };
  Family& family_of(std::string_view name, std::string_view type, std::string_view help);

  std::vector<Family> families_;
  std::map<std::string, size_t, std::less<>> index_;
};

}  // namespace mrclab::telemetry
