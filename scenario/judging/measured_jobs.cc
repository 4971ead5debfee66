#include "scenario/judging/measured_jobs.h"

#include <fmt/format.h>

#include <algorithm>

#include "job/measure/job_lanes.h"

namespace mrclab::lab {

job::IdealNetwork ideal_network(const Topology& topology) {
  FabricTime propagation = FabricTime::never();
  for (const Link& link : topology.links) propagation = std::min(propagation, link.propagation);
  if (topology.links.empty()) propagation = FabricTime::zero();
  return {BitRate{topology.host_rate.bps * topology.planes},
          propagation * 2 + topology.switch_latency + topology.host_latency};
}

job::JobMeasures measured(const JobOutcome& outcome, const Topology& topology) {
  job::JobMeasures measures =
      measure_job(outcome.plan->planned, outcome.plan->program, outcome.times);
  compare_with_ideal(measures, outcome.plan->planned, outcome.plan->program,
                     ideal_network(topology));
  return measures;
}

namespace {

void add_bars(const JobOutcome& outcome, size_t most, std::vector<analysis::TraceBar>& bars) {
  const job::PlannedJob& plan = outcome.plan->planned;
  const std::string attempt =
      outcome.attempt > 0 ? fmt::format(", attempt {}", outcome.attempt + 1) : "";
  const job::JobLanes lanes =
      lanes_of(plan, op_spans(plan, outcome.plan->program, outcome.times), most);
  for (const job::LaneBar& bar : lanes.bars) {
    const bool computes = plan.graph.op(bar.op).kind == job::OpKind::kCompute;
    bars.push_back({fmt::format("job {}{} rank {}", plan.name, attempt, bar.rank),
                    lanes.lanes[bar.rank][bar.lane], bar_text(plan, bar.op),
                    computes ? "compute" : "exchange", outcome.start + bar.begin,
                    outcome.start + bar.end, std::to_string(plan.step_of[bar.op])});
  }
}

}  // namespace

std::vector<analysis::TraceBar> job_bars(const std::vector<JobOutcome>& outcomes, size_t most) {
  std::vector<analysis::TraceBar> bars;
  for (const JobOutcome& outcome : outcomes) {
    add_bars(outcome, most, bars);
    for (const JobOutcome& later : outcome.later) add_bars(later, most, bars);
  }
  return bars;
}

}  // namespace mrclab::lab
