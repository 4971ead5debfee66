#include "lab/perf/flow_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "console/terminal.h"
#include "fabric/text/counted_noun.h"

namespace mrclab::lab {

using endpoint::WorkReport;
using endpoint::WorkSample;

namespace {

/// Two digits after the point; of what is below 0.1 three that count.
std::string shown(double value) {
  return value > 0 && value < 0.1 ? fmt::format("{:#.3g}", value) : fmt::format("{:.2f}", value);
}

/// Messages of one queue pair acknowledged in the window, those at its edges in part.
double messages_in(const WorkReport& report, Window window) {
  double messages = 0;
  FabricTime before = report.first;
  for (const WorkSample& sample : report.samples) {
    const FabricTime begin = std::max(before, window.from);
    const FabricTime end = std::min(sample.to, window.to);
    if (sample.to == before) {
      messages += sample.to > window.from && sample.to <= window.to ? 1 : 0;
    } else if (end > begin) {
      messages +=
          static_cast<double>((end - begin).ps()) / static_cast<double>((sample.to - before).ps());
    }
    before = sample.to;
  }
  return messages;
}

}  // namespace

std::vector<FlowRow> flow_rows(const std::vector<WorkReport>& work, Window window,
                               double full_gbps) {
  std::map<std::pair<uint32_t, uint32_t>, double> bytes;
  for (const WorkReport& report : work) {
    bytes[{report.from, report.to}] +=
        messages_in(report, window) * static_cast<double>(report.unit.value);
  }
  std::vector<FlowRow> rows;
  for (const auto& [ends, sum] : bytes) {
    FlowRow row;
    row.name = fmt::format("h{} -> h{}", ends.first, ends.second);
    row.gbps = sum * 8e3 / static_cast<double>((window.to - window.from).ps());
    row.share = full_gbps > 0 ? row.gbps / full_gbps : 0;
    rows.push_back(std::move(row));
  }
  return rows;
}

FlowSummary summary_of(const std::vector<FlowRow>& rows) {
  FlowSummary summary;
  if (rows.empty()) return summary;
  double sum = 0, squares = 0;
  summary.min = rows.front().share;
  for (const FlowRow& row : rows) {
    summary.min = std::min(summary.min, row.share);
    summary.max = std::max(summary.max, row.share);
    summary.total_gbps += row.gbps;
    sum += row.share;
    squares += row.share * row.share;
  }
  const auto n = static_cast<double>(rows.size());
  summary.mean = sum / n;
  summary.jain = squares > 0 ? sum * sum / (n * squares) : 0;
  return summary;
}

std::string flow_table(const std::vector<FlowRow>& rows) {
  std::string text = fmt::format("{:<14}{:>12}{:>10}\n", "flow", "Gb/s", "share");
  for (const FlowRow& row : rows) {
    text += fmt::format("{:<14}{:>12}{:>8} %\n", row.name, shown(row.gbps), shown(row.share * 100));
  }
  return text;
}

std::string summary_line(const FlowSummary& summary, size_t flows) {
  return fmt::format("{}, {} Gb/s; share min {} %  mean {} %  max {} %  Jain {:.4f}\n",
                     counted_noun(flows, "flow"), shown(summary.total_gbps),
                     shown(summary.min * 100), shown(summary.mean * 100), shown(summary.max * 100),
                     summary.jain);
}

nlohmann::ordered_json to_json(const std::vector<FlowRow>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const FlowRow& row : rows) {
    list.push_back({{"flow", row.name}, {"gbps", row.gbps}, {"share", row.share}});
  }
  return list;
}

nlohmann::ordered_json to_json(const FlowSummary& summary) {
  return {{"total_gbps", summary.total_gbps},
          {"share_min", summary.min},
          {"share_mean", summary.mean},
          {"share_max", summary.max},
          {"jain", summary.jain}};
}

}  // namespace mrclab::lab
