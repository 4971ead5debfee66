// The shipped incidents: each holds, and each fails without the mechanisms that it names.
// MRCLAB_NIGHTLY=1 tries all of them; the ordinary test, which runs every incident in the simulator
// elsewhere, two.

#include <doctest/doctest.h>

#include <set>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "fabric/topology/fabric_file.h"
#include "netio/system/file_descriptor.h"
#include "recorded/diff/run_table.h"
#include "scenario/spec/mechanism.h"
#include "scenario/spec/scenario.h"
#include "scenario/spec/shipped_files.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/checked.h"
#include "tests/support/nightly.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

std::string failures_of(const analysis::Verdict& verdict) {
  std::string text;
  for (const analysis::CheckResult& check : verdict.checks) {
    if (check.result != analysis::Result::kPass) text += check.about + ": " + check.note + "\n";
  }
  return text;
}

/// Those in their own time, too.
std::vector<std::string> all_incidents() {
  std::vector<std::string> names = mrclab::lab::shipped_names("incidents");
  for (std::string& name : mrclab::lab::shipped_names("production")) names.push_back(name);
  return names;
}

Scenario minimal(const std::string& more) {
  return parse_scenario(read_yaml_text(
      "name: x\nfabric: octet\nworkload:\n  - all_reduce: {hosts: all, size: 4KiB, until: end}\n"
      "end: 1us\n" +
          more,
      "f.yaml"));
}

}  // namespace

TEST_CASE("an incident holds, and fails without each mechanism that it names" *
          doctest::test_suite(test::kWholeRun)) {
  for (const std::string& name : test::nightly()
                                     ? all_incidents()
                                     : std::vector<std::string>{"ev-contention", "uplink-flap"}) {
    CAPTURE(name);
    const test::TemporaryRuns runs;
    const Scenario whole = load_scenario(name);
    const RunResult result = runs.run(whole);
    CAPTURE(failures_of(result.verdict));
    CHECK(result.verdict.result == analysis::Result::kPass);
    const bool own_time =
        name.ends_with("-production");  // what needs full links does not fail there
    CHECK_FALSE((whole.fails_without.empty() && whole.contrasts.empty() && !own_time));
    for (const std::string& mechanism : whole.fails_without) {
      CAPTURE(mechanism);
      ScenarioOverrides overrides;
      overrides.without = {mechanism};
      const RunResult without = runs.run(load_scenario(name, overrides));
      CHECK(without.verdict.without == std::vector<std::string>{mechanism});
      CHECK(without.verdict.result == analysis::Result::kFail);
    }
  }
}

TEST_CASE("other transports do with an incident what it says of them" *
          doctest::test_suite(test::kWholeRun)) {
  for (const std::string& name : test::nightly() ? mrclab::lab::shipped_names("incidents")
                                                 : std::vector<std::string>{"go-back-n"}) {
    const Scenario whole = load_scenario(name);
    for (const Contrast& contrast : whole.contrasts) {
      CAPTURE(name);
      CAPTURE(contrast.name);
      const test::TemporaryRuns runs;
      const analysis::Verdict verdict =
          runs.run(under_transport(whole, {contrast.transport, &contrast})).verdict;
      CAPTURE(failures_of(verdict));
      CHECK(verdict.result == analysis::Result::kPass);
    }
  }
}

TEST_CASE("of an optic that stays dark a deep dip passes, and the share of a port stays" *
          doctest::test_suite(test::kWholeRun)) {
  struct Row {
    const char* name;
    int64_t planes, most_rtts;
  };
  for (const Row& row : {Row{"optic-dark-four", 4, 5}, Row{"optic-dark-eight", 8, 12}}) {
    CAPTURE(row.name);
    const test::TemporaryRuns runs;
    const RunResult result = runs.run(load_scenario(row.name));
    const analysis::Verdict& verdict = result.verdict;
    CAPTURE(failures_of(verdict));
    // The page has the run's story and the verdict, which both have it.
    const std::string page = netio::read_file(result.folder.path / "report.html", size_t{64} << 20);
    CHECK(page.find("What is left of the dip from here on") != std::string::npos);
    CHECK(page.find("\"transient_rtts\":") != std::string::npos);
    CHECK(verdict.result == analysis::Result::kPass);
    REQUIRE(verdict.faults.size() == 1);
    REQUIRE(verdict.faults[0].dip);
    const analysis::Dip& dip = *verdict.faults[0].dip;
    const auto share = [&](BitRate rate) {
      return static_cast<double>(rate.bps) / static_cast<double>(dip.baseline.bps);
    };
    const double left = 1 - 1.0 / static_cast<double>(row.planes);
    CHECK(share(dip.steady) == doctest::Approx(left).epsilon(0.005));
    CHECK(dip.transient > FabricTime::zero());
    CHECK(dip.transient <= dip.base_rtt * row.most_rtts);
    CHECK(share(dip.lowest) < left - 0.1);
  }
}

TEST_CASE("of a glitch whose links come back within 40 RTT no steady part is told" *
          doctest::test_suite(test::kWholeRun)) {
  const test::TemporaryRuns runs;
  const analysis::Verdict verdict = runs.run(load_scenario("optic-glitch")).verdict;
  REQUIRE(verdict.faults.size() == 1);
  CHECK_FALSE(verdict.faults[0].dip);
}

TEST_CASE("an incident is found by its id") {
  CHECK(load_scenario("L8").name == "lossy-ev");
  CHECK(load_scenario("P-4").name == load_scenario("L7").name);
  CHECK_THROWS_AS(load_scenario("L99"), NameError);
}

TEST_CASE("what a run does without is in the resolved scenario, which reads back alike") {
  for (const std::string& name : mechanism_names()) {
    const Scenario whole = minimal(""), without = minimal("without: [" + name + "]\n");
    const Scenario again = parse_scenario(read_yaml_text(to_yaml(without), "again.yaml"));
    CAPTURE(name);
    CHECK(again.without == without.without);
    CHECK(again.transport == without.transport);
    CHECK(again.fabric.queues.trim == without.fabric.queues.trim);
    // Octet has none of these; incidents that have one fail without it.
    const std::set<std::string> others{"watchdog",     "fare",  "authorise",
                                       "orchestrator", "check", "denylist"};
    if (others.contains(name)) continue;
    const bool changed = whole.transport != without.transport ||
                         whole.fabric.queues.trim != without.fabric.queues.trim ||
                         whole.fabric.queues.ecn != without.fabric.queues.ecn;
    CHECK(changed);
  }
  CHECK_THROWS_WITH_AS(minimal("without: [spary]\n"),
                       "f.yaml:6:11: found \"spary\": expected \"spray\"", InputError);
  CHECK_THROWS_AS(minimal("fails_without: [spray, spray]\n"), InputError);
}

TEST_CASE("the table of runs holds ours against what was published, in 80 columns") {
  analysis::Verdict verdict;
  verdict.scenario = "port-ladder";
  verdict.without = {"spray"};
  verdict.result = analysis::Result::kFail;
  analysis::CheckResult check;
  check = test::with_result(check, analysis::Result::kPass);
  check.measured = 87.3;
  check.unit = "% of baseline";
  check.published = {87.13, analysis::Measure::kShare, "87.13%",
                     "MRC paper, figure 9a, one of eight links down: 1334 of 1531 Gb/s"};
  verdict.checks = {check};
  const RunRow row{{"L2"}, &verdict};
  const std::string text = run_table({&row, 1}, std::chrono::seconds(3));
  CHECK(text.find("L2 port-ladder, without spray") != std::string::npos);
  CHECK(text.find("FAIL\n") != std::string::npos);
  CHECK(text.find("what others measured, to compare; bounds are each scenario's own\n") !=
        std::string::npos);
  CHECK(text.find("     87.30      87.13  % of baseline\n") != std::string::npos);
  CHECK(text.find("0 passed, 1 failed, 0 inconclusive in 3 s\n") != std::string::npos);
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    CHECK(text.find('\n', at) - at <= 80);
  }
}
