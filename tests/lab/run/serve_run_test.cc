// A service from a scenario file to a run folder: its requests' times, the trace that it keeps, what is asked of it.

#include <doctest/doctest.h>

#include <filesystem>

#include "lab/twin/twin_run.h"
#include "netio/system/file_descriptor.h"
#include "scenario/judging/job_outcome.h"
#include "scenario/judging/job_results.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/errors.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

/// A layer of 32: a token of a prompt takes 0.1 us and leaves 4096 B, an iteration takes 5 us.
std::string service_text(const std::string& requests, const std::string& expect) {
  return "name: served\nfabric: pair\nend: 400us\nseed: 3\nworkload:\n"
         "  - serve:\n"
         "      name: chat\n"
         "      model: {preset: llama3-8b, blocks: 1}\n"
         "      prefill: {hosts: h0, token: 3200ns}\n"
         "      decode: {hosts: h1, step: 160us, spare: 8}\n"
         "      objective: {ttft: 3ms, tpot: 161us}\n" +
         requests + "expect:\n" + expect;
}

Scenario service_of(const std::string& requests, const std::string& expect) {
  return parse_scenario(read_yaml_text(service_text(requests, expect), "served.yaml"));
}

constexpr const char* kDrawn = "      requests: {rate: 500/s, count: 3, input: 100, output: 4}\n";

}  // namespace

TEST_CASE("a service in a scenario serves its requests, and the verdict has their times") {
  const Scenario scenario = service_of(
      kDrawn,
      "  - safety\n  - job_alive\n  - ttft: {at_most: 93us}\n  - slo: {at_least: 100%}\n"
      "  - tpot: {part: fabric, at_most: 1ns}\n  - message_time: {by: p99.9, at_most: 60us}\n");
  CHECK(endpoint::describe(scenario.workload[0]) ==
        "serve chat of llama3-8b, 1 prefill rank and 1 decode rank, 3 requests");
  CHECK(parse_scenario(read_yaml_text(to_yaml(scenario), "again.yaml")).workload ==
        scenario.workload);
  const test::TemporaryRuns runs;
  const RunResult result = runs.run(scenario);
  for (const analysis::CheckResult& check : result.verdict.checks) {
    CAPTURE(check.about);
    CAPTURE(check.note);
    CHECK(check.result == analysis::Result::kPass);
  }
  REQUIRE(result.verdict.jobs.size() == 1);
  REQUIRE(result.verdict.jobs[0].serve);
  const analysis::ServeResult& serve = *result.verdict.jobs[0].serve;
  CHECK(serve.end == FabricTime::from_us(400));
  REQUIRE(serve.requests.size() == 3);
  for (const analysis::ServedRequest& request : serve.requests) {
    CHECK(request.served());
    CHECK(request.cache_bytes == 409'600);
    CHECK(request.computed >= request.arrival + FabricTime::from_us(10));
    // 400 KiB take 16.4 us on two ports of 100 Gb/s, and their way.
    CHECK(request.fabric_ttft > FabricTime::from_us(16));
    CHECK(request.fabric_ttft < FabricTime::from_us(60));
    CHECK(request.fabric_tpot == FabricTime::zero());
    CHECK(request.tpot() == FabricTime::from_us(5));
  }
  REQUIRE(serve.messages.size() == 1);
  CHECK(serve.messages[0].count == 3);
  // What the folder keeps of the ranks' times gives the same.
  const Scenario again = read_run_scenario(result.folder.path);
  const auto results = job_results(again, read_job_times(again, result.folder.path));
  REQUIRE(results.at(0).serve);
  CHECK(results[0].serve->requests[2].first_token == serve.requests[2].first_token);
}

TEST_CASE("a run folder keeps the trace of requests that a service was given") {
  const test::TemporaryRuns runs;
  const std::filesystem::path file = runs.path() / "there.csv";
  netio::write_file(file,
                    "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.1,50,2\n"
                    "2023-11-16 18:17:03.104,90,3\n");
  const RunResult result = runs.run(
      service_of("      trace: {file: " + file.string() + "}\n", "  - ttft: {at_most: 300us}\n"));
  CHECK(result.verdict.result == analysis::Result::kPass);
  std::filesystem::remove(file);
  const Scenario again = read_run_scenario(result.folder.path);
  const auto& work = std::get<endpoint::JobWorkload>(again.workload.at(0));
  CHECK(work.serve->traced->file == (result.folder.path / "traces/0-there.csv").string());
  REQUIRE(work.plan->serve->requests.size() == 2);
  CHECK(work.plan->serve->requests[1].request.arrival == FabricTime::from_us(125));  // 4 ms / 32
}

TEST_CASE("what cannot be asked of a scenario's services is refused") {
  const auto error = [](const std::string& requests, const std::string& expect) {
    return test::error_of([&] { service_of(requests, expect); });
  };
  CHECK(error(kDrawn, "  - slo: {at_least: 90%, job: other}\n").find("the job \"other\"") !=
        std::string::npos);
  CHECK(error(kDrawn, "  - ttft: {by: p99}\n").find("at_least") != std::string::npos);
  CHECK(error("      trace: {file: /nowhere/at-all.csv}\n", "  - safety\n").find("at-all.csv") !=
        std::string::npos);
  const std::string job =
      "name: x\nfabric: pair\nend: 20us\nworkload:\n  - job: {hosts: all, phases: [{c: {compute: 1us}}]}\n"
      "expect:\n  - ttft: {at_most: 1us}\n";
  CHECK(test::error_of([&] {
          parse_scenario(read_yaml_text(job, "x.yaml"));
        }).find("ttft, without a service") != std::string::npos);
}

TEST_CASE("twins of a service end with its last token, though its ranks go on without requests") {
  const Scenario served = service_of(kDrawn, "  - job_alive\n");
  const test::TemporaryRuns runs;
  const analysis::ServeResult serve = *runs.run(served).verdict.jobs.at(0).serve;
  FabricTime last;
  for (const analysis::ServedRequest& request : serve.requests)
    last = std::max(last, request.last_token);
  CHECK(run_twin(served, kNoFaults, {}).done == last);
  // Of a hundred tokens the last has not come at the run's end.
  const Scenario open = service_of(
      "      requests: {rate: 500/s, count: 3, input: 100, output: 100}\n", "  - job_alive\n");
  CHECK_FALSE(run_twin(open, kNoFaults, {}).done);
}
