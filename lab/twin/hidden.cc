#include "lab/twin/hidden.h"

#include <algorithm>

#include "job/measure/op_spans.h"

namespace mrclab::lab {
namespace {

/// The jobs of a workload, in its order, as JobSpans are.
std::vector<const endpoint::JobPlan*> plans_of(const Scenario& scenario) {
  std::vector<const endpoint::JobPlan*> plans;
  for (const endpoint::WorkloadSpec& spec : scenario.workload) {
    if (const auto* job = std::get_if<endpoint::JobWorkload>(&spec)) {
      plans.push_back(job->plan.get());
    }
  }
  return plans;
}

struct Held {
  uint32_t op = 0;
  FabricTime by;
};

/// What was held back most.
Held held_most(const job::PlannedJob& plan, const JobSpans& with, const JobSpans& without) {
  Held most;
  for (uint32_t op = 0; op < plan.graph.ops().size(); ++op) {
    if (!job::exchanges(plan.graph.op(op))) continue;
    const FabricTime late = with.ops[op].end, early = without.ops[op].end;
    if (late == FabricTime::never() || early == FabricTime::never()) continue;
    if (late - early > most.by) most = {op, late - early};
  }
  return most;
}

/// What the rank computed at the instant; kNoOp: nothing.
uint32_t computed_at(const job::PlannedJob& plan, const JobSpans& spans, uint32_t rank,
                     FabricTime t) {
  for (uint32_t op = 0; op < plan.graph.ops().size(); ++op) {
    const job::Op& each = plan.graph.op(op);
    if (each.rank != rank || !job::computes(each)) continue;
    if (spans.ops[op].begin <= t && t < spans.ops[op].end) return op;
  }
  return job::kNoOp;
}

}  // namespace

std::optional<Hidden> hidden_of(const Scenario& scenario, const TwinMeasure& with,
                                const TwinMeasure& without) {
  const std::vector<const endpoint::JobPlan*> plans = plans_of(scenario);
  std::optional<Hidden> most;
  for (size_t i = 0; i < std::min(with.jobs.size(), without.jobs.size()); ++i) {
    const job::PlannedJob& plan = plans[i]->planned;
    const JobSpans& late = with.jobs[i];
    if (late.ops.size() != plan.graph.ops().size() ||
        late.ops.size() != without.jobs[i].ops.size()) {
      continue;
    }
    const Held held = held_most(plan, late, without.jobs[i]);
    const uint32_t step = plan.step_of[held.op];
    const std::vector<FabricTime>& ends = without.works[late.work].ends;
    if (step >= ends.size() || (most && most->by >= held.by)) continue;
    const FabricTime length = without.works[late.work].length_of(step);
    if (is_negligible(held.by.ps(), length.ps(), kHiddenOneIn)) continue;
    const uint32_t rank = plan.graph.op(held.op).rank;
    const uint32_t under = computed_at(plan, late, rank, late.ops[held.op].end);
    if (under == job::kNoOp) continue;
    most = {late.work,
            rank,
            plan.labels[plan.label_of[held.op]].text,
            held.by,
            plan.labels[plan.label_of[under]].text,
            late.ops[under].end};
  }
  return most;
}

}  // namespace mrclab::lab
