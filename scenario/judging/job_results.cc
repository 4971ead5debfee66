#include "scenario/judging/job_results.h"

#include <algorithm>

#include "fabric/text/counted_noun.h"
#include "job/measure/op_spans.h"
#include "job/serve/serve_measures.h"
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

/// A rank as the first attempt counts them: by its host and its place there, or of a spare by its number.
uint32_t rank_at_first(const JobOutcome& first, const JobOutcome& outcome, uint32_t rank) {
  if (outcome.attempt == 0) return rank;
  const uint32_t host = outcome.hosts.at(rank);
  auto before = std::count(outcome.hosts.begin(), outcome.hosts.begin() + rank, host);
  for (uint32_t at = 0; at < first.hosts.size(); ++at) {
    if (first.hosts[at] == host && before-- == 0) return at;
  }
  return rank;
}

void add_ops(JobResult& result, const JobOutcome& first, const JobOutcome& outcome) {
  const job::PlannedJob& planned = outcome.plan->planned;
  const job::OpSpans spans = op_spans(planned, outcome.plan->program, outcome.times);
  for (uint32_t i = 0; i < spans.ops.size(); ++i) {
    const job::OpSpan& span = spans.ops[i];
    // A service's decode ranks receive from the start; what is drawn is the time that a cache is on its way.
    const bool waits = outcome.plan->serve && planned.graph.op(i).kind == job::OpKind::kReceive;
    const FabricTime begin = waits ? span.active : span.begin;
    if (begin == FabricTime::never() || span.end == begin) continue;
    if (result.ops.size() == analysis::kMaxJobOps) {
      ++result.ops_left_out;
      continue;
    }
    const job::Op& op = planned.graph.op(i);
    const bool ended = span.end != FabricTime::never();
    result.ops.push_back({rank_at_first(first, outcome, op.rank), planned.step_of[i],
                          outcome.start + begin,
                          ended ? outcome.start + span.end : FabricTime::never(),
                          computes(op) ? "" : exchange_group(planned, i)});
  }
}

FabricTime instant(FabricTime start, FabricTime since) {
  return since == FabricTime::never() ? since : start + since;
}

analysis::ServeResult serve_result(const JobOutcome& outcome) {
  const job::ServePlan& plan = *outcome.plan->serve;
  const job::ServeMeasures measures =
      measure_serve(outcome.plan->planned, plan, outcome.plan->program, outcome.times);
  analysis::ServeResult result;
  result.prefill_ranks = plan.prefill_ranks;
  result.decode_ranks = static_cast<uint32_t>(plan.iterations.size());
  result.compression = plan.compression;
  for (const job::OpTime& time : outcome.times) {  // whoever knows the run's end sets it
    if (time.end != FabricTime::never())
      result.end = std::max(result.end, outcome.start + time.end);
  }
  if (plan.objective) {
    result.objective = analysis::RequestObjective{plan.objective->ttft, plan.objective->tpot};
  }
  for (size_t i = 0; i < plan.requests.size(); ++i) {
    const job::PlannedRequest& planned = plan.requests[i];
    const job::RequestMeasure& measure = measures.requests[i];
    analysis::ServedRequest& request = result.requests.emplace_back();
    request.arrival = outcome.start + planned.request.arrival;
    request.input = planned.request.input;
    request.output = planned.request.output;
    request.prefill_rank = planned.prefill_rank;
    request.decode_rank = planned.decode_rank;
    request.cache_bytes = planned.cache_bytes;
    request.computed = instant(outcome.start, measure.computed);
    request.cached = instant(outcome.start, measure.cached);
    request.first_token = instant(outcome.start, measure.first_token);
    request.last_token = instant(outcome.start, measure.last_token);
    request.tokens = measure.tokens;
    if (request.begun()) request.fabric_ttft = measure.fabric_ttft();
    if (request.served()) request.fabric_tpot = measure.fabric_tpot();
  }
  for (const job::MessageTimesOfGroup& group : measures.messages) {
    result.messages.push_back({group.group, group.times.size() + group.open, group.open,
                               group.bytes, group.at_thousandth(500), group.at_thousandth(990),
                               group.at_thousandth(999), group.at_thousandth(1000)});
  }
  return result;
}

std::optional<analysis::JobDeath> death_in(const JobOutcome& first, const JobOutcome& outcome) {
  if (!outcome.died) return std::nullopt;
  return analysis::JobDeath{rank_at_first(first, outcome, outcome.died->rank), outcome.died->reason,
                            outcome.died->at};
}

/// Steps, end and path of one attempt take the place of those before it.
void take_attempt(JobResult& result, const JobOutcome& first, const JobOutcome& outcome,
                  const Topology& topology) {
  const job::JobMeasures measures = measured(outcome, topology);
  std::vector<JobStep> steps = steps_of(measures, outcome.start);
  for (JobStep& step : steps) {
    step.slowest = rank_at_first(first, outcome, step.slowest);
    if (step.waited_for) step.waited_for = rank_at_first(first, outcome, *step.waited_for);
  }
  result.steps.resize(std::min<size_t>(result.steps.size(), outcome.from_step));
  if (steps.size() > outcome.from_step) {
    result.steps.insert(result.steps.end(), steps.begin() + outcome.from_step, steps.end());
  }
  result.done.reset();
  result.path.clear();
  if (measures.jct != FabricTime::never()) result.done = outcome.start + measures.jct;
  if (outcome.start > first.start && result.done) {
    result.path.push_back({"attempts that ended", outcome.start - first.start});
  }
  for (const job::PathPart& part : measures.path) {
    result.path.push_back({text_of(part), part.time});
  }
  result.died = death_in(first, outcome);
  const size_t ranks = outcome.hosts.size(), silent = ranks - outcome.reported;
  if (silent > 0) {
    result.missing = std::to_string(silent) + " of " + counted_noun(ranks, "rank") + " of " +
                     result.name + " left no times";
  }
  add_ops(result, first, outcome);
}

/// What the launcher noted, and what it cost: behind the steps of the attempt that ended, before those of the next.
analysis::JobTurn turn_of(const job::JobTurn& noted, const JobResult& result,
                          const JobOutcome& ended, const Topology& topology) {
  analysis::JobTurn turn;
  if (result.died) turn.death = *result.died;
  turn.reported = noted.reported;
  turn.all_ended = noted.ended;
  turn.begun = noted.begun;
  turn.from_step = noted.from_step;
  turn.ranks = static_cast<uint32_t>(noted.hosts.size());
  turn.gave_up = noted.gave_up;
  for (const uint32_t host : noted.lost) {
    turn.lost.push_back(host < topology.host_count() ? topology.node(topology.host(host)).name
                                                     : "?");
  }
  if (!turn.went_on()) return turn;
  const size_t done = result.steps_done();
  turn.steps_repeated = static_cast<uint32_t>(done - std::min<size_t>(done, noted.from_step));
  const bool from_a_step = noted.from_step > 0 && noted.from_step <= done;
  const FabricTime counts_to = from_a_step ? result.steps[noted.from_step - 1].end : result.begin;
  turn.time_lost = turn.begun - counts_to;
  turn.rank_time_lost = turn.time_lost * static_cast<int64_t>(ended.hosts.size());
  return turn;
}

JobResult result_of(const Scenario& scenario, const JobOutcome& outcome,
                    const std::vector<QueuePairEnd>& ends) {
  const Topology& topology = scenario.topology;
  const job::PlannedJob& planned = outcome.plan->planned;
  const auto name_of = [&](uint32_t host) { return topology.node(topology.host(host)).name; };
  const job::JobMeasures measures = measured(outcome, topology);
  JobResult result;
  result.name = planned.name;
  for (const uint32_t host : outcome.hosts) result.ranks.push_back(name_of(host));
  result.groups = measures.groups;
  for (const QueuePairEnd& end : ends) {
    if (end.workload == outcome.workload) result.queue_pairs.emplace_back(end.host, end.qpn);
  }
  result.planned = planned.steps;
  result.warmup = planned.warmup;
  result.notes = planned.notes;
  result.begin = outcome.start;
  result.ideal = zero_if_never(measures.ideal_jct);
  take_attempt(result, outcome, outcome, topology);
  const JobOutcome* ended = &outcome;
  for (size_t i = 0, later = 0; i < outcome.turns.size(); ++i) {
    result.turns.push_back(turn_of(outcome.turns[i], result, *ended, topology));
    if (!result.turns.back().went_on()) continue;
    ended = &outcome.later.at(later++);
    for (uint32_t rank = 0; rank < ended->hosts.size(); ++rank) {
      const std::string name = name_of(ended->hosts[rank]);
      std::string& known = result.ranks.at(rank_at_first(outcome, *ended, rank));
      if (!known.ends_with(name)) known += ", then " + name;
    }
    take_attempt(result, outcome, *ended, topology);
  }
  if (outcome.plan->serve) result.serve = serve_result(outcome);
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
