// Report tables as text, JSON and CSV.

#include <fmt/format.h>

#include "console/terminal.h"
#include "fabric/text/text_wrap.h"
#include "recorded/traffic/traffic_report.h"

namespace mrclab::lab {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kReportWidth = 80;

std::string time_cell(double ns) {
  const double size = std::abs(ns);
  if (size < 10e3) return fmt::format("{:.0f}ns", ns);
  if (size < 10e6) return fmt::format("{:.1f}us", ns / 1e3);
  if (size < 10e9) return fmt::format("{:.1f}ms", ns / 1e6);
  return fmt::format("{:.1f}s", ns / 1e9);
}

std::string rate_cell(double bps) {
  if (bps >= 1e12) return fmt::format("{:.2f} Tb/s", bps / 1e12);
  if (bps >= 1e9) return fmt::format("{:.1f} Gb/s", bps / 1e9);
  return fmt::format("{:.1f} Mb/s", bps / 1e6);
}

std::string bytes_cell(double bytes) {
  if (bytes < 10e3) return fmt::format("{:.0f} B", bytes);
  if (bytes < 10e6) return fmt::format("{:.0f} kB", bytes / 1e3);
  return fmt::format("{:.0f} MB", bytes / 1e6);
}

std::string share_cell(double share) {
  if (share != 0 && share < 0.0001) return "<0.01%";
  return fmt::format("{:.2f}%", share * 100);
}

/// Whole ones, where columns are many.
std::string percent_cell(double share) {
  if (share > 0 && share < 0.005) return "<1%";
  if (share < 1 && share > 0.995) return ">99%";
  return fmt::format("{:.0f}%", share * 100);
}

/// Shortens the first column, which holds names, where a row would be longer than a line.
void fit(std::vector<std::vector<std::string>>& rows) {
  constexpr size_t kLeast = 12, kBetween = 2;
  std::vector<size_t> widths(rows[0].size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  size_t width = 0;
  for (const size_t column : widths) width += column + kBetween;
  if (width <= kReportWidth + kBetween) return;
  const size_t over = width - kReportWidth - kBetween;
  const size_t first = std::max(kLeast, widths[0] - std::min(widths[0], over));
  for (auto& row : rows) {
    if (row[0].size() > first) row[0] = row[0].substr(0, first - 2) + "..";
  }
}

std::string csv_cell(const Json& value) {
  if (value.is_null()) return "";
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

/// One row as lines of key and value.
std::string as_list(const TrafficTable& table) {
  size_t widest = 0;
  for (const ReportColumn& column : table.columns) widest = std::max(widest, column.heading.size());
  std::string text;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const Json& value = table.rows[0][i];
    if (value.is_null()) continue;
    const ReportColumn& column = table.columns[i];
    text += wrapped_text(
        fmt::format("{:<{}}  {}", column.heading, widest, cell_text(value, column.shown)),
        kReportWidth, widest + 2);
  }
  return text;
}

}  // namespace

std::string cell_text(const Json& value, Shown shown) {
  if (value.is_null()) return "-";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string()) return value.get<std::string>();
  switch (shown) {
    case Shown::kNanoseconds: return time_cell(value.get<double>());
    case Shown::kRate: return rate_cell(value.get<double>());
    case Shown::kShare: return share_cell(value.get<double>());
    case Shown::kPercent: return percent_cell(value.get<double>());
    case Shown::kBytes: return bytes_cell(value.get<double>());
    case Shown::kPlain: break;
  }
  return value.is_number_float() ? fmt::format("{:.4g}", value.get<double>()) : value.dump();
}

std::string to_text(const TrafficTable& table, size_t rows_max) {
  std::string text;
  const bool list = table.name == "summary" || table.name == "answers";
  if (!table.title.empty()) text += wrapped_text(table.title, kReportWidth, 2);
  if (table.rows.empty()) {
    text += "  " + table.without_rows + "\n";
  } else if (list) {
    text += as_list(table);
  } else {
    std::vector<std::vector<std::string>> rows(1);
    for (size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].heading.empty()) continue;
      rows[0].push_back(table.columns[i].heading);
    }
    for (size_t r = 0; r < std::min(rows_max, table.rows.size()); ++r) {
      rows.emplace_back();
      for (size_t i = 0; i < table.columns.size(); ++i) {
        if (table.columns[i].heading.empty()) continue;
        rows.back().push_back(cell_text(table.rows[r][i], table.columns[i].shown));
      }
    }
    fit(rows);
    text += lab::table(rows);
    if (table.rows.size() > rows_max) {
      text += fmt::format("  ... and {} more: --section {}\n", table.rows.size() - rows_max,
                          table.name);
    }
  }
  for (const std::string& note : table.notes) text += wrapped_text("  " + note, kReportWidth, 2);
  return text;
}

Json to_json(const std::vector<TrafficTable>& tables) {
  Json all = Json::object();
  for (const TrafficTable& table : tables) {
    Json rows = Json::array();
    for (const auto& row : table.rows) {
      Json object = Json::object();
      for (size_t i = 0; i < table.columns.size(); ++i) object[table.columns[i].key] = row[i];
      rows.push_back(std::move(object));
    }
    if (table.name == "summary" || table.name == "answers") {
      all[table.name] = rows.empty() ? Json::object() : rows[0];
      if (!table.notes.empty()) all[table.name]["notes"] = table.notes;
    } else {
      all[table.name] = std::move(rows);
    }
  }
  return all;
}

std::string to_csv(const TrafficTable& table) {
  std::string text;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    text += (i == 0 ? "" : ",") + table.columns[i].key;
  }
  text += "\n";
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : ",") + csv_cell(row[i]);
    text += "\n";
  }
  return text;
}

}  // namespace mrclab::lab
