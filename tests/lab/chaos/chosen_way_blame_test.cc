// Losses where switches choose the way of each packet: captures of switches show which way it took, so that what lost
// it is named; without them blame reports that nothing shows it.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "analysis/blame/blame.h"
#include "analysis/history/evidence.h"
#include "fabric/text/yaml.h"
#include "recorded/run/blame_run.h"
#include "scenario/simulation/simulation.h"
#include "scenario/spec/contrast.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/nightly.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

struct ChosenWay {
  const char *fabric, *transport, *fault, *names;
};

constexpr const char* kSilent = "blackhole: {wire: \"p1.t0-0:u2->p1.t1-2:d0\", for: 60us}";
constexpr const char* kCorrupted =
    "bit_errors: {wire: \"p1.t0-0:u2->p1.t1-2:d0\", rate: 1e-4, for: 60us}";
constexpr const char* kSilentDown = "blackhole: {wire: \"p1.t1-2:d0->p1.t0-0:u2\", for: 60us}";

Scenario scenario_of(const ChosenWay& row, const std::string& captures) {
  const Scenario given = parse_scenario(read_yaml_text(
      std::string("name: chosen\nfabric: ") + row.fabric +
          "\nseed: 3\ntransport: {timers: compressed}\ncaptures: " + captures +
          "\nworkload:\n  - permutation: {hosts: all, load: 60%, message: 64KiB, shift: 4, qps: "
          "8}\n"
          "faults:\n  - {at: 200us, " +
          row.fault + "}\nend: 300us\n",
      "chosen"));
  return under_transport(given, find_contrast(given, row.transport));
}

bool names(const analysis::Blame& blame, const std::string& component) {
  return blame.component == component ||
         std::any_of(blame.or_else.begin(), blame.or_else.end(),
                     [&](const std::string& other) { return other.ends_with(component); });
}

constexpr ChosenWay kRows[] = {
    {"fare", "mrc-fare", kSilent, "p1.t0-0:u2->p1.t1-2:d0"},
    {"fare", "mrc-fare", kSilentDown, "p1.t1-2:d0->p1.t0-0:u2"},
    {"fare", "mrc-fare", kCorrupted, "p1.t0-0:u2->p1.t1-2:d0"},
    {"octet", "roce-ar", kSilent, "p1.t0-0:u2->p1.t1-2:d0"},
};

}  // namespace

TEST_CASE("a silent or corrupting wire is named where switches chose it for each packet" *
          doctest::test_suite(test::kWholeRun)) {
  for (const ChosenWay& row : kRows) {
    CAPTURE(std::string(row.fabric));
    CAPTURE(std::string(row.transport));
    CAPTURE(std::string(row.fault));
    const Scenario scenario = scenario_of(row, "all");
    analysis::Evidence evidence(scenario.topology, scenario.schedule, scenario.stop());
    {
      Simulation simulation(scenario, 1,
                            [&](NodeId node) -> NodeObserver& { return evidence.observer(node); });
      simulation.run();
    }
    evidence.finish();
    const auto blames =
        analysis::find_blame(scenario.topology, evidence.packets(), evidence.events());
    REQUIRE(blames.size() == 1);
    CAPTURE(blames[0].component);
    CAPTURE(blames[0].bad);
    CHECK(names(blames[0], row.names));
    CHECK(blames[0].places <= 4);
    // Of RoCE a packet that was on its way when others were asked for again may be seen twice: that is reported.
    const std::string not_told = analysis::losses_not_told(scenario.topology, evidence.packets());
    CAPTURE(not_told);
    if (scenario.topology.routing.is_fare()) CHECK(not_told.empty());
  }
}

TEST_CASE("without captures of switches it is said that nothing tells what lost a packet" *
          doctest::test_suite(test::kWholeRun)) {
  for (const ChosenWay& row : kRows) {
    if (row.fault == kCorrupted) continue;  // the port's frame check shows its place
    CAPTURE(std::string(row.fabric));
    CAPTURE(std::string(row.fault));
    const test::TemporaryRuns runs;
    const BlamedRun hosts = blame_of_run(runs.run(scenario_of(row, "hosts")).folder.path);
    CHECK(hosts.blames.empty());
    CHECK(hosts.lost_otherwise >= 5);
    CHECK(hosts.not_told.find("cannot be found in captures of hosts") != std::string::npos);
  }
}
