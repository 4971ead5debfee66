// Shrinking a scenario whose fault has a list of targets.

#include <doctest/doctest.h>

#include "lab/chaos/shrink.h"
#include "scenario/spec/scenario.h"

using namespace mrclab;
using namespace mrclab::lab;

TEST_CASE("of eight links that go down one is left, before anything dearer is tried") {
  const Scenario scenario = parse_scenario(read_yaml_text(
      "name: ladder\nfabric: {name: wide, planes: 4, t0: 2, t1: 4, hosts_per_t0: 1}\nseed: 1\n"
      "workload:\n  - write: {from: h0, to: h1, size: 64KiB, until: end}\n"
      "faults:\n  - {at: 40us, link_down: {link: \"p*.t0-0:u[0-1]\", for: 20us}}\n"
      "end: 100us\nexpect:\n  - losses: {at_most: 0}\n",
      "ladder"));
  REQUIRE(scenario.faults.size() == 1);
  REQUIRE(scenario.faults[0].targets.links.size() == 8);
  uint32_t runs_to_one_link = 0;
  const ShrunkScenario shrunk = shrink(scenario, 12, [&](uint32_t runs, const Scenario& smallest) {
    const bool one = smallest.faults.size() == 1 && smallest.faults[0].targets.links.size() == 1;
    if (one && runs_to_one_link == 0) runs_to_one_link = runs;
  });
  CHECK(shrunk.check == "losses");
  REQUIRE(shrunk.scenario.faults.size() == 1);
  CHECK(shrunk.scenario.faults[0].targets.links.size() == 1);
  CHECK(runs_to_one_link > 0);
  CHECK(runs_to_one_link <= 12);
}
