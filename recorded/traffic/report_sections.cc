#include "recorded/traffic/report_sections.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "analysis/judge/analyze.h"
#include "recorded/traffic/traffic_input.h"
#include "recorded/traffic/traffic_report.h"
#include "scenario/spec/transport_fit.h"

namespace mrclab::lab {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 6> kRoceSections{"rc",    "queue_pairs", "go_backs",
                                                        "rates", "lost_psns",   "pauses"};
constexpr size_t kRowsShown = 200, kBinsShown = 4'096;

Json section_json(const TrafficTable& table) {
  Json columns = Json::array(), rows = Json::array();
  std::vector<size_t> shown;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].heading.empty()) continue;
    shown.push_back(i);
    const bool number = std::all_of(table.rows.begin(), table.rows.end(), [i](const auto& row) {
      return row[i].is_number() || row[i].is_null();
    });
    columns.push_back({{"heading", table.columns[i].heading}, {"number", number}});
  }
  const size_t count = std::min(table.rows.size(), kRowsShown);
  for (size_t r = 0; r < count; ++r) {
    Json cells = Json::array();
    for (const size_t i : shown)
      cells.push_back(cell_text(table.rows[r][i], table.columns[i].shown));
    rows.push_back(std::move(cells));
  }
  return {{"name", table.name},
          {"title", table.title},
          {"columns", columns},
          {"rows", rows},
          {"left_out", table.rows.size() - count},
          {"notes", table.notes}};
}

/// The rows of "rates" as numbers, for a chart.
Json bins_of(const TrafficTable& rates) {
  Json bins = Json::array();
  for (const auto& row : rates.rows) {
    if (bins.size() == kBinsShown) break;
    bins.push_back(
        {row[0], row[1].get<double>() / 1e3, row[2].get<double>() / 1e3, row[3], row[4], row[5]});
  }
  return bins;
}

}  // namespace

std::string roce_sections(const Scenario& scenario, const std::filesystem::path& run) {
  if (!uses_roce(scenario) || analysis::captures_in(run / "captures").empty()) return "";
  TrafficWords words;
  words.sources = {run.string()};
  const TrafficRequest request = traffic_request(words);
  const analysis::Traffic traffic = analysis::analyze_traffic(request.input);
  Json sections = Json::array();
  const std::vector<TrafficTable> tables = traffic_tables(traffic, request.context);
  for (const std::string_view name : kRoceSections) {
    const auto table = std::find_if(tables.begin(), tables.end(),
                                    [name](const TrafficTable& t) { return t.name == name; });
    if (table == tables.end() || table->rows.empty()) continue;
    sections.push_back(section_json(*table));
    if (name == "rates") sections.back()["bins"] = bins_of(*table);
  }
  return sections.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace mrclab::lab
