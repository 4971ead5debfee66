#include "lab/compare/comparison_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/report/text_table.h"
#include "lab/compare/comparison_story.h"

namespace mrclab::lab {
namespace {

using analysis::TextTable;

std::string in_rtts(std::optional<FabricTime> time, FabricTime base_rtt) {
  if (!time) return "-";
  if (*time == FabricTime::zero()) return "at once";
  return fmt::format("{:.1f} RTT",
                     static_cast<double>(time->ps()) / static_cast<double>(base_rtt.ps()));
}

bool has_queue(const ComparedRun& run) { return run.verdict.metrics.deepest.has_value(); }

/// Did something happen that there is with RoCE alone?
bool has_roce(const ComparedRun& run) {
  const analysis::Metrics& metrics = run.verdict.metrics;
  return metrics.cnps > 0 || metrics.naks > 0 || metrics.pauses.has_value();
}

/// A column with its cells, one for each run.
struct Column {
  std::string name;
  std::vector<std::string> cells;
  size_t width() const {
    size_t width = name.size();
    for (const std::string& cell : cells) width = std::max(width, cell.size());
    return width + 2;  // as TextTable parts columns
  }
};

/// The columns in the order of their importance: the last ones may find no room.
class Columns {
 public:
  explicit Columns(const Comparison& comparison) : comparison_(comparison) {}

  void add(std::string name, auto&& cell_of) {
    Column column{std::move(name), {}};
    for (const ComparedRun& run : comparison_.runs) column.cells.push_back(cell_of(run));
    columns_.push_back(std::move(column));
  }
  /// A count, unless it is zero everywhere.
  void add_count(const char* name, auto&& count_of) {
    const bool any = std::any_of(comparison_.runs.begin(), comparison_.runs.end(),
                                 [&](const ComparedRun& run) { return count_of(run) > 0; });
    if (any) add(name, [&](const ComparedRun& run) { return std::to_string(count_of(run)); });
  }
  std::vector<TextTable::Row> rows(size_t room) const {
    std::vector<TextTable::Row> rows(comparison_.runs.size() + 1);
    size_t used = 0;
    for (const Column& column : columns_) {
      used += column.width();
      if (used > room + 2) break;
      rows[0].push_back(column.name);
      for (size_t i = 0; i < column.cells.size(); ++i) rows[i + 1].push_back(column.cells[i]);
    }
    return rows;
  }

 private:
  const Comparison& comparison_;
  std::vector<Column> columns_;
};

/// How long packets were lost, when that was noticed, and when the last switch had routed around it: which distinguishes
/// ways to choose paths where some switches route by themselves.
void add_fault_columns(Columns& columns) {
  const auto add = [&](const char* name, auto member) {
    columns.add(name, [member](const ComparedRun& run) {
      const std::optional<FabricTime> time = longest_fault_times(run.verdict).*member;
      if (!time) return std::string("-");
      return fmt::format("{:.1f} us", static_cast<double>(time->ps()) / 1e6);
    });
  };
  add("last loss", &FaultTimes::last_loss);
  add("noticed", &FaultTimes::noticed);
  add("routed", &FaultTimes::routed);
}

Columns columns_of(const Comparison& comparison, const Headline& headline) {
  const ComparedRun& first = comparison.runs.front();
  Columns columns(comparison);
  columns.add("transport", [](const ComparedRun& run) { return run.transport; });
  columns.add(headline.times ? "completion" : "goodput", [&](const ComparedRun& run) {
    const analysis::Metrics& metrics = run.verdict.metrics;
    const std::string star = run.verdict.depends_on.empty() ? "" : " *";
    if (!headline.times) return fmt::format("{:.2f} Gb/s", metrics.goodput_bps / 1e9) + star;
    return (metrics.completed ? to_string(*metrics.completed) : std::string("not done")) + star;
  });
  columns.add(headline.unit_of_first, [&](const ComparedRun& run) {
    const std::optional<double> share = share_of_first(first, run);
    return share ? fmt::format("{:.1f} %", *share) : std::string("-");
  });
  columns.add("checks met", checks_met);
  const bool routes = std::any_of(
      comparison.runs.begin(), comparison.runs.end(),
      [](const ComparedRun& run) { return longest_fault_times(run.verdict).routed.has_value(); });
  if (routes) {
    add_fault_columns(columns);
  } else if (!first.verdict.faults.empty()) {
    columns.add("recovered", [&](const ComparedRun& run) {
      return in_rtts(longest_recovery(run.verdict), comparison.base_rtt);
    });
  }
  const auto metric = [](auto member) {
    return [member](const ComparedRun& run) { return run.verdict.metrics.*member; };
  };
  using analysis::Metrics;
  columns.add_count("QPs failed", metric(&Metrics::qps_failed));
  columns.add_count("resent", metric(&Metrics::retransmitted));
  columns.add_count("lost", metric(&Metrics::lost));
  columns.add_count("paused", [](const ComparedRun& run) {
    const auto& pauses = run.verdict.metrics.pauses;
    return pauses ? pauses->ports : 0;
  });
  const bool roce = std::any_of(comparison.runs.begin(), comparison.runs.end(), has_roce);
  if (roce && std::any_of(comparison.runs.begin(), comparison.runs.end(), has_queue)) {
    columns.add("queue", [](const ComparedRun& run) {
      return has_queue(run) ? size_text(run.verdict.metrics.deepest->size) : std::string("-");
    });
  }
  columns.add_count("cut", metric(&Metrics::flows_cut));
  columns.add_count("shared", [](const ComparedRun& run) {
    const auto& spread = run.verdict.metrics.spread;
    return spread ? spread->shared : 0;
  });
  columns.add_count("trimmed", metric(&Metrics::trimmed));
  columns.add_count("CNPs", metric(&Metrics::cnps));
  columns.add_count("NAKs", metric(&Metrics::naks));
  columns.add_count("timeouts", metric(&Metrics::timeouts));
  return columns;
}

void add_comparison(const Comparison& comparison, size_t room, TextTable& table) {
  const Headline headline = headline_of(comparison);
  table.line(fmt::format("{}, seed {}, simulated", comparison.scenario, comparison.seed));
  table.line(headline.said);
  table.rule();
  const std::vector<TextTable::Row> rows = columns_of(comparison, headline).rows(room);
  const std::vector<size_t> widths = table.fit(rows);
  std::vector<bool> right(widths.size(), true);
  right[0] = false;
  for (const TextTable::Row& row : rows) table.row(row, widths, right);
  table.rule();
  for (const ComparedRun& run : comparison.runs) {
    const std::vector<std::string> story = story_of(comparison, run);
    table.indented(run.transport + ": " + fmt::format("{}", fmt::join(story, " ")), 0);
  }
  if (!comparison.page.empty()) table.line("page       " + comparison.page.string());
}

}  // namespace

std::string comparison_text(const std::vector<Comparison>& comparisons,
                            analysis::TableOptions options) {
  TextTable table(options);
  for (const Comparison& comparison : comparisons) {
    if (&comparison != &comparisons.front()) table.line();
    add_comparison(comparison, std::max<size_t>(options.width, 60), table);
  }
  return table.take();
}

}  // namespace mrclab::lab
