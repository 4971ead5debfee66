#include "lab/twin/twin_steps.h"

#include <algorithm>
#include <variant>

#include "job/serve/serve_measures.h"

namespace mrclab::lab {
namespace {

/// The ends of an attempt's steps, from that on which it began with, take the place of those before it.
void take_ends(const JobOutcome& attempt, std::vector<FabricTime>& ends) {
  for (size_t step = attempt.from_step; step < ends.size(); ++step) ends[step] = {};
  for (uint32_t op = 0; op < attempt.times.size(); ++op) {
    const uint32_t step = attempt.plan->step_of(op);
    if (step < attempt.from_step || step >= ends.size()) continue;
    const FabricTime end = attempt.times[op].end;
    ends[step] = std::max(ends[step],
                          end == FabricTime::never() ? FabricTime::never() : attempt.start + end);
  }
}

WorkSteps job_steps(const JobOutcome& job, FabricTime at, size_t most) {
  std::vector<FabricTime> last(std::min<size_t>(job.plan->planned.steps, most));
  take_ends(job, last);
  for (const JobOutcome& later : job.later) take_ends(later, last);
  WorkSteps work{job.plan->planned.name, "step", at, {}};
  FabricTime end = at;
  for (const FabricTime each : last) {
    if (each == FabricTime::never()) break;
    end = std::max(end, each);
    work.ends.push_back(end);
  }
  return work;
}

/// From each request's arrival to its first token, up to the first request that has none.
WorkSteps service_requests(const JobOutcome& job, FabricTime at, size_t most) {
  const endpoint::JobPlan& plan = *job.plan;
  const job::ServeMeasures measures =
      measure_serve(plan.planned, *plan.serve, plan.program, job.times);
  WorkSteps work{plan.planned.name, "request", at, {}, {}};
  for (size_t i = 0; i < std::min(measures.requests.size(), most); ++i) {
    if (measures.requests[i].first_token == FabricTime::never()) break;
    work.begins.push_back(job.start + plan.serve->requests[i].request.arrival);
    work.ends.push_back(job.start + measures.requests[i].first_token);
  }
  return work;
}

}  // namespace

std::vector<WorkSteps> steps_of(const std::vector<endpoint::WorkloadSpec>& workload,
                                const std::vector<endpoint::WorkReport>& reports,
                                const std::vector<JobOutcome>& jobs) {
  std::vector<WorkSteps> works;
  size_t room = kMaxTwinSteps;
  for (size_t i = 0; i < workload.size(); ++i) {
    const auto* collective = std::get_if<endpoint::CollectiveSpec>(&workload[i]);
    if (collective == nullptr) continue;
    WorkSteps work{std::string(name_of(workload[i])), "iteration", collective->at, {}};
    std::vector<const endpoint::WorkReport*> hosts;
    for (const endpoint::WorkReport& report : reports) {
      if (report.workload == i) hosts.push_back(&report);
    }
    // A host that has not reported has finished none.
    size_t finished = hosts.size() < collective->hosts.size() ? 0 : room;
    for (const endpoint::WorkReport* host : hosts) {
      finished = std::min(finished, host->samples.size());
    }
    for (size_t step = 0; step < finished; ++step) {
      FabricTime end = work.begin;
      for (const endpoint::WorkReport* host : hosts) end = std::max(end, host->samples[step].to);
      work.ends.push_back(end);
    }
    room -= finished;
    works.push_back(std::move(work));
  }
  for (const JobOutcome& job : jobs) {
    const FabricTime at = start_of(workload.at(job.workload));
    works.push_back(job.plan->serve ? service_requests(job, at, room) : job_steps(job, at, room));
    room -= works.back().ends.size();
  }
  return works;
}

FabricTime last_token(const JobOutcome& service) {
  const endpoint::JobPlan& plan = *service.plan;
  FabricTime last;
  for (const job::RequestMeasure& request :
       measure_serve(plan.planned, *plan.serve, plan.program, service.times).requests) {
    if (request.last_token == FabricTime::never()) return request.last_token;
    last = std::max(last, service.start + request.last_token);
  }
  return last;
}

}  // namespace mrclab::lab
