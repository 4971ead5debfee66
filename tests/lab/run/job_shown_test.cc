// A run with a job, as it is shown: measured steps, and a lane a rank in a Perfetto trace.

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <set>

#include "recorded/run/run_export.h"
#include "scenario/judging/measured_jobs.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/texts.h"

using namespace mrclab;
using namespace mrclab::lab;

TEST_CASE("a run's job is measured from its folder, and its ranks are lanes of a Perfetto trace") {
  const Scenario scenario = parse_scenario(read_yaml_text(R"(
name: shown
fabric: pair
end: 200us
workload:
  - job:
      name: small
      hosts: [h1, h0]
      steps: 2
      phases:
        - forward: {compute: 4us}
        - grads: {all_reduce: {size: 64KiB}}
)",
                                                          "job.yaml"));
  const test::TemporaryRuns runs;
  const RunResult result = runs.run(scenario);
  const std::vector<JobOutcome> outcomes =
      job_outcomes(scenario, read_job_times(scenario, result.folder.path));
  REQUIRE(outcomes.size() == 1);
  const job::JobMeasures measures = measured(outcomes[0], scenario.topology);
  CHECK(measures.finished == 2);
  CHECK(measures.steps[0].compute == FabricTime::from_us(4));
  CHECK(measures.steps[1].exposed > FabricTime::zero());
  CHECK(measures.steps[0].time() + measures.steps[1].time() == measures.jct);
  REQUIRE(measures.jct_ratio());
  CHECK(*measures.jct_ratio() > 1);  // headers, at least
  CHECK(*measures.jct_ratio() < 2);
  std::set<std::string> processes;
  for (const analysis::TraceBar& bar : job_bars(outcomes)) processes.insert(bar.process);
  CHECK(processes == std::set<std::string>{"job small rank 0", "job small rank 1"});
  const RunExport done =
      export_run(RunFormat::kPerfetto, result.folder.path, {}, uint64_t{1} << 30);
  std::ifstream in(done.file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  CHECK(test::mentions(bytes, "job small rank 1"));
  CHECK(test::mentions(bytes, "grads (all_reduce"));
}
