#include "lab/twin/twin_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/report/text_table.h"
#include "lab/twin/twin_text.h"

namespace mrclab::lab {

std::string twin_table(const std::vector<TwinReport>& reports, analysis::TableOptions options) {
  using analysis::TextTable;
  TextTable table(options);
  const TwinReport& first = reports.front();
  const size_t columns = std::min(first.faults.size(), kMaxFaultColumns);
  table.line(fmt::format("{}, seed {}: what faults cost, as it is and varied", first.scenario,
                         first.seed));
  for (size_t i = 0; i < columns; ++i) {
    table.line(fmt::format("{}  {}", i + 1, first.faults[i].description));
  }
  std::vector<TextTable::Row> rows{{"", "without", "all cost", "share"}};
  for (size_t i = 0; i < columns; ++i) rows[0].push_back(std::to_string(i + 1));
  std::vector<std::string> notes;
  for (const TwinReport& report : reports) {
    const auto text = [&](std::optional<int64_t> amount) {
      return amount_text(report.unit, amount);
    };
    const std::string name = variant_name(report);
    const std::optional<int64_t> total = report.total.total, whole = report.total.without;
    TextTable::Row row{name, text(whole ? std::optional(std::abs(*whole)) : whole), text(total),
                       "-"};
    if (total && whole && *whole != 0) {
      row.back() = fmt::format(
          "{:.1f} %", 100 * static_cast<double>(*total) / static_cast<double>(std::abs(*whole)));
    }
    for (size_t i = 0; i < columns; ++i) row.push_back(text(report.faults[i].cost.marginal));
    if (!report.inconclusive.empty()) notes.push_back(name + ": " + report.inconclusive + ".");
    rows.push_back(std::move(row));
  }
  table.rule();
  const std::vector<size_t> widths = table.fit(rows);
  std::vector<bool> right(widths.size(), true);
  right[0] = false;
  for (const TextTable::Row& row : rows) table.row(row, widths, right);
  table.rule();
  for (const std::string& note : notes) table.line("INCONCLUSIVE  " + note);
  return table.take();
}

}  // namespace mrclab::lab
