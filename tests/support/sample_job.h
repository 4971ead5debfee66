#pragma once
// A job as a run might leave it, for tests of what is judged and shown of jobs.

#include <string>

#include "analysis/measure/job_result.h"
#include "tests/support/times.h"

namespace mrclab::test {

/// So many steps of 100us on h0 to h3, the first of them from 100us on, one of them warm-up; roofline 80us. 60us of each are
/// computed, 30us exposed (20us in dp, 10us in tp), and 10us bubble.
inline analysis::JobResult sample_job(size_t steps = 8) {
  analysis::JobResult job;
  job.name = "llama";
  job.ranks = {"h0", "h1", "h2", "h3"};
  job.groups = {"dp", "tp"};
  job.planned = static_cast<uint32_t>(steps);
  job.warmup = 1;
  job.begin = us(100);
  for (size_t i = 0; i < steps; ++i) {
    analysis::JobStep step;
    step.begin = us(100) * static_cast<int64_t>(i + 1);
    step.end = step.begin + us(100);
    step.compute = us(60);
    step.exposed = us(30);
    step.bubble = us(10);
    step.exposed_by = {{"dp", us(20)}, {"tp", us(10)}};
    step.ideal = us(80);
    step.slowest_compute = us(63);
    step.median_compute = us(60);
    step.bytes = 1 << 20;
    job.steps.push_back(step);
  }
  job.done = us(100) * static_cast<int64_t>(steps + 1);
  job.ideal = us(80) * static_cast<int64_t>(steps);
  job.path = {{"compute", us(60) * static_cast<int64_t>(steps)},
              {"exchange dp", us(40) * static_cast<int64_t>(steps)}};
  return job;
}

/// The same step, so much longer, of which all is exposed in dp; what comes behind it is later.
inline void delay_step(analysis::JobResult& job, size_t number, FabricTime by) {
  for (size_t i = number; i < job.steps.size(); ++i) {
    analysis::JobStep& step = job.steps[i];
    if (i > number) step.begin += by;
    if (step.ended()) step.end += by;
  }
  job.steps[number].exposed += by;
  job.steps[number].exposed_by[0].time += by;
  if (job.done) *job.done += by;
}

/// From this step on nothing ends.
inline void stop_job(analysis::JobResult& job, size_t open) {
  job.steps.resize(open + 1);
  job.steps[open].end = FabricTime::never();
  job.done.reset();
  job.path.clear();
}

}  // namespace mrclab::test
