// Nodes that several threads watch, and a judge that follows some senders only.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "analysis/verdict/verdict.h"
#include "lab/run/scenario_run.h"
#include "recorded/run/blame_run.h"
#include "tests/lab/support/temporary_runs.h"

namespace mrclab::lab {
namespace {

/// A link dies and comes back under a permutation, beside an incast that is trimmed.
Scenario threads_story(const std::string& more) {
  const std::string text =
      "name: threads\n"
      "fabric: {name: f, planes: 2, t0: 4, t1: 2, hosts_per_t0: 2, propagation: 50ns, "
      "switch_latency: 100ns, host_latency: 100ns}\n"
      "end: 120us\ncaptures: none\npayload: elided\n"
      "workload:\n  - permutation: {hosts: all, load: 40%, message: 4000B, shift: 2}\n"
      "  - incast: {from: \"h[2-7]\", to: h0, load: 50%, message: 30000B}\n"
      "faults:\n  - {at: 40us, link_down: {link: \"p0.t0-0:u1\", for: 20us}}\n"
      "expect: [safety, no_qp_error, losses: {at_least: 1}, trims: {at_least: 1},\n"
      "  goodput: {from: 20us, at_least: 20%, of: line_rate}]\n" +
      more;
  return parse_scenario(read_yaml_text(text, "f.yaml"), {}, {});
}

analysis::Verdict verdict_of(const Scenario& scenario, uint32_t threads) {
  const test::TemporaryRuns runs;
  RunOptions options = runs.options(World::kSim);
  options.threads = threads;
  options.history_bytes = 0;
  return run_scenario(scenario, options).verdict;
}

TEST_CASE("nodes that two or three threads watch give the verdict of one thread") {
  const Scenario scenario = threads_story("");
  const analysis::Verdict one = verdict_of(scenario, 1);
  CHECK(one.result == analysis::Result::kPass);
  CHECK(one.metrics.lost > 0);
  const auto a = nlohmann::json::parse(analysis::to_json(one));
  for (const uint32_t threads : {2u, 3u}) {
    CAPTURE(threads);
    const auto b = nlohmann::json::parse(analysis::to_json(verdict_of(scenario, threads)));
    CHECK(a["checks"] == b["checks"]);
    CHECK(a["faults"] == b["faults"]);
    CHECK(a["metrics"] == b["metrics"]);
    CHECK(a["notes"] == b["notes"]);
  }
}

TEST_CASE("a judge that follows two of eight senders sees their packets, and all frames add up") {
  const analysis::Verdict all = verdict_of(threads_story(""), 2);
  const analysis::Verdict some = verdict_of(threads_story("follow: \"h[2-3]\"\n"), 2);
  CHECK(some.result == analysis::Result::kPass);
  CHECK(some.metrics.history_sha256 == all.metrics.history_sha256);
  CHECK(some.metrics.data_packets > 0);
  CHECK(some.metrics.data_packets < all.metrics.data_packets / 2);
  const auto note = nlohmann::json::parse(analysis::to_json(some))["notes"].dump();
  CHECK(note.find("2 of 8 hosts sent (follow)") != std::string::npos);
}

TEST_CASE(
    "the capture of a run that follows some senders has their packets alone, and blame reads it") {
  const auto size_and_blame = [](const std::string& follow) {
    const test::TemporaryRuns runs;
    Scenario scenario = threads_story(follow);
    scenario.captures = CaptureScope::kAll;
    const RunResult result = runs.run(scenario);
    CHECK(result.verdict.result == analysis::Result::kPass);
    const auto bytes = std::filesystem::file_size(result.folder.captures() / "sim.pcapng");
    return std::pair(bytes, blame_of_run(result.folder.path));
  };
  const auto all = size_and_blame("");
  const auto some = size_and_blame("follow: \"h[2-3]\"\n");
  CHECK(some.first < all.first / 2);
  REQUIRE(some.second.blames.size() == 1);
  CHECK(some.second.blames[0].component.find("p0.t0-0:u1") != std::string::npos);
}

TEST_CASE("goodput of a run that follows some senders is theirs, by its captures as watched") {
  const test::TemporaryRuns runs;
  const auto goodput = [&](CaptureScope captures) {
    Scenario scenario = threads_story("follow: \"h[2-3]\"\n");
    scenario.captures = captures;
    const RunResult result = runs.run(scenario);
    CHECK(result.verdict.result == analysis::Result::kPass);
    const auto found = std::find_if(
        result.verdict.checks.begin(), result.verdict.checks.end(),
        [](const analysis::CheckResult& check) { return check.name.starts_with("goodput"); });
    REQUIRE(found != result.verdict.checks.end());
    return found->measured;
  };
  CHECK(goodput(CaptureScope::kHosts) == goodput(CaptureScope::kNone));
}

TEST_CASE("captures of threads of which one follows nobody are whole") {
  const test::TemporaryRuns runs;
  Scenario scenario = threads_story("follow: \"h[0-1]\"\n");
  scenario.captures = CaptureScope::kHosts;
  scenario.faults.clear();
  RunOptions options = runs.options(World::kSim);
  options.threads = 4;
  const RunResult result = run_scenario(scenario, options);
  for (const analysis::CheckResult& check : result.verdict.checks) {
    CHECK(check.result != analysis::Result::kInconclusive);
  }
}

TEST_CASE("a pattern of no host cannot be followed") {
  CHECK_THROWS_AS(threads_story("follow: h77\n"), InputError);
}

}  // namespace
}  // namespace mrclab::lab
