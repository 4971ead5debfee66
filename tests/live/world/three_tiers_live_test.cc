// Planes of three tiers, live: a T2 dies, an optic of a T1 glitches, and the history is the simulator's.

#include <doctest/doctest.h>

#include "scenario/spec/scenario.h"
#include "tests/lab/support/temporary_runs.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

constexpr const char* kSmallPods =
    "{name: small, planes: 2, pods: 2, t0: 4, t1: 4, t2: 4, hosts_per_t0: 1, "
    "optics: {t1_uplinks: 2}";

RunResult live_as_simulated(const std::string& fabric, const std::string& rest) {
  const test::TemporaryRuns runs;
  const Scenario scenario = parse_scenario(read_yaml_text(
      "name: tiers\nseed: 3\nfabric: " + fabric + "}\n" + rest + "expect:\n  - safety\n",
      "t.yaml"));
  RunResult sim = runs.run(scenario);
  const RunResult live = runs.run(scenario, World::kLive);
  CHECK(live.verdict.timing.faithful);
  CHECK(live.verdict.metrics.history_sha256 == sim.verdict.metrics.history_sha256);
  CHECK(live.verdict.metrics.delivered == sim.verdict.metrics.delivered);
  CHECK(sim.verdict.result == analysis::Result::kPass);
  return sim;
}

}  // namespace

TEST_SUITE("root: three tiers") {
  TEST_CASE("carriers over T2s have one history, live and simulated, in faults of the third tier") {
    const RunResult run = live_as_simulated(
        kSmallPods,
        "workload:\n  - permutation: {hosts: all, shift: 2, load: 60%, message: 64KiB}\n"
        "faults:\n  - {at: 20us, switch_hang: {switch: p0.t2-1, for: 20us}}\n"
        "  - {at: 30us, optic_glitch: {optic: \"p1.t1-2:uo0\", down: 15us, stagger: 5us}}\n"
        "end: 80us\n");
    CHECK(run.verdict.metrics.lost > 0);
    CHECK(run.verdict.metrics.delivered > 500);
  }

  TEST_CASE("RoCE by hashes at two tiers, and routes by BGP over three, have one history as well") {
    live_as_simulated(kSmallPods,
                      "transport: roce\nworkload:\n  - permutation: {hosts: all, shift: 2, load: "
                      "40%, message: 64KiB, qps: 4}\nend: 60us\n");
    const RunResult fare = live_as_simulated(
        std::string(kSmallPods) + ", routing: fare",
        "workload:\n  - permutation: {hosts: all, shift: 2, load: 60%, message: 64KiB}\n"
        "faults:\n  - {at: 260us, link_down: {link: \"p0.t1-0:u1\", for: 60us}}\nend: 400us\n");
    CHECK(fare.verdict.metrics.delivered > 500);
  }
}
