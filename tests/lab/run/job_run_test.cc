// A job from a scenario file to a run folder: its steps, its times, its replay; the same in both worlds.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "fabric/history/report_json.h"
#include "netio/system/file_descriptor.h"
#include "scenario/judging/job_outcome.h"
#include "scenario/simulation/simulation.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/no_observer.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

/// Two steps: each rank computes 4 us, then they add 64 KiB.
constexpr const char* kJobFile = R"(
name: two-steps
fabric: pair
end: 200us
seed: 5
workload:
  - job:
      name: small
      hosts: [h1, h0]
      steps: 2
      phases:
        - forward: {compute: 4us}
        - grads: {all_reduce: {size: 64KiB}}
expect:
  - no_qp_error
  - accounted
  - memory_intact
)";

Scenario job_scenario() { return parse_scenario(read_yaml_text(kJobFile, "job.yaml")); }

const endpoint::JobWorkload& job_of(const Scenario& scenario) {
  return std::get<endpoint::JobWorkload>(scenario.workload.at(0));
}

/// What a run folder says of its only job.
JobOutcome outcome_in(const std::filesystem::path& folder) {
  const Scenario scenario = read_run_scenario(folder);
  return job_outcomes(scenario, read_job_times(scenario, folder)).at(0);
}

/// The times of a job in the simulated world, past all files.
JobOutcome simulated(const Scenario& scenario) {
  test::NoObserver none;
  Simulation simulation(scenario, 1, [&](NodeId) -> NodeObserver& { return none; });
  simulation.run();
  return job_outcomes(scenario, simulation.jobs()).at(0);
}

/// A job of ranks on the first hosts of octet with this `on_error`, and one fault.
Scenario in_trouble(const std::string& ranks, const std::string& on_error,
                    const std::string& fault) {
  return parse_scenario(read_yaml_text(
      "name: trouble\nfabric: octet\nseed: 5\nend: {jobs: 2ms}\nworkload:\n  - job: {ranks: " +
          ranks + ", steps: 3, checkpoint: {every: 1}, on_error: {" + on_error +
          ", watchdog: never, detect: 1us, answer: 40us, heartbeat: 30us},\n"
          "          phases: [{f: {compute: 5us}}, {g: {all_reduce: {size: 64KiB}}}]}\n"
          "faults:\n  - " +
          fault + "\nexpect: [steps_done: 3]\n",
      "trouble.yaml"));
}

/// Two ranks a host, of which a spare takes over those of the host that lost its power.
Scenario moved_together() {
  return in_trouble("{hosts: [h0, h1, h2], slots: 2}",
                    "then: restart, restart: 10us, load: 1us, spares: [h5]",
                    "{at: 8us, host_restart: {host: h1, down: 1ms}}");
}

bool same_times(const job::OpTimes& a, const job::OpTimes& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.begin == y.begin && x.end == y.end && x.begun_by == y.begun_by &&
           x.ended_by == y.ended_by;
  });
}

}  // namespace

TEST_CASE("a job in a scenario runs in its steps, and the run folder has the times of each") {
  const Scenario scenario = job_scenario();
  CHECK(job_of(scenario).plan->planned.steps == 2);
  CHECK(endpoint::describe(scenario.workload[0]) == "job small of 2 ranks, 2 steps");
  const test::TemporaryRuns runs;
  const RunResult result = runs.run(scenario);
  CHECK(result.verdict.result == analysis::Result::kPass);
  const JobOutcome outcome = outcome_in(result.folder.path);
  CHECK(outcome.reported == 2);
  CHECK(!outcome.died);
  CHECK(outcome.start == FabricTime::zero());
  CHECK(same_times(outcome.times, simulated(scenario).times));
  // The second step begins when all of the first has ended, and each computes for 4 us and sends for some more.
  std::array<FabricTime, 2> begin{FabricTime::never(), FabricTime::never()}, end;
  for (uint32_t op = 0; op < outcome.times.size(); ++op) {
    REQUIRE(outcome.times[op].end != FabricTime::never());
    const uint32_t step = outcome.plan->step_of(op);
    begin.at(step) = std::min(begin.at(step), outcome.times[op].begin);
    end.at(step) = std::max(end.at(step), outcome.times[op].end);
  }
  CHECK(begin[0] == FabricTime::zero());
  CHECK(begin[1] > FabricTime::from_us(4));
  CHECK(end[1] > begin[1] + FabricTime::from_us(4));
  CHECK(end[1] < FabricTime::from_us(60));
}

TEST_CASE("the scenario that a run folder keeps of a job gives the same history and times") {
  const test::TemporaryRuns runs;
  const RunResult first = runs.run(job_scenario());
  const Scenario again = read_run_scenario(first.folder.path);
  CHECK(again.workload == job_scenario().workload);
  const RunResult second = runs.run(again);
  CHECK(second.verdict.metrics.history_sha256 == first.verdict.metrics.history_sha256);
  CHECK(same_times(outcome_in(first.folder.path).times, outcome_in(second.folder.path).times));
}

TEST_CASE("a run folder keeps the file that a job was read from, and needs no other") {
  const test::TemporaryRuns runs;
  const std::filesystem::path goal = runs.path() / "there.goal", file = runs.path() / "job.yaml";
  netio::write_file(goal,
                    "num_ranks 2\nrank 0 {\na: calc 500\ns: send 5000b to 1\ns requires a\n}\n"
                    "rank 1 {\nr: recv 5000b from 0\n}\n");
  netio::write_file(file,
                    "name: traced\nfabric: pair\nend: 50us\nworkload:\n"
                    "  - job: {hosts: [h0, h1], trace: there.goal, steps: 2}\n"
                    "expect: [no_qp_error, memory_intact]\n");
  const RunResult first = runs.run(read_scenario_file(file));
  CHECK(first.verdict.result == analysis::Result::kPass);
  std::filesystem::remove(goal);
  const Scenario again = read_run_scenario(first.folder.path);
  CHECK(job_of(again).spec.trace->file == (first.folder.path / "traces/0-there.goal").string());
  const RunResult second = runs.run(again);
  CHECK(second.verdict.metrics.history_sha256 == first.verdict.metrics.history_sha256);
  CHECK(same_times(outcome_in(first.folder.path).times, outcome_in(second.folder.path).times));
}

TEST_CASE("a job whose host loses all ports is reported dead, with rank, reason and instant") {
  const std::string text = std::string(kJobFile).substr(0, std::string(kJobFile).find("expect:")) +
                           "faults:\n  - {at: 6us, link_down: {link: \"h1:p*\"}}\n";
  ScenarioOverrides longer;
  longer.end = FabricTime::from_ms(10);
  const Scenario scenario = parse_scenario(read_yaml_text(text, "dies.yaml"), {}, longer);
  const JobOutcome outcome = simulated(scenario);
  REQUIRE(outcome.died);
  // Both wait for each other's acknowledgements: rank 0 is in h1, rank 1 in h0.
  const std::string peer = outcome.died->rank == 0 ? "h0" : "h1";
  CHECK(outcome.died->reason == "queue pair to " + peer + ": Retry Counter Exceeded");
  CHECK(outcome.died->at > FabricTime::from_us(6));
}

TEST_CASE("a host that is silent when the launcher asks is what ended the job, and is named") {
  const test::TemporaryRuns runs;
  const RunResult result = runs.run(
      in_trouble("[h0, h1, h2]", "then: abort", "{at: 8us, host_pause: {host: h2, for: 150us}}"));
  REQUIRE(result.verdict.jobs.size() == 1);
  const analysis::JobResult& job = result.verdict.jobs[0];
  REQUIRE(job.died);
  CHECK(job.died->rank == 2);
  CHECK(job.died->at ==
        FabricTime::from_us(60));  // asked at 30us, and not answered when asked again
  CHECK(job.died->reason == "its host did not answer the launcher's heartbeat");
  REQUIRE(job.turns.size() == 1);
  CHECK(job.turns[0].death.rank == 2);
}

TEST_CASE(
    "all ranks of a lost host go on together on a spare, and the table has them by their numbers") {
  const test::TemporaryRuns runs;
  const RunResult result = runs.run(moved_together());
  CHECK(result.verdict.result == analysis::Result::kPass);
  REQUIRE(result.verdict.jobs.size() == 1);
  const analysis::JobResult& job = result.verdict.jobs[0];
  CHECK(job.ranks ==
        std::vector<std::string>{"h0", "h0", "h1, then h5", "h1, then h5", "h2", "h2"});
  REQUIRE(job.turns.size() == 1);
  CHECK(job.turns[0].lost == std::vector<std::string>{"h1"});
  CHECK(job.turns[0].ranks == 6);
  CHECK(job.steps_done() == 3);
  CHECK(outcome_in(result.folder.path).later.at(0).reported == 6);
}

TEST_CASE("a report of a rank that a host has not, or of other operations, is refused") {
  const Scenario scenario = job_scenario();
  WorldOutcome outcome;
  endpoint::JobReport report;
  report.rank.rank = 1;
  report.rank.times.resize(job_of(scenario).plan->program.ops_of(1).size());
  CHECK_THROWS_AS(add_jobs(outcome, scenario, 1, {report}), ReportError);
  add_jobs(outcome, scenario, 0, {report});
  report.rank.times.pop_back();
  CHECK_THROWS_AS(add_jobs(outcome, scenario, 0, {report}), ReportError);
  report.workload = 1;
  CHECK_THROWS_AS(add_jobs(outcome, scenario, 0, {report}), ReportError);
  CHECK(outcome.jobs.size() == 1);
}

TEST_SUITE("root: jobs") {
  TEST_CASE("a job has the same history and the same times live and simulated") {
    const Scenario scenario = job_scenario();
    const test::TemporaryRuns runs;
    const RunResult sim = runs.run(scenario);
    const RunOptions options = runs.options(World::kLive);
    const RunResult live = run_scenario(scenario, options);
    CHECK(live.verdict.result == analysis::Result::kPass);
    CHECK(live.verdict.timing.faithful);
    CHECK(live.verdict.metrics.history_sha256 == sim.verdict.metrics.history_sha256);
    CHECK(same_times(outcome_in(live.folder.path).times, outcome_in(sim.folder.path).times));
  }

  TEST_CASE("ranks that moved to a spare together have the same history live and simulated") {
    const test::TemporaryRuns runs;
    const RunResult sim = runs.run(moved_together()),
                    live = runs.run(moved_together(), World::kLive);
    CHECK(live.verdict.timing.faithful);
    CHECK(live.verdict.metrics.history_sha256 == sim.verdict.metrics.history_sha256);
    CHECK(outcome_in(live.folder.path).later.at(0).hosts ==
          std::vector<uint32_t>{0, 0, 5, 5, 2, 2});
  }
}
