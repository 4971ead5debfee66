#include "telemetry/counter_table.h"

#include <fmt/format.h>

#include "fabric/text/enum_words.h"

namespace mrclab::telemetry {
namespace {

constexpr auto kPort = Counts::kPort;
constexpr auto kHost = Counts::kHost;
constexpr auto kHostPort = Counts::kHostPort;
constexpr auto kTotal = MetricKind::kCounter;
constexpr auto kNow = MetricKind::kGauge;

constexpr CounterRow kRows[] = {
#include "telemetry/counter_rows.inc"
};

std::string cell(std::string_view text) {
  return text.empty() ? std::string("-") : fmt::format("`{}`", text);
}

constexpr auto kPlaces = words_by_value<Counts>(
    {{Counts::kPort, "switch port"}, {Counts::kHost, "host"}, {Counts::kHostPort, "host port"}});

}  // namespace

std::span<const CounterRow> counter_rows() { return kRows; }

const CounterRow* find_counter(Counts at, std::string_view word) {
  for (const CounterRow& row : kRows) {
    if (row.at == at && row.word == word) return &row;
  }
  return nullptr;
}

std::string names_page() {
  std::string page =
      "| at | counter | OpenMetrics | OpenConfig | SONiC (SAI) | mlx5 | node_exporter |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const CounterRow& row : kRows) {
    std::string family(row.family);
    if (row.kind == MetricKind::kCounter) family += "_total";
    if (!row.label.empty()) family += fmt::format("{{{}}}", row.label);
    const std::string theirs =
        row.node_exporter.empty() ? "" : fmt::format("node_infiniband_{}", row.node_exporter);
    page += fmt::format("| {} | `{}` | `{}` | {} | {} | {} | {} |\n",
                        kPlaces[static_cast<size_t>(row.at)], row.word, family,
                        cell(row.openconfig), cell(row.sonic), cell(row.mlx5), cell(theirs));
  }
  return page;
}

}  // namespace mrclab::telemetry
