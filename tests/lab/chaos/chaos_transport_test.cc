// Which transports chaos draws, and that RC is held to what RC can do.

#include "lab/chaos/chaos_transport.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "fabric/topology/build_topology.h"
#include "lab/chaos/chaos.h"
#include "lab/chaos/chaos_text.h"
#include "lab/chaos/chaos_workload.h"
#include "scenario/spec/transport_fit.h"

using namespace mrclab;
using namespace mrclab::lab;

TEST_CASE(
    "most seeds have MRC, and two hundred have every other transport with pauses and without") {
  const ChaosBase base = load_chaos_base("octet");
  std::map<ChaosTransport, uint32_t> times;
  std::set<std::string> options;
  std::set<std::pair<bool, bool>> switches;  // pauses, adaptive
  std::set<endpoint::RcRecovery> sprayed;    // how receivers recover where switches spray
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const ChaosScenario drawn = chaos_scenario(base, seed);
    const Scenario& scenario = drawn.scenario;
    ++times[drawn.transport];
    CHECK(has_roce(drawn.transport) == uses_roce(scenario));
    if (!has_roce(drawn.transport)) continue;
    for (const auto& [index, value] : scenario.transport.overrides)
      options.insert(std::string(endpoint::transport_options()[index].name));
    switches.insert({scenario.topology.lossless.pfc, scenario.topology.lossless.adaptive});
    if (!scenario.topology.lossless.adaptive) continue;
    sprayed.insert(endpoint::make_profile(scenario.transport, scenario.topology).recovery);
  }
  CHECK(times[ChaosTransport::kMrc] > 100);
  CHECK(times.size() == 5);
  for (const char* option : {"recovery", "reorder", "dcqcn", "rc_window", "rc_ack_timeout",
                             "rc_retries", "pfc", "adaptive_routing"}) {
    CHECK_MESSAGE(options.contains(option), option);
  }
  CHECK(switches.size() == 4);
  CHECK(sprayed == std::set{endpoint::RcRecovery::kSelective, endpoint::RcRecovery::kPlacing});
}

TEST_CASE("a fabric that cannot carry RoCE has none, and its seeds keep their runs") {
  const ChaosBase base = load_chaos_base("ai-backend");
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    CHECK_FALSE(has_roce(chaos_scenario(base, seed).transport));
  }
}

TEST_CASE("RC has room where every port and every uplink has, even if all hosts share one") {
  const Topology octet = build_topology(load_chaos_base("octet").fabric);
  CHECK(roce_room(octet, 1).ppb == Probability::kOne / 100 * 25 / 10);  // 80 % of 1/8 of 1/4
  CHECK(roce_room(octet, 4).ppb == Probability::kOne / 100 * 10);
  CHECK(roce_room(octet, 16).ppb == Probability::kOne / 100 * 20);
}

TEST_CASE("a failing seed says which transport it had, and the summary how many had which") {
  ChaosReport report{"octet", "00ff", "sim", "0.1.0", "1-2", "1/1", {}};
  SeedResult mrc, roce;
  mrc.result = analysis::Result::kPass;
  roce.result = analysis::Result::kFail;
  roce.transport = "roce";
  roce.check = "goodput_back";
  roce.note = "too late";
  report.results = {mrc, roce};
  CHECK(chaos_line(report, roce, stdout).find("roce: too late") != std::string::npos);
  CHECK(chaos_line(report, mrc, stdout).find("mrc:") == std::string::npos);
  CHECK(chaos_summary(report, std::nullopt).find("transports  mrc 1, roce 1\n") !=
        std::string::npos);
  CHECK(seed_result_from_json(to_json(roce).dump()) == roce);
}
