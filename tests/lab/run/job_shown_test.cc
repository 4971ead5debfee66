// A run with a job, as it is shown: measured steps, and a lane a rank in a Perfetto trace.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "job/measure/op_times_file.h"
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

TEST_CASE("a run keeps the folder that its job was measured in, and reads back as the same job") {
  namespace fs = std::filesystem;
  const test::TemporaryRuns runs;
  const fs::path folder = runs.path() / "measured";
  fs::create_directories(folder);
  for (const int rank : {0, 1}) {
    std::ofstream(folder / ("rank" + std::to_string(rank) + ".json")) << R"({"traceEvents":[
      {"ph":"X","cat":"kernel","ts":5,"dur":3},
      {"ph":"X","cat":"kernel","ts":8,"dur":2,"args":{"Collective name":"allreduce","dtype":"Float",
       "In msg nelems":1000,"Group size":2,"Process Group Name":"dp","Process Group Ranks":"[0, 1]"}}]})";
  }
  const Scenario scenario = parse_scenario(
      read_yaml_text("name: kept\nfabric: pair\nend: 200us\nworkload:\n  - job: {hosts: [h0, h1], "
                     "trace: {file: " +
                         folder.string() + "}}\n",
                     "job.yaml"));
  const RunResult result = runs.run(scenario);
  fs::remove_all(folder);
  const Scenario again = read_run_scenario(result.folder.path);
  const auto& kept = std::get<endpoint::JobWorkload>(again.workload.at(0));
  const auto& made = std::get<endpoint::JobWorkload>(scenario.workload.at(0));
  CHECK(job::fingerprint_of(kept.plan->program.graph()) ==
        job::fingerprint_of(made.plan->program.graph()));
  CHECK(kept.plan->program.graph().op(0).duration == FabricTime::from_us(3));
  CHECK(job_outcomes(again, read_job_times(again, result.folder.path)).at(0).reported == 2);
}
