// Runs that end with their work, in place of an instant.

#include <doctest/doctest.h>

#include <algorithm>

#include "scenario/judging/run_inputs.h"
#include "scenario/simulation/work_end.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/errors.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

/// Two ranks a host: they compute for 4 us, and add 64 KiB.
std::string ending(const std::string& end, const std::string& more = "") {
  return "name: ends\nfabric: pair\nend: " + end +
         "\nseed: 5\nworkload:\n"
         "  - job: {ranks: {hosts: [h1, h0], slots: 2}, local: {rate: 100Gb/s}, steps: 2,\n"
         "          phases: [{c: {compute: 4us}}, {x: {all_reduce: {size: 64KiB}}}]}\n" +
         more;
}

Scenario scenario_in(const std::string& text) {
  return parse_scenario(read_yaml_text(text, "ends.yaml"));
}

bool has_note(const RunResult& result, const std::string& text) {
  const auto& notes = result.verdict.notes;
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("a run ends with its work, as one that was asked for that instant, and says so") {
  const std::string expect = "expect: [safety, job_alive, steps_done: 2, no_qp_error]\n";
  const test::TemporaryRuns runs;
  const RunResult result = runs.run(scenario_in(ending("{jobs: 1ms}", expect)));
  CHECK(result.verdict.result == analysis::Result::kPass);
  REQUIRE(result.verdict.jobs.size() == 1);
  const FabricTime done = result.verdict.jobs[0].done.value_or(FabricTime::never());
  // It is looked at each 10 us, a hundredth of the longest run.
  const FabricTime end = FabricTime::from_us(10) * (done.ps() / FabricTime::from_us(10).ps() + 1);
  CHECK(has_note(result, "ended at " + to_string(end) + ", as all work that ends by itself had "));
  ScenarioOverrides until;
  until.until = exact(end);
  const RunResult asked =
      runs.run(parse_scenario(read_yaml_text(ending("1ms", expect), "a.yaml"), {}, until));
  CHECK(asked.verdict.metrics.history_sha256 == result.verdict.metrics.history_sha256);
  const Scenario again = read_run_scenario(result.folder.path);
  CHECK(again.ends_with_work);
  CHECK(again.end == FabricTime::from_ms(1));
  CHECK(again.work_ended);
  CHECK(again.stop() == end);  // what reads the folder judges the same stretch
  const analysis::RunInputs inputs = run_inputs(again, "sim", {});
  CHECK(inputs.end == end);
  CHECK(!inputs.early_end);
  CHECK(has_note(result, inputs.end_note));
}

TEST_CASE("an end that an earlier run found is looked for again where the work has changed") {
  const Scenario longer = scenario_in(ending("{jobs: 1ms, found: 10us}"));
  CHECK(longer.stop() == FabricTime::from_us(10));
  CHECK(ended_with_work(longer).stop() ==
        ended_with_work(scenario_in(ending("{jobs: 1ms}"))).stop());
  CHECK(ended_with_work(longer).stop() > FabricTime::from_us(10));
  const test::TemporaryRuns runs;
  CHECK(has_note(runs.run(longer), "as all work that ends by itself had "));
}

TEST_CASE(
    "what never ends goes on until the rest has ended, and what hangs until the longest end") {
  const std::string background =
      "  - write: {from: h0, to: h1, size: 4KiB, until: end, depth: 1}\n";
  const Scenario beside = scenario_in(ending("{jobs: 1ms}", background));
  REQUIRE(end_of_work(beside));
  CHECK(*end_of_work(beside) < FabricTime::from_us(200));
  const test::TemporaryRuns runs;
  const std::string dead = "faults:\n  - {at: 6us, link_down: {link: \"h1:p*\"}}\n";
  const RunResult result = runs.run(scenario_in(ending("{jobs: 300us}", dead)));
  CHECK(has_note(result, "ended at 300us, the longest that it may take: not all work had ended"));
}

TEST_CASE("an end with the work asks for work that ends, and for how long it may take") {
  const auto error = [](const std::string& text) {
    return test::error_of([&] { scenario_in(text); });
  };
  CHECK(error(ending("jobs")).find("\"{jobs: 20ms}\", with the longest") != std::string::npos);
  CHECK(error(ending("{jobs: 0us}")).find("a duration above 0") != std::string::npos);
  CHECK(error(ending("{jobs: 1ms, found: 2ms}")).find("of at most 1ms") != std::string::npos);
  CHECK(error("name: a\nfabric: pair\nend: {jobs: 1ms}\nworkload:\n"
              "  - write: {from: h0, to: h1, size: 4KiB, until: end}\n")
            .find("no work that ends by itself") != std::string::npos);
}

TEST_SUITE("root: ends with work") {
  TEST_CASE("a live run ends with its work where the simulated one does") {
    const test::TemporaryRuns runs;
    const Scenario scenario = scenario_in(ending("{jobs: 1ms}"));
    const RunResult live = runs.run(scenario, World::kLive), sim = runs.run(scenario);
    CHECK(live.verdict.timing.faithful);
    CHECK(live.verdict.metrics.history_sha256 == sim.verdict.metrics.history_sha256);
    CHECK(has_note(live, "as all work that ends by itself had ended"));
  }
}
