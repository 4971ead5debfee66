#include "job/plan/plan_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/text/input_error.h"
#include "job/graph/graph_check.h"
#include "job/plan/job_groups.h"
#include "job/plan/phase_order.h"
#include "job/plan/rank_step.h"

namespace mrclab::job {
namespace {

std::string group_of(const Phase& phase) {
  if (const auto* work = std::get_if<ExchangeWork>(&phase.work)) return work->group;
  if (const auto* work = std::get_if<SendWork>(&phase.work)) return work->group;
  return "";
}

/// Ranks of several stages are at different micro-batches: they would wait for each other for ever.
void check_stages(const std::vector<Phase>& phases, JobGroups& groups) {
  for (const Phase& phase : phases) {
    const auto* work = std::get_if<ExchangeWork>(&phase.work);
    if (work == nullptr || !phase.each_microbatch) continue;
    for (const std::vector<uint32_t>& ranks : groups.named(work->group).groups) {
      const auto stage = [&](uint32_t rank) { return groups.place_in("pp", rank); };
      const bool one = std::all_of(ranks.begin(), ranks.end(), [&](uint32_t rank) {
        return stage(rank) == stage(ranks.front());
      });
      if (one) continue;
      throw InputError(
          fmt::format("phase {}: group {} has ranks of several pp stages, which are "
                      "at different micro-batches",
                      phase.name, work->group));
    }
  }
}

/// Every name that phases use is known before any rank comes to it.
void check_names(const std::vector<Phase>& phases, JobGroups& groups) {
  for (const Phase& phase : phases) {
    if (group_of(phase).empty()) continue;
    try {
      groups.named(group_of(phase));
    } catch (const InputError& error) {
      throw InputError(fmt::format("phase {}: {}", phase.name, error.what()));
    }
  }
  check_stages(phases, groups);
}

std::vector<uint32_t> parts_of(const std::vector<Phase>& phases, const PhaseOrder& order) {
  std::vector<uint32_t> parts(phases.size(), 1);
  for (size_t i = 0; i < phases.size(); ++i) {
    const size_t beside = order.waits(i).beside;
    const auto* work = std::get_if<ExchangeWork>(&phases[i].work);
    if (beside == PhaseWaits::kNone || work == nullptr) continue;
    parts[beside] = std::max(parts[beside], work->parts);
  }
  return parts;
}

}  // namespace

PlannedJob plan_job(const JobSpec& spec, uint64_t seed) {
  const std::vector<Phase>& phases = spec.phases;
  JobGroups groups(spec);
  const PhaseOrder order(phases);
  check_names(phases, groups);
  StepPlan plan{spec, phases, order, groups, seed, parts_of(phases, order)};
  PlannedJob job{spec.name, OpGraph(spec.ranks()), {}, {}, {}, spec.steps, spec.warmup};
  for (const Phase& phase : phases) job.labels.push_back({phase.name, group_of(phase)});
  job.labels.push_back({"step", ""});
  std::vector<std::vector<Dependency>> before(spec.ranks());
  for (uint32_t step = 0; step < spec.steps; ++step) {
    for (uint32_t rank = 0; rank < spec.ranks(); ++rank) {
      before[rank] = {{RankStep(plan, job, rank, step, before[rank]).add()}};
    }
  }
  check_graph(job.graph);
  return job;
}

}  // namespace mrclab::job
