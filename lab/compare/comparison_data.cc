#include "lab/compare/comparison_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "analysis/report/summary.h"
#include "lab/compare/comparison_story.h"

namespace mrclab::lab {
namespace {

using Json = nlohmann::ordered_json;

/// The goodput of the lowest part of any dip; empty if no dip's parts can be separated.
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

Json or_null(const std::optional<FabricTime>& time) { return time ? Json(time->ps()) : Json(); }

void add_pauses(const std::optional<analysis::PauseUse>& pauses, Json& line) {
  line["paused_ports"] = pauses ? pauses->ports : 0;
  line["paused_longest_ps"] = pauses ? pauses->longest.ps() : 0;
  line["paused_longest_port"] = pauses ? Json(pauses->longest_port) : Json();
  line["first_pauser"] = pauses ? Json(pauses->first_pauser) : Json();
}

void add_spread(const std::optional<analysis::FlowSpread>& spread, Json& line) {
  const auto put = [&](const char* name, auto member) {
    line[name] = spread ? Json((*spread).*member) : Json();
  };
  using analysis::FlowSpread;
  put("flows", &FlowSpread::flows);
  put("flows_one_path", &FlowSpread::one_path);
  put("flows_sharing", &FlowSpread::sharing);
  put("uplinks_shared", &FlowSpread::shared);
  put("flows_most", &FlowSpread::most);
  put("uplinks", &FlowSpread::uplinks);
  put("uplinks_used", &FlowSpread::used);
  put("busiest", &FlowSpread::busiest);
  put("busiest_to_mean", &FlowSpread::busiest_to_mean);
}

void add_contrast(const ComparedRun& run, Json& line) {
  line["contrast"] = run.contrast.empty() ? Json() : Json(run.as_told() ? "pass" : "fail");
  line["contrast_checks"] = Json::array();
  for (const analysis::CheckResult& check : run.contrast) {
    line["contrast_checks"].push_back(analysis::sentence_of(check));
  }
}

Json to_json(const Comparison& comparison, const ComparedRun& run) {
  const analysis::Metrics& metrics = run.verdict.metrics;
  const std::optional<BitRate> lowest = lowest_goodput(run.verdict);
  const std::optional<double> share = share_of_first(comparison.runs.front(), run);
  const FaultTimes times = longest_fault_times(run.verdict);
  Json line{{"transport", run.transport},
            {"result", std::string(name_of(run.verdict.result))},
            {"completion_ps", or_null(metrics.completed)},
            {"share_of_first", share ? Json(*share / 100) : Json()},
            {"goodput_bps", metrics.goodput_bps},
            {"recovery_ps", or_null(longest_recovery(run.verdict))},
            {"last_loss_ps", or_null(times.last_loss)},
            {"noticed_ps", or_null(times.noticed)},
            {"routed_ps", or_null(times.routed)},
            {"lowest_bps", lowest ? Json(lowest->bps) : Json()},
            {"retransmitted", metrics.retransmitted},
            {"lost", metrics.lost},
            {"trimmed", metrics.trimmed},
            {"naks", metrics.naks},
            {"timeouts", metrics.timeouts},
            {"cnps", metrics.cnps},
            {"flows_cut", metrics.flows_cut},
            {"deepest_queue_bytes", metrics.deepest ? Json(metrics.deepest->size.value) : Json()},
            {"deepest_queue_port", metrics.deepest ? Json(metrics.deepest->port) : Json()},
            {"qps_failed", metrics.qps_failed}};
  add_pauses(metrics.pauses, line);
  add_spread(metrics.spread, line);
  line["depends_on"] = run.verdict.depends_on;
  line["failed_checks"] = failed_checks(run.verdict);
  line["not_asked"] = run.not_asked;
  add_contrast(run, line);
  line["history_sha256"] = metrics.history_sha256;
  line["folder"] = run.folder.string();
  return line;
}

/// A text without its quotes, a list as its elements.
std::string plain_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::vector<std::string> parts;
  for (const Json& element : value) parts.push_back(plain_text(element));
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// A cell of CSV (RFC 4180).
std::string cell(const Json& value) {
  if (value.is_null()) return "";
  std::string text = plain_text(value);
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  for (size_t i = text.find('"'); i != std::string::npos; i = text.find('"', i + 2)) {
    text.insert(i, 1, '"');
  }
  return '"' + text + '"';
}

}  // namespace

Json to_json(const std::vector<Comparison>& comparisons) {
  Json all = Json::array();
  for (const Comparison& comparison : comparisons) {
    Json runs = Json::array();
    for (const ComparedRun& run : comparison.runs) runs.push_back(to_json(comparison, run));
    all.push_back({{"scenario", comparison.scenario},
                   {"seed", comparison.seed},
                   {"base_rtt_ps", comparison.base_rtt.ps()},
                   {"end_ps", comparison.end.ps()},
                   {"page", comparison.page.string()},
                   {"runs", std::move(runs)}});
  }
  return all;
}

std::string to_csv(const std::vector<Comparison>& comparisons) {
  std::string text;
  for (const Comparison& comparison : comparisons) {
    for (const ComparedRun& run : comparison.runs) {
      const Json values = to_json(comparison, run);
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

std::string to_markdown(const std::vector<Comparison>& comparisons) {
  std::string text = "| incident |", rule = "|---|", notes;
  for (const ComparedRun& run : comparisons.front().runs) {
    text += " " + run.transport + " |";
    rule += "---|";
  }
  text += "\n" + rule + "\n";
  for (const Comparison& comparison : comparisons) {
    text += "| `" + comparison.scenario + "` |";
    for (const ComparedRun& run : comparison.runs) {
      const analysis::Metrics& metrics = run.verdict.metrics;
      const std::optional<double> share = share_of_first(comparison.runs.front(), run);
      const std::string outcome =
          &run != &comparison.runs.front() ? share ? fmt::format("{:.0f} %", *share) : "not done"
          : metrics.completed              ? to_string(*metrics.completed)
                                           : fmt::format("{:.0f} Gb/s", metrics.goodput_bps / 1e9);
      const auto& depends_on = run.verdict.depends_on;
      text +=
          fmt::format(" {}{}, {} |", outcome, depends_on.empty() ? "" : " \\*", checks_met(run));
      for (const std::string& what : depends_on) {
        notes +=
            fmt::format("- `{}`, {}: depends on {}\n", comparison.scenario, run.transport, what);
      }
    }
    text += "\n";
  }
  // One line for each way in which losses were found.
  std::set<std::string> timers;
  for (const Comparison& comparison : comparisons) {
    for (const ComparedRun& run : comparison.runs) timers.insert(run.verdict.loss_timers);
  }
  timers.erase("");
  for (const std::string& each : timers) text += "\nLosses were found by " + each + ".\n";
  return notes.empty() ? text : text + "\n\\* depends on more than the transport:\n\n" + notes;
}

}  // namespace mrclab::lab
