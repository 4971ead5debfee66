// compare: the same scenario under several transports, and the text about it.

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "fabric/text/yaml.h"
#include "lab/compare/comparison_data.h"
#include "lab/compare/comparison_story.h"
#include "lab/compare/comparison_text.h"
#include "lab/run/scenario_run.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/checked.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

/// A wire that loses every frame for a while, which no port notices, under many flows.
Scenario dead_wire(const std::string& transport = "lab") {
  return parse_scenario(read_yaml_text(
      "name: dead\nfabric: octet\nseed: 3\ntransport: " + transport +
          "\nworkload:\n  - permutation: {hosts: all, load: 60%, message: 256KiB, shift: 4}\n"
          "faults:\n  - {at: 40us, wire_loss: {link: \"p0.t0-0:u0\", "
          "direction: up, loss: 100%, for: 80us}}\nend: 160us\n"
          "expect:\n  - memory_intact\n  - {losses: {at_most: 1000000}}\n",
      "dead"));
}

Comparison compared(const test::TemporaryRuns& runs, const std::vector<std::string>& transports) {
  return compare_transports(dead_wire(), {transports, runs.path(), {}});
}

}  // namespace

TEST_CASE(
    "each transport has the same scenario but for its own options, and the first is the run") {
  const test::TemporaryRuns runs;
  const Comparison comparison = compared(runs, {"mrc", "oblivious", "reps", "one-path"});
  REQUIRE(comparison.runs.size() == 4);
  RunOptions plain;
  plain.world = World::kSim;
  plain.runs_root = runs.path();
  CHECK(run_scenario(dead_wire(), plain).verdict.metrics.history_sha256 ==
        comparison.runs[0].verdict.metrics.history_sha256);
  for (size_t i = 1; i < 4; ++i) {
    const ComparedRun& run = comparison.runs[i];
    CAPTURE(run.transport);
    CHECK(run.verdict.metrics.history_sha256 != comparison.runs[0].verdict.metrics.history_sha256);
    CHECK(run.verdict.seed == 3);
    const Scenario left = load_scenario((run.folder / "scenario.yaml").string());
    CHECK(left.schedule.size() == dead_wire().schedule.size());
    CHECK(left.transport != dead_wire().transport);
    CHECK(left.workload == dead_wire().workload);
  }
  CHECK(comparison.runs[3].verdict.metrics.goodput_bps <
        comparison.runs[0].verdict.metrics.goodput_bps);
  // Oblivious spraying goes on sending into the dead wire.
  CHECK(comparison.runs[1].verdict.metrics.lost > comparison.runs[0].verdict.metrics.lost);
}

TEST_CASE("an option of the scenario stays unless the transport names it") {
  const Scenario scenario = dead_wire("{path_choice: oblivious, evs: 64}");
  const Scenario reps = under_transport(scenario, find_contrast(scenario, "reps"));
  CHECK(endpoint::make_profile(reps.transport, reps.topology).path_choice ==
        endpoint::PathChoice::kReps);
  CHECK(endpoint::make_profile(reps.transport, reps.topology).ev_limit == 64);
  CHECK(under_transport(scenario, find_contrast(scenario, "mrc")).transport == scenario.transport);
  CHECK_THROWS_WITH_AS(find_contrast(scenario, "resp"),
                       "found \"resp\", which names no transport: expected \"reps\"", NameError);
}

TEST_CASE("the table fits a terminal, and says what is unlike the first") {
  const test::TemporaryRuns runs;
  const Comparison comparison = compared(runs, {"mrc", "oblivious"});
  std::istringstream lines(comparison_text({comparison, comparison}, {}));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    CHECK(line.size() <= 80);
    text += line + ' ';
  }
  CHECK(text.find("dead, seed 3, simulated") != std::string::npos);
  CHECK(text.find("the workload goes on until the end, at 160us: goodput is what") !=
        std::string::npos);
  CHECK(text.find("oblivious: ") != std::string::npos);
  const uint64_t lost = comparison.runs[1].verdict.metrics.lost;
  CHECK(text.find(std::to_string(lost) + " packets lost, ") != std::string::npos);
  const Comparison same = compared(runs, {"mrc", "mrc"});
  CHECK(comparison_text({same}, {}).find("mrc: It does the same, packet by packet.") !=
        std::string::npos);
}

TEST_CASE("JSON and CSV hold the same runs") {
  Comparison comparison;
  comparison.scenario = "a \"b\", c";
  comparison.seed = 7;
  comparison.base_rtt = FabricTime::from_us(10);
  comparison.runs.resize(2);
  comparison.runs[0].transport = "mrc";
  comparison.runs[1].transport = "reps";
  comparison.runs[1].verdict.metrics.lost = 12;
  analysis::FaultResult fault;
  fault.recovered = FabricTime::from_us(25);
  comparison.runs[1].verdict.faults = {fault};
  comparison.runs[0].verdict.faults.resize(1);  // never recovered from
  const auto json = to_json(std::vector<Comparison>{comparison});
  CHECK(json[0]["runs"][0]["recovery_ps"].is_null());
  CHECK(json[0]["runs"][1]["recovery_ps"] == 25'000'000);
  CHECK(json[0]["runs"][1]["lost"] == 12);
  std::istringstream csv(to_csv({comparison}));
  std::string names, first, second, more;
  std::getline(csv, names), std::getline(csv, first), std::getline(csv, second);
  CHECK(names.starts_with("scenario,seed,transport,result,completion_ps,share_of_first,"));
  CHECK(first.starts_with("\"a \"\"b\"\", c\",7,mrc,"));
  CHECK(second.find(",reps,") != std::string::npos);
  CHECK(second.find(",25000000,") != std::string::npos);
  CHECK(!std::getline(csv, more));
  CHECK(comparison_text({comparison}, {}).find("2.5 RTT") != std::string::npos);
}

TEST_CASE("a fault that was not recovered from leaves no time of recovery") {
  analysis::Verdict verdict;
  CHECK(!longest_recovery(verdict));
  verdict.faults.resize(2);
  verdict.faults[0].recovered = FabricTime::from_us(5);
  CHECK(!longest_recovery(verdict));
  verdict.faults[1].recovered = FabricTime::from_us(9);
  CHECK(longest_recovery(verdict) == FabricTime::from_us(9));
}

namespace {

/// Two runs of a workload that ends, with numbers by hand.
Comparison by_hand() {
  Comparison comparison;
  comparison.scenario = "x";
  comparison.base_rtt = FabricTime::from_us(10);
  comparison.end = FabricTime::from_us(1000);
  comparison.runs.resize(2);
  ComparedRun& mrc = comparison.runs[0];
  ComparedRun& roce = comparison.runs[1];
  mrc.transport = "mrc";
  mrc.verdict.metrics.work_ends = roce.verdict.metrics.work_ends = true;
  mrc.verdict.metrics.completed = FabricTime::from_us(200);
  mrc.verdict.metrics.history_sha256 = "a";
  roce.transport = "roce";
  analysis::Metrics& metrics = roce.verdict.metrics;
  metrics.history_sha256 = "b";
  metrics.completed = FabricTime::from_us(500);
  metrics.lost = 2;
  metrics.retransmitted = 30;
  metrics.qps_failed = 1;
  metrics.pauses = analysis::PauseUse{3, FabricTime::from_us(350), "p0.t1-3:d0", "p0.t0-1"};
  metrics.spread = analysis::FlowSpread{8, 8, 5, 3, 8, 5, 2, {3, 3, 1, 1}, "p0.t0-0:u3", 2.6};
  metrics.cnps = 12;
  metrics.flows_cut = 7;
  metrics.deepest = analysis::DeepestQueue{{812'345}, "p0.t0-0:d0"};
  return comparison;
}

std::string story(const Comparison& comparison, size_t run) {
  std::string text;
  for (const std::string& sentence : story_of(comparison, comparison.runs[run])) {
    text += sentence + '\n';
  }
  return text;
}

}  // namespace

TEST_CASE("a workload that ends has its completion time first, and what happened is told") {
  const Comparison comparison = by_hand();
  CHECK(share_of_first(comparison.runs[0], comparison.runs[1]) == 250.0);
  CHECK(story(comparison, 0) == "It took 200us.\n");
  CHECK(story(comparison, 1) ==
        "It took 500us, 2.50 times as long as mrc.\n"
        "8 flows kept to one path each and used 5 of 8 uplinks; 5 of them shared one with others, "
        "3 the fullest, and p0.t0-0:u3 carried 2.6 times the mean.\n"
        "3 ports were paused, p0.t1-3:d0 longest: 35.0 % of the time; p0.t0-1 paused first.\n"
        "The deepest queue held 812 kB, at p0.t0-0:d0.\n"
        "2 packets lost, 30 retransmitted: 15.0 for each lost.\n"
        "12 CNPs notified senders of full queues and slowed 7 flows down.\n"
        "1 queue pair failed.\n");
  const std::string text = comparison_text({comparison}, {});
  CHECK(text.find("completion: until the workload's last byte had arrived") != std::string::npos);
  CHECK(text.find("QPs failed") != std::string::npos);
  CHECK(text.find("trimmed") == std::string::npos);  // nobody trimmed
  const std::string wide = comparison_text({comparison}, {100});
  CHECK(wide.find("queue  cut") != std::string::npos);
  CHECK(wide.find("812 kB    7") != std::string::npos);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
}

TEST_CASE("a workload that did not finish has no time, and no share of the first's") {
  Comparison comparison = by_hand();
  comparison.runs[1].verdict.metrics.completed.reset();
  comparison.runs[1].verdict.metrics.delivered = 3;
  comparison.runs[1].verdict.metrics.data_packets = 9;
  CHECK(!share_of_first(comparison.runs[0], comparison.runs[1]));
  CHECK(story(comparison, 1).starts_with("It did not finish: 3 of 9 packets arrived.\n"));
  CHECK(comparison_text({comparison}, {}).find("not done") != std::string::npos);
  CHECK(to_json(std::vector{comparison})[0]["runs"][1]["completion_ps"].is_null());
}

TEST_CASE("a transport that is not as its scenario says is told so loudly") {
  Comparison comparison = by_hand();
  analysis::CheckResult check;
  check.about = "goodput ≤ 60 %";
  check = test::with_result(check, analysis::Result::kFail);
  comparison.runs[1].contrast = {check};
  comparison.runs[1].not_asked = {"share of p0/u1 (a queue pair has one path here)"};
  CHECK_FALSE(comparison.runs[1].as_told());
  CHECK(comparison.runs[0].as_told());
  const std::string text = story(comparison, 1);
  CHECK(text.find("CONTRAST NOT MET: goodput ≤ 60 %") != std::string::npos);
  CHECK(text.find("Not asked: share of p0/u1 (") != std::string::npos);
  CHECK(to_json(std::vector{comparison})[0]["runs"][1]["contrast"] == "fail");
}

TEST_CASE("compared is what the scenario says of other transports, or else all of them") {
  Scenario scenario = dead_wire();
  const auto all = named_transports();
  const auto with_own_routing = std::count_if(
      all.begin(), all.end(), [](const NamedTransport& each) { return !each.routing.empty(); });
  CHECK(compared_by_default(scenario).size() == all.size() - with_own_routing);
  scenario.contrasts.push_back({"pfc", transport_called("roce"), {}, {}, {}, {}});
  CHECK(compared_by_default(scenario) == std::vector<std::string>{"mrc", "pfc"});
}

TEST_CASE("with several planes RoCE is compared on one plane with the rate of all") {
  const auto has = [](const std::vector<std::string>& names, const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const std::vector<std::string> names = compared_by_default(load_scenario("link-flap"));
  CHECK(has(names, "mrc"));
  Scenario bare = load_scenario("link-flap");
  bare.contrasts.clear();
  const std::vector<std::string> all = compared_by_default(bare);
  CHECK(has(all, "roce16-fat"));
  CHECK_FALSE(has(all, "roce16"));
  CHECK(has(all, "reps"));
  bare = load_scenario("permutation");
  bare.contrasts.clear();
  CHECK(has(compared_by_default(bare), "roce16"));  // it has one plane, and is its own twin
  CHECK_FALSE(has(compared_by_default(bare), "roce16-fat"));
}

TEST_CASE("a comparison has the scenario's verdict and the contrast's apart") {
  const test::TemporaryRuns runs;
  const Scenario scenario = parse_scenario(
      read_yaml_text("name: few\nfabric: single\nworkload:\n"
                     "  - write: {from: h0, to: h4, size: 64KiB, count: 8}\nend: 200us\n"
                     "expect:\n  - memory_intact\n  - share: {path: \"p0/u0\", at_most: 30%}\n"
                     "contrast:\n  - {transport: roce, expect: [{losses: {at_most: 0}}, "
                     "{retransmissions: {at_least: 1}}]}\n",
                     "few"));
  const Comparison comparison = compare_transports(scenario, {{}, runs.path(), {}});
  REQUIRE(comparison.runs.size() == 2);
  CHECK(comparison.runs[0].verdict.checks.size() == 2);
  const ComparedRun& roce = comparison.runs[1];
  CHECK(roce.verdict.checks.size() == 1);
  CHECK(roce.verdict.result == analysis::Result::kPass);
  CHECK(roce.not_asked.size() == 1);
  REQUIRE(roce.contrast.size() == 2);
  CHECK(roce.contrast[0].result == analysis::Result::kPass);
  CHECK(roce.contrast[1].result == analysis::Result::kFail);  // nothing is lost there
  CHECK_FALSE(roce.as_told());
  REQUIRE(roce.verdict.metrics.completed);
  CHECK(*roce.verdict.metrics.completed < FabricTime::from_us(200));
  CHECK(roce.verdict.metrics.spread->one_path == 1);
}

TEST_CASE("a table in Markdown has a line for each scenario, and shares of the first") {
  Comparison comparison = by_hand();
  CHECK(to_markdown({comparison}) ==
        "| incident | mrc | roce |\n|---|---|---|\n| `x` | 200us, 0 of 0 | 250 %, 0 of 0 |\n");
  comparison.runs[1].verdict.metrics.completed.reset();
  CHECK(to_markdown({comparison}).find("| not done, 0 of 0 |") != std::string::npos);
  comparison.runs[1].verdict.depends_on = {"compressed timers"};
  const std::string starred = to_markdown({comparison});
  CHECK(starred.find("| not done \\*, 0 of 0 |") != std::string::npos);
  CHECK(starred.ends_with("- `x`, roce: depends on compressed timers\n"));
}
