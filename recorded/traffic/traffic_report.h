#pragma once
// Traffic as tables, and the tables as text of 80 columns, JSON or CSV: one description of every
// column for all three.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/traffic/traffic.h"
#include "recorded/traffic/report_table.h"
#include "recorded/traffic/traffic_context.h"

namespace mrclab::lab {

/// Names of all sections, in order.
std::vector<std::string> traffic_sections();
std::vector<TrafficTable> traffic_tables(const analysis::Traffic& traffic,
                                         const TrafficContext& context);

/// A value as people read it: "12.3us", "-" for one that is not known.
std::string cell_text(const nlohmann::ordered_json& value, Shown shown);
/// `rows_max`: of each table; the rest is counted.
std::string to_text(const TrafficTable& table, size_t rows_max);
/// {"summary": {...}, "flows": [{...}], ...}
nlohmann::ordered_json to_json(const std::vector<TrafficTable>& tables);
std::string to_csv(const TrafficTable& table);

}  // namespace mrclab::lab
