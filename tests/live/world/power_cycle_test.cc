// A switch with a process of its own that loses its power is really killed, and no effect in the
// fabric shows it.

#include "live/world/power_cycle.h"

#include <doctest/doctest.h>

#include "fabric/topology/fabric_file.h"
#include "faults/schedule.h"
#include "live/world/live_lab.h"
#include "netio/system/file_descriptor.h"
#include "tests/lab/support/sandbox.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/times.h"

namespace mrclab::lab {
namespace {

using test::us;
std::string power_text(const std::string& faults) {
  return R"(
name: power
fabric: pair
seed: 5
captures: all
workload:
  - all_reduce: {hosts: all, size: 64KiB, until: end}
faults:
)" + faults +
         R"(
end: 90us
expect:
  - memory_intact
)";
}

Scenario power_scenario(const std::string& faults) {
  return parse_scenario(read_yaml_text(power_text(faults), "power.yaml"));
}

std::vector<PowerCut> cuts(const Scenario& s, bool isolate) {
  return power_cuts(s.topology, plan_processes(s.topology, isolate, 2).process_of_node, s.schedule);
}

constexpr const char* kReboot =
    "  - {at: 20us, switch_reboot: {switch: p0.t1-0, down: 20us, reload: 5us}}\n";

TEST_CASE(
    "a switch that has a process of its own is killed between its last frame and its return") {
  const Scenario s = power_scenario(kReboot);
  const auto found = cuts(s, true);
  REQUIRE(found.size() == 1);
  CHECK(found[0].off == us(20));
  CHECK(found[0].settled > us(21));
  CHECK(found[0].settled < us(23));
  CHECK(found[0].last < us(39));
  CHECK(found[0].last > us(38));
  CHECK(cuts(s, false).empty());  // others live in its process

  const ProcessPlan plan = plan_processes(s.topology, true, 2);
  PowerCycle cycle(s.topology, plan.process_of_node, s.schedule);
  CHECK(cycle.limit() == found[0].last);
  CHECK(cycle.due([&](uint32_t) { return us(20); }).empty());
  CHECK(cycle.due([&](uint32_t) { return us(24); }) == std::vector{found[0].process});
  CHECK(cycle.due([&](uint32_t) { return us(30); }).empty());  // once
  CHECK(cycle.limit() == FabricTime::never());
  cycle.replace({}, us(30));
  CHECK(cycle.limit() == FabricTime::never());
}

TEST_CASE("what a schedule has forgotten as settled still decides who is killed, and when") {
  const std::string slow = "  - {at: 2us, rate: {link: \"p0.t1-0:d0\", to: 100Mb/s, until: 4us}}\n";
  const std::string random =
      "  - {at: 2us, jitter: {link: \"p0.t1-0:d0\", up_to: 3us, until: 4us}}\n";
  for (const std::string& before : {slow, random}) {
    CAPTURE(before);
    const Scenario whole = power_scenario(before + kReboot);
    const auto process_of_node = plan_processes(whole.topology, true, 2).process_of_node;
    std::vector<ScheduledEffect> later = faults::still_in_force(whole.schedule, us(10));
    CHECK(later.empty());
    for (const auto& effect : whole.schedule) {
      if (effect.at > us(10)) later.push_back(effect);
    }
    SettledPast past;
    past.add(whole.topology, whole.schedule, us(10));
    CHECK(power_cuts(whole.topology, process_of_node, later, past) == cuts(whole, true));
    CHECK(power_cuts(whole.topology, process_of_node, later) != cuts(whole, true));
  }
}

TEST_CASE("nobody is killed for an outage that is over at once, or who remembers what a wire did") {
  CHECK(cuts(power_scenario("  - {at: 20us, switch_crash: {switch: p0.t1-0, for: 2us}}\n"), true)
            .empty());
  const std::string lossy =
      "  - {at: 5us, wire_loss: {wire: \"p0.t1-0:d0->p0.t0-0:u0\", loss: 10%, for: 5us}}\n";
  CHECK(cuts(power_scenario(kReboot + lossy), true).empty());
  const Scenario dead = power_scenario("  - {at: 20us, switch_crash: {switch: p0.t1-0}}\n");
  REQUIRE(cuts(dead, true).size() == 1);
  CHECK(cuts(dead, true)[0].last == cuts(dead, true)[0].settled);
}

TEST_CASE("a switch that stays dark is killed before the lab goes on, unless it has left the lab") {
  const Scenario s = power_scenario("  - {at: 20us, switch_crash: {switch: p0.t1-0}}\n");
  const ProcessPlan plan = plan_processes(s.topology, true, 2);
  const auto found = cuts(s, true);
  REQUIRE(found.size() == 1);
  PowerCycle cycle(s.topology, plan.process_of_node, s.schedule);
  CHECK(cycle.limit() == found[0].settled);
  CHECK(cycle.due([&](uint32_t) { return found[0].settled - kPicosecond; }).empty());
  CHECK(cycle.due([&](uint32_t) { return found[0].settled; }) == std::vector{found[0].process});
  CHECK(cycle.limit() == FabricTime::never());

  PowerCycle without(s.topology, plan.process_of_node, s.schedule);
  without.due([](uint32_t) { return FabricTime::never(); });
  CHECK(without.limit() == FabricTime::never());
}

TEST_SUITE_BEGIN("root: power");

TEST_CASE("a switch whose process was killed and started again has the simulator's history") {
  enter_sandbox();
  const Scenario s = power_scenario(std::string(kReboot) +
                                    "  - {at: 30us, switch_crash: {switch: p1.t0-0, for: 20us}}\n"
                                    "  - {at: 60us, switch_crash: {switch: p0.t1-0}}\n");
  const test::TemporaryRuns runs;
  const RunResult simulated = runs.run(s);
  RunOptions options = runs.options(World::kLive);
  options.isolate = true;
  const RunResult live = run_scenario(s, options);
  const std::string events = netio::read_file(live.folder.path / "events.jsonl", 64 << 20);
  size_t replaced = 0;
  for (size_t at = events.find("process_replaced"); at != std::string::npos;
       at = events.find("process_replaced", at + 1)) {
    ++replaced;
  }
  CHECK(replaced == 3);
  for (const std::string& reason : live.verdict.timing.reasons) MESSAGE(reason);
  CHECK(live.verdict.timing.faithful);
  CHECK(live.verdict.metrics.history_sha256 == simulated.verdict.metrics.history_sha256);
  CHECK(live.verdict.metrics.lost == simulated.verdict.metrics.lost);  // from captures of all lives
}

TEST_SUITE_END();

}  // namespace
}  // namespace mrclab::lab
