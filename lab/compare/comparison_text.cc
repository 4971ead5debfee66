#include "lab/compare/comparison_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/report/text_table.h"

namespace mrclab::lab {
namespace {

using analysis::TextTable;
using Json = nlohmann::ordered_json;

/// The goodput of the lowest part of any dip; empty if no dip's parts can be told apart.
std::optional<BitRate> lowest_goodput(const analysis::Verdict& verdict) {
  std::optional<BitRate> lowest;
  for (const analysis::FaultResult& fault : verdict.faults) {
    if (!fault.dip) continue;
    const BitRate here =
        fault.dip->transient > FabricTime::zero() ? fault.dip->lowest : fault.dip->steady;
    lowest = std::min(lowest.value_or(here), here);
  }
  return lowest;
}

std::vector<std::string> failed_checks(const analysis::Verdict& verdict) {
  std::vector<std::string> failed;
  for (const analysis::CheckResult& check : verdict.checks) {
    if (check.result == analysis::Result::kFail) failed.push_back(check.about);
  }
  return failed;
}

std::string in_rtts(std::optional<FabricTime> time, FabricTime base_rtt) {
  if (!time) return "-";
  if (*time == FabricTime::zero()) return "at once";
  return fmt::format("{:.1f} RTT",
                     static_cast<double>(time->ps()) / static_cast<double>(base_rtt.ps()));
}

TextTable::Row row_of(const Comparison& comparison, const ComparedRun& run) {
  const analysis::Metrics& metrics = run.verdict.metrics;
  return {run.transport,
          fmt::format("{:.2f} Gb/s", metrics.goodput_bps / 1e9),
          in_rtts(longest_recovery(run.verdict), comparison.base_rtt),
          std::to_string(metrics.retransmitted),
          std::to_string(metrics.lost),
          std::to_string(metrics.trimmed),
          analysis::capitals(run.verdict.result)};
}

std::string counted_change(uint64_t before, uint64_t after, const char* what) {
  if (before == after) return fmt::format("as many packets {}", what);
  return fmt::format("{} packets {} in place of {}", after, what, before);
}

void add_comparison(const Comparison& comparison, TextTable& table) {
  table.line(fmt::format("{}, seed {}, simulated", comparison.scenario, comparison.seed));
  table.rule();
  std::vector<TextTable::Row> rows{
      {"transport", "goodput", "recovered after", "again", "lost", "trimmed", "verdict"}};
  for (const ComparedRun& run : comparison.runs) rows.push_back(row_of(comparison, run));
  const std::vector<size_t> widths = table.fit(rows);
  const std::vector<bool> right{false, true, true, true, true, true, false};
  for (const TextTable::Row& row : rows) table.row(row, widths, right);
  table.rule();
  const ComparedRun& first = comparison.runs.front();
  for (const ComparedRun& run : comparison.runs) {
    if (&run == &first) continue;
    table.indented(run.transport + " " + difference_sentence(first, run), 0);
  }
  if (!comparison.page.empty()) table.line("page       " + comparison.page.string());
}

Json or_null(const std::optional<FabricTime>& time) { return time ? Json(time->ps()) : Json(); }

Json to_json(const ComparedRun& run) {
  const analysis::Metrics& metrics = run.verdict.metrics;
  const std::optional<BitRate> lowest = lowest_goodput(run.verdict);
  return {{"transport", run.transport},
          {"result", std::string(name_of(run.verdict.result))},
          {"goodput_bps", metrics.goodput_bps},
          {"recovery_ps", or_null(longest_recovery(run.verdict))},
          {"lowest_bps", lowest ? Json(lowest->bps) : Json()},
          {"retransmitted", metrics.retransmitted},
          {"lost", metrics.lost},
          {"trimmed", metrics.trimmed},
          {"failed_checks", failed_checks(run.verdict)},
          {"history_sha256", metrics.history_sha256},
          {"folder", run.folder.string()}};
}

/// A cell of CSV (RFC 4180).
std::string cell(const Json& value) {
  if (value.is_null()) return "";
  if (!value.is_string() && !value.is_array()) return value.dump();
  std::string text =
      value.is_string() ? value.get<std::string>() : fmt::format("{}", fmt::join(value, "; "));
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  for (size_t i = text.find('"'); i != std::string::npos; i = text.find('"', i + 2)) {
    text.insert(i, 1, '"');
  }
  return '"' + text + '"';
}

}  // namespace

std::string difference_sentence(const ComparedRun& first, const ComparedRun& run) {
  const analysis::Metrics& a = first.verdict.metrics;
  const analysis::Metrics& b = run.verdict.metrics;
  if (a.history_sha256 == b.history_sha256) return "does the same, packet by packet.";
  const double change = a.goodput_bps > 0 ? 100 * (b.goodput_bps / a.goodput_bps - 1) : 0;
  std::string text =
      std::abs(change) < 0.05
          ? std::string("has the same goodput")
          : fmt::format("has {:.1f} % {} goodput", std::abs(change), change < 0 ? "less" : "more");
  text +=
      fmt::format(", {} and {}.", counted_change(a.retransmitted, b.retransmitted, "sent again"),
                  counted_change(a.lost, b.lost, "lost"));
  const std::vector<std::string> failed = failed_checks(run.verdict);
  if (!failed.empty()) text += fmt::format(" Not met: {}.", fmt::join(failed, "; "));
  return text;
}

std::string comparison_text(const std::vector<Comparison>& comparisons,
                            analysis::TableOptions options) {
  TextTable table(options);
  for (const Comparison& comparison : comparisons) {
    if (&comparison != &comparisons.front()) table.line();
    add_comparison(comparison, table);
  }
  return table.take();
}

Json to_json(const std::vector<Comparison>& comparisons) {
  Json all = Json::array();
  for (const Comparison& comparison : comparisons) {
    Json runs = Json::array();
    for (const ComparedRun& run : comparison.runs) runs.push_back(to_json(run));
    all.push_back({{"scenario", comparison.scenario},
                   {"seed", comparison.seed},
                   {"base_rtt_ps", comparison.base_rtt.ps()},
                   {"page", comparison.page.string()},
                   {"runs", std::move(runs)}});
  }
  return all;
}

std::string to_csv(const std::vector<Comparison>& comparisons) {
  std::string text;
  for (const Comparison& comparison : comparisons) {
    for (const ComparedRun& run : comparison.runs) {
      const Json values = to_json(run);
      std::string names = "scenario,seed", line = cell(comparison.scenario);
      line += "," + std::to_string(comparison.seed);
      for (const auto& [name, value] : values.items()) {
        names += "," + name;
        line += "," + cell(value);
      }
      if (text.empty()) text = names + "\n";
      text += line + "\n";
    }
  }
  return text;
}

}  // namespace mrclab::lab
