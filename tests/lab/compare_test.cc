// compare: the same scenario under several transports, and what is said of it.

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "fabric/yaml.h"
#include "lab/compare/compared_transport.h"
#include "lab/compare/comparison_text.h"
#include "lab/run/scenario_run.h"
#include "tests/lab/temporary_runs.h"

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
  const Scenario reps = under_transport(scenario, find_transport("reps"));
  CHECK(endpoint::make_profile(reps.transport, reps.topology).path_choice ==
        endpoint::PathChoice::kReps);
  CHECK(endpoint::make_profile(reps.transport, reps.topology).ev_limit == 64);
  CHECK(under_transport(scenario, find_transport("mrc")).transport == scenario.transport);
  CHECK_THROWS_WITH_AS(find_transport("resp"),
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
  CHECK(text.find("oblivious has ") != std::string::npos);
  const uint64_t lost = comparison.runs[1].verdict.metrics.lost;
  CHECK(text.find(std::to_string(lost) + " packets lost in place of ") != std::string::npos);
  const Comparison same = compared(runs, {"mrc", "mrc"});
  CHECK(comparison_text({same}, {}).find("mrc does the same, packet by packet.") !=
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
  const auto json = to_json(std::vector<Comparison>{comparison});
  CHECK(json[0]["runs"][0]["recovery_ps"].is_null());
  CHECK(json[0]["runs"][1]["recovery_ps"] == 25'000'000);
  CHECK(json[0]["runs"][1]["lost"] == 12);
  std::istringstream csv(to_csv({comparison}));
  std::string names, first, second, more;
  std::getline(csv, names), std::getline(csv, first), std::getline(csv, second);
  CHECK(names.starts_with("scenario,seed,transport,result,goodput_bps,recovery_ps,"));
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
