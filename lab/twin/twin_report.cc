#include "lab/twin/twin_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "lab/twin/hidden.h"

namespace mrclab::lab {
namespace {

using Runs = std::map<FaultSet, const TwinMeasure*>;

std::optional<int64_t> cost_of(const TwinMeasure& run, TwinUnit unit) {
  if (unit == TwinUnit::kBytes) return -static_cast<int64_t>(run.delivered.value);
  if (!run.done) return std::nullopt;
  return run.done->ps();
}

const std::string& digest_before(const TwinMeasure& run, FabricTime cut) {
  if (cut == FabricTime::never()) return run.history_sha256;
  for (const PrefixDigest& prefix : run.prefixes) {
    if (prefix.until == cut) return prefix.sha256;
  }
  throw std::logic_error("a twin has no digest where its faults begin to differ");
}

/// Empty: up to where their faults differ, all runs have the history of the one with all faults.
std::string why_no_twins(const TwinCase& of, const Runs& runs, const TwinMeasure& all) {
  for (const auto& [set, run] : runs) {
    const FabricTime cut = first_difference(of.scenario.schedule, with_faults(of, set).schedule);
    if (digest_before(*run, cut) == digest_before(all, cut)) continue;
    const std::string where =
        cut == FabricTime::never()
            ? std::string(", though their faults do the same")
            : fmt::format(" before {}, where their faults begin to differ", to_string(cut));
    return fmt::format("the run \"{}\" has another history than \"all\"{}: they are no twins",
                       twin_name(set, of.faults()), where);
  }
  return "";
}

std::string why_not_done(const TwinCase& of, const Runs& runs) {
  for (const auto& [set, run] : runs) {
    if (run->done) continue;
    const std::string name = twin_name(set, of.faults());
    if (!run->died.empty()) return fmt::format("in the run \"{}\" {}", name, run->died);
    if (run->qps_failed > 0) {
      return fmt::format("in the run \"{}\" queue pairs failed, so its workload never ends", name);
    }
    return fmt::format("the run \"{}\" is not done at its end, at {}: give it more time (end:)",
                       name, to_string(of.scenario.stop()));
  }
  return "";
}

const StepLosses* losses_in(const FaultToll& toll, size_t work, size_t step) {
  for (const StepLosses& losses : toll.by_step) {
    if (losses.work == work && losses.step == step) return &losses;
  }
  return nullptr;
}

void add_hits(const TwinMeasure& with, const TwinMeasure& without, TwinFault& fault) {
  for (size_t work = 0; work < with.works.size(); ++work) {
    const WorkSteps& hit = with.works[work];
    const WorkSteps& free = without.works.at(work);
    for (size_t step = 0; step < std::min(hit.ends.size(), free.ends.size()); ++step) {
      const FabricTime length = free.length_of(step);
      const FabricTime cost = hit.length_of(step) - length;
      if (is_negligible(cost.ps(), length.ps(), kHitOneIn)) continue;
      if (++fault.steps_hit > TwinFault::kMaxHits) continue;
      const StepLosses* losses = losses_in(fault.toll, work, step);
      StepHit& hits = fault.hits.emplace_back(StepHit{work, step, length, cost});
      if (losses == nullptr) continue;
      hits.packets = losses->packets;
      hits.answers = losses->answers;
      hits.queue_pairs = losses->queue_pairs;
    }
  }
}

}  // namespace

TwinReport report_of(const TwinCase& of, std::vector<TwinMeasure> runs) {
  const Scenario& scenario = of.scenario;
  const size_t faults = of.faults();
  TwinReport report;
  report.scenario = scenario.name;
  report.seed = scenario.seed;
  report.end = scenario.stop();
  const bool ends = scenario.ends_with_work ||
                    std::all_of(scenario.workload.begin(), scenario.workload.end(), endpoint::ends);
  report.unit = ends ? TwinUnit::kTime : TwinUnit::kBytes;
  const std::vector<FaultSet> order = sets_to_run(faults);
  const auto place = [&](const TwinMeasure& run) {
    return std::find(order.begin(), order.end(), run.set) - order.begin();
  };
  std::sort(runs.begin(), runs.end(),
            [&](const TwinMeasure& a, const TwinMeasure& b) { return place(a) < place(b); });
  report.runs = std::move(runs);
  Runs by_set;
  SetCosts costs;
  for (const TwinMeasure& run : report.runs) {
    by_set[run.set] = &run;
    costs[run.set] = cost_of(run, report.unit);
  }
  const FaultSet all = all_faults_of(faults);
  const TwinMeasure& with = *by_set.at(all);
  report.total = attribute(faults, costs);
  for (size_t i = 0; i < faults; ++i) {
    TwinFault fault;
    fault.description = describe(of, i);
    fault.kind = std::string(faults::name_of(scenario.faults[of.groups[i].front()]));
    fault.cost = report.total.faults[i];
    if (i < with.tolls.size()) fault.toll = with.tolls[i];
    const TwinMeasure& without = *by_set.at(all & ~fault_bit(i));
    add_hits(with, without, fault);
    if (fault.hits.empty()) fault.hidden = hidden_of(scenario, with, without);
    report.faults.push_back(std::move(fault));
  }
  report.inconclusive = why_no_twins(of, by_set, with);
  if (report.inconclusive.empty() && ends) report.inconclusive = why_not_done(of, by_set);
  return report;
}

}  // namespace mrclab::lab
