#include "lab/twin/twin_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/measure/qp_name.h"
#include "analysis/report/text_table.h"
#include "console/progress.h"
#include "fabric/text/counted_noun.h"

namespace mrclab::lab {
namespace {

using analysis::TextTable;

constexpr size_t kHitsTold = 3, kQueuePairsTold = 4;

std::string percent(int64_t part, int64_t whole) {
  const double share = 100 * static_cast<double>(part) / static_cast<double>(whole);
  return share < 0.1 ? fmt::format("{:.2g} %", share) : fmt::format("{:.1f} %", share);
}

/// What all of it would be without faults, to hold a cost against: time, or bytes delivered.
int64_t whole_of(const TwinReport& report) { return std::abs(report.total.without.value_or(0)); }

std::string by_queue_pairs(uint64_t queue_pairs) {
  return queue_pairs == 0 ? "" : ", by " + counted_noun(queue_pairs, "queue pair");
}

std::string step_name(const TwinReport& report, const StepHit& hit) {
  const std::vector<WorkSteps>& works = report.runs.front().works;
  const WorkSteps& work = works[hit.work];
  const std::string step = fmt::format("{} {}", work.unit, hit.step + 1);
  return works.size() == 1 ? step : fmt::format("{} of {} {}", step, work.name, hit.work + 1);
}

std::string hit_text(const TwinReport& report, const StepHit& hit) {
  const std::string name = step_name(report, hit);
  const int64_t cost = hit.cost.ps();
  if (cost < 0) return fmt::format("{} {} shorter", name, to_string(FabricTime::from_ps(-cost)));
  return fmt::format("{} of {} ({}){}", percent(cost, hit.without.ps()), name, to_string(hit.cost),
                     by_queue_pairs(hit.queue_pairs));
}

/// Where the steps are that it made longer.
std::string hits_text(const TwinReport& report, const TwinFault& fault) {
  std::string text;
  const size_t told = std::min(fault.hits.size(), kHitsTold);
  for (size_t i = 0; i < told; ++i) {
    text += (i == 0 ? "" : "; ") + hit_text(report, fault.hits[i]);
  }
  size_t steps = 0;
  for (const WorkSteps& work : report.runs.front().works) steps += work.ends.size();
  if (fault.steps_hit > told) text += fmt::format("; and {} more", fault.steps_hit - told);
  if (steps > fault.steps_hit) text += "; hidden otherwise";
  return text;
}

/// "7 packets", "2 answers", "7 packets and 2 answers".
std::string lost_text(uint64_t packets, uint64_t answers) {
  std::string text = packets > 0 || answers == 0 ? counted_noun(packets, "packet") : "";
  if (answers > 0) text += (text.empty() ? "" : " and ") + counted_noun(answers, "answer");
  return text;
}

bool lost_nothing(const FaultToll& toll) { return toll.packets == 0 && toll.answers == 0; }

std::string losses_text(const FaultToll& toll) {
  return fmt::format("{} of {} lost", lost_text(toll.packets, toll.answers),
                     counted_noun(toll.queue_pairs, "queue pair"));
}

/// Under what the late exchange went, and until when that was.
std::string hidden_text(const Hidden& hidden, const FaultToll& toll) {
  std::string text =
      fmt::format("hidden under {} until {}: {} of rank {} ended up to {} later", hidden.under,
                  to_string(hidden.until), hidden.held, hidden.rank, to_string(hidden.by));
  if (!lost_nothing(toll)) text += ", " + losses_text(toll);
  return text;
}

/// What it cost beside the others, unlike alone.
std::string beside_text(const TwinReport& report, const FaultCost& cost) {
  if (!cost.interaction || is_negligible(*cost.interaction, whole_of(report), kHiddenOneIn))
    return "";
  return "; alone it would have cost " + amount_text(report.unit, cost.alone);
}

std::string queue_pairs_text(const TwinFault& fault) {
  std::string text;
  const size_t told = std::min(fault.toll.most.size(), kQueuePairsTold);
  for (size_t i = 0; i < told; ++i) {
    const QueuePairLosses& each = fault.toll.most[i];
    const std::string lost =
        each.answers > 0 ? lost_text(each.packets, each.answers) : std::to_string(each.packets);
    text += fmt::format("{}h{} to h{} {} ({})", i == 0 ? "" : ", ", each.from, each.to,
                        analysis::qp_name(each.qp), lost);
  }
  if (fault.toll.queue_pairs > told)
    text += fmt::format(" and {} more", fault.toll.queue_pairs - told);
  return text;
}

std::vector<TextTable::Row> rows_of(const TwinReport& report) {
  std::vector<TextTable::Row> rows{{"fault", "marginal", "alone", "interaction", "share"}};
  const auto text = [&](std::optional<int64_t> amount) { return amount_text(report.unit, amount); };
  std::optional<int64_t> alone = 0, share = 0;
  const auto add = [](std::optional<int64_t>& sum, std::optional<int64_t> part) {
    sum = sum && part ? std::optional(*sum + *part) : std::nullopt;
  };
  for (size_t i = 0; i < report.faults.size(); ++i) {
    const FaultCost& cost = report.faults[i].cost;
    rows.push_back({fmt::format("{} {}", i + 1, report.faults[i].kind), text(cost.marginal),
                    text(cost.alone), text(cost.interaction), text(cost.share)});
    add(alone, cost.alone);
    add(share, cost.share);
  }
  rows.push_back(
      {"all", text(report.total.total), text(alone), text(report.total.interaction), text(share)});
  if (report.faults.size() > kMaxSharingFaults) {
    for (TextTable::Row& row : rows) row.pop_back();
  }
  return rows;
}

std::string headline(const TwinReport& report) {
  const Attribution& total = report.total;
  const auto text = [&](std::optional<int64_t> amount) {
    if (!amount) return std::string("not done");
    return amount_text(report.unit, std::abs(*amount));
  };
  if (report.unit == TwinUnit::kTime) {
    return fmt::format("time: until the workload had ended, {} with all faults, {} without",
                       text(total.with), text(total.without));
  }
  return fmt::format("bytes: delivered by {}, {} with all faults, {} without",
                     to_string(report.end), text(total.with), text(total.without));
}

void add_report(const TwinReport& report, TextTable& table) {
  table.line(fmt::format("{}, seed {}{}, {}", report.scenario, report.seed,
                         report.axis.empty() ? "" : ", " + variant_name(report),
                         counted_noun(report.runs.size(), "simulated run")));
  table.line(headline(report));
  table.rule();
  const std::vector<TextTable::Row> rows = rows_of(report);
  const std::vector<size_t> widths = table.fit(rows);
  std::vector<bool> right(widths.size(), true);
  right[0] = false;
  for (const TextTable::Row& row : rows) table.row(row, widths, right);
  table.rule();
  if (!report.inconclusive.empty()) table.line("INCONCLUSIVE  " + report.inconclusive + ".");
  for (size_t i = 0; i < report.faults.size() && report.inconclusive.empty(); ++i) {
    const TwinFault& fault = report.faults[i];
    table.line(fmt::format("{}  {}: {}.", i + 1, fault.description, twin_sentence(report, i)));
    if (!fault.toll.most.empty()) table.line("   lost  " + queue_pairs_text(fault));
  }
  for (const TwinMeasure& run : report.runs) {
    if (run.folder.empty()) continue;
    table.line("run  " + run.folder);
  }
}

}  // namespace

std::string amount_text(TwinUnit unit, std::optional<int64_t> amount) {
  if (!amount) return "-";
  if (*amount == 0) return "0";
  if (unit == TwinUnit::kTime) return to_string(FabricTime::from_ps(*amount));
  const std::string text = byte_text(static_cast<uint64_t>(*amount < 0 ? -*amount : *amount));
  return (*amount < 0 ? "-" : "") + text;
}

std::string variant_name(const TwinReport& report) {
  if (report.axis.empty()) return "as it is";
  if (report.axis == kTransportAxis || report.axis == kRoutingAxis) return report.value;
  return report.axis + " " + report.value;
}

std::string twin_sentence(const TwinReport& report, size_t number) {
  const TwinFault& fault = report.faults[number];
  const FaultCost& cost = fault.cost;
  if (!cost.marginal) return "its cost is not known";
  const int64_t whole = whole_of(report);
  if (fault.hits.empty() && is_negligible(*cost.marginal, whole, kHiddenOneIn)) {
    if (cost.alone && !is_negligible(*cost.alone, whole, kHiddenOneIn)) {
      return "cost nothing beside the others" + beside_text(report, cost);
    }
    if (fault.hidden) return hidden_text(*fault.hidden, fault.toll);
    return lost_nothing(fault.toll) ? "cost nothing" : "hidden, " + losses_text(fault.toll);
  }
  std::string text = *cost.marginal < 0 ? "saved " : "cost ";
  text += amount_text(report.unit, std::abs(*cost.marginal));
  if (fault.hits.empty()) {
    text += fmt::format(", {} of {}", percent(std::abs(*cost.marginal), whole),
                        report.unit == TwinUnit::kTime ? "the time without faults"
                                                       : "what is delivered without faults");
    text += by_queue_pairs(fault.toll.queue_pairs);
  } else {
    text += ": " + hits_text(report, fault);
  }
  return text + beside_text(report, cost);
}

std::string twin_text(const std::vector<TwinReport>& reports, analysis::TableOptions options) {
  TextTable table(options);
  for (const TwinReport& report : reports) {
    if (&report != &reports.front()) table.line();
    add_report(report, table);
  }
  return table.take();
}

}  // namespace mrclab::lab
