#include "scenario/judging/job_results.h"

#include <algorithm>

#include "fabric/text/counted_noun.h"
#include "job/measure/op_spans.h"
#include "scenario/judging/job_outcome.h"
#include "scenario/judging/measured_jobs.h"
#include "scenario/spec/queue_pairs.h"

namespace mrclab::lab {
namespace {

using analysis::JobResult;
using analysis::JobStep;

FabricTime zero_if_never(FabricTime t) { return t == FabricTime::never() ? FabricTime{} : t; }

JobStep step_of(const job::StepMeasure& measure, const std::vector<std::string>& groups,
                FabricTime start) {
  JobStep step;
  step.begin = start + measure.begin;
  if (measure.finished) step.end = start + measure.end;
  step.compute = measure.compute;
  step.exposed = measure.exposed;
  step.bubble = measure.bubble;
  for (size_t i = 0; i < measure.exposed_by.size(); ++i) {
    step.exposed_by.push_back({groups.at(i), measure.exposed_by[i].mean});
  }
  step.ideal = zero_if_never(measure.ideal);
  step.slowest = measure.slowest_rank;
  step.slowest_compute = measure.slowest_compute;
  step.median_compute = measure.median_compute;
  if (measure.waited_for != job::kNoRank) step.waited_for = measure.waited_for;
  step.waited = measure.waited;
  step.bytes = measure.bytes;
  return step;
}

/// Those that have begun: up to the last one of which an operation has.
std::vector<JobStep> steps_of(const job::JobMeasures& measures, FabricTime start) {
  std::vector<JobStep> steps;
  const auto begun = [](const job::StepMeasure& step) {
    return step.first_op != FabricTime::never();
  };
  const auto last = std::find_if(measures.steps.rbegin(), measures.steps.rend(), begun);
  for (auto step = measures.steps.begin(); step != last.base(); ++step) {
    steps.push_back(step_of(*step, measures.groups, start));
  }
  return steps;
}

void add_ops(JobResult& result, const JobOutcome& outcome) {
  const job::PlannedJob& planned = outcome.plan->planned;
  const job::OpSpans spans = op_spans(planned, outcome.plan->program, outcome.times);
  for (uint32_t i = 0; i < spans.ops.size(); ++i) {
    const job::OpSpan& span = spans.ops[i];
    if (span.begin == FabricTime::never() || span.end == span.begin) continue;
    if (result.ops.size() == analysis::kMaxJobOps) {
      ++result.ops_left_out;
      continue;
    }
    const job::Op& op = planned.graph.op(i);
    const bool ended = span.end != FabricTime::never();
    result.ops.push_back({op.rank, planned.step_of[i], outcome.start + span.begin,
                          ended ? outcome.start + span.end : FabricTime::never(),
                          computes(op) ? "" : exchange_group(planned, i)});
  }
}

JobResult result_of(const Scenario& scenario, const JobOutcome& outcome,
                    const std::vector<QueuePairEnd>& ends) {
  const Topology& topology = scenario.topology;
  const auto& workload = std::get<endpoint::JobWorkload>(scenario.workload.at(outcome.workload));
  const job::PlannedJob& planned = outcome.plan->planned;
  const job::JobMeasures measures = measured(outcome, topology);
  JobResult result;
  result.name = planned.name;
  for (const uint32_t host : workload.spec.hosts) {
    result.ranks.push_back(topology.node(topology.host(host)).name);
  }
  result.groups = measures.groups;
  for (const QueuePairEnd& end : ends) {
    if (end.workload == outcome.workload) result.queue_pairs.emplace_back(end.host, end.qpn);
  }
  result.planned = planned.steps;
  result.warmup = planned.warmup;
  result.steps = steps_of(measures, outcome.start);
  result.begin = outcome.start;
  if (measures.jct != FabricTime::never()) result.done = outcome.start + measures.jct;
  result.ideal = zero_if_never(measures.ideal_jct);
  for (const job::PathPart& part : measures.path) {
    result.path.push_back({text_of(part), part.time});
  }
  if (outcome.died) {
    result.died = analysis::JobDeath{outcome.died->rank, outcome.died->reason, outcome.died->at};
  }
  const size_t silent = result.ranks.size() - outcome.reported;
  if (silent > 0) {
    result.missing = std::to_string(silent) + " of " + counted_noun(result.ranks.size(), "rank") +
                     " of " + result.name + " left no times";
  }
  add_ops(result, outcome);
  return result;
}

}  // namespace

std::vector<JobResult> job_results(const Scenario& scenario,
                                   const std::vector<endpoint::JobReport>& reports) {
  std::vector<JobResult> results;
  const std::vector<JobOutcome> outcomes = job_outcomes(scenario, reports);
  if (outcomes.empty()) return results;
  const std::vector<QueuePairEnd> ends = queue_pairs(scenario);
  for (const JobOutcome& outcome : outcomes) {
    results.push_back(result_of(scenario, outcome, ends));
  }
  return results;
}

}  // namespace mrclab::lab
