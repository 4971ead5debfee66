#include "lab/chaos/chaos_scenario.h"
#include "fabric/build_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fabric/fabric_file.h"
#include "faults/draws.h"
#include "faults/schedule.h"
#include "lab/chaos/chaos_workload.h"
#include "lab/scenario/shipped_files.h"

namespace mrclab::lab {
namespace {

constexpr size_t kNameMax = 32;
/// Below these streams of a seed's draws are the scenario's and the faults' (faults/generator.cc).
constexpr uint32_t kReceiverDraws = 1 << 16;

ChaosBase scenario_base(const std::string& word, Scenario scenario) {
  ChaosBase base{word, scenario.fabric, std::nullopt};
  base.scenario = std::move(scenario);
  return base;
}

/// Safety must hold whatever the faults are, liveness only if they left the transport a path.
std::vector<analysis::Expectation> expectations(const ChaosScenario& drawn) {
  std::vector<analysis::Expectation> expect{analysis::ExpectMemoryIntact{},
                                            analysis::ExpectSafety{}};
  if (drawn.scenario.faults.empty()) return expect;
  if (!drawn.survivable) return expect;
  expect.emplace_back(analysis::ExpectNoQpError{});
  const FabricTime within = drawn.scenario.topology.base_rtt * (kAfterHealRtts - kSlackRtts);
  expect.emplace_back(analysis::ExpectHealed{});
  const auto profile = endpoint::make_profile(drawn.scenario.transport, drawn.scenario.topology);
  if (!can_catch_up(drawn.scenario.workload, profile)) return expect;
  expect.emplace_back(analysis::ExpectGoodputBack{
      within, has_closed_loop(drawn.scenario.workload) ? kBackOfLoops : kBack});
  expect.emplace_back(analysis::ExpectEvsGood{within});
  expect.emplace_back(analysis::ExpectQueuesEmpty{});
  return expect;
}

FabricTime next_whole_us(FabricTime t) { return FabricTime::from_us(t.ns() / 1'000 + 1); }

}  // namespace

ChaosBase load_chaos_base(const std::string& word) {
  const std::filesystem::path file = find_fabric_or_scenario(word);
  const YamlValue document = read_yaml_file(file);
  if (document.is_map() && document.get("workload"))
    return scenario_base(word, read_scenario_file(file));
  return {word, parse_fabric(document), std::nullopt};
}

ChaosScenario chaos_scenario(const ChaosBase& base, uint64_t seed) {
  ChaosScenario drawn;
  Scenario& scenario = drawn.scenario;
  if (base.scenario) {
    scenario = *base.scenario;
  } else {
    scenario.fabric = base.fabric;
    scenario.topology = build_topology(base.fabric);
  }
  check_lookahead(scenario.topology);
  const std::string label = base.scenario ? base.scenario->name : base.fabric.name;
  const std::string number = "-" + std::to_string(seed);
  scenario.name = ("chaos-" + label).substr(0, kNameMax - number.size()) + number;
  scenario.seed = seed;

  faults::Draws draws(seed, 0);
  const FabricTime rtt = scenario.topology.base_rtt;
  const FabricTime from = next_whole_us(rtt * kSteadyRtts);
  const FabricTime healed =
      from + next_whole_us(rtt * draws.by_magnitude(kFaultRttsMin, kFaultRttsMax));
  scenario.end = healed + next_whole_us(rtt * kAfterHealRtts);
  scenario.until.reset();
  if (!base.scenario) {
    scenario.captures = CaptureScope::kHosts;
    faults::Draws receiver_draws(seed, kReceiverDraws);
    scenario.transport = draw_transport(draws, receiver_draws, scenario.topology);
    const bool trimming = endpoint::make_profile(scenario.transport, scenario.topology).trim_nack;
    scenario.workload = draw_workload(draws, scenario.topology, scenario.end, trimming);
  }
  const faults::DrawnFaults faults = faults::draw_faults(
      scenario.topology,
      {.seed = seed, .from = from, .heal_by = healed, .hosts = hosts_of(scenario.workload)});
  drawn.kinds = faults.kinds;
  drawn.survivable = faults.survivable;
  scenario.faults = faults.faults;
  scenario.schedule = faults::compile(scenario.faults, scenario.topology);
  scenario.expect = expectations(drawn);
  scenario.about = fmt::format("Chaos on {}, seed {}: faults from {} on, all healed by {}; {}.",
                               label, seed, exact(from), exact(healed),
                               drawn.survivable ? "survivable by construction" : "not survivable");
  return drawn;
}

}  // namespace mrclab::lab
