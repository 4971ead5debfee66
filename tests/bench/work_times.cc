// How long the work of a simulated scenario takes, without captures and without a verdict: what bench_nic_losses is
// made of.
//
//   work_times SCENARIO.yaml     prints JSON: each piece of work of each host, and what was lost on the way

#include <cstdio>
#include <nlohmann/json.hpp>

#include "scenario/simulation/simulation.h"
#include "scenario/spec/scenario.h"

namespace mrclab {
namespace {

class Nothing : public NodeObserver {
 public:
  void packet(const PacketRecord&) override {}
  void event(const EventRecord&) override {}
};

nlohmann::ordered_json measure(const char* file) {
  lab::ScenarioOverrides overrides;
  overrides.payload_elided = true;
  const lab::Scenario scenario = lab::read_scenario_file(file, overrides);
  Nothing nothing;
  lab::Simulation simulation(scenario, 1, [&](NodeId) -> NodeObserver& { return nothing; });
  const Topology& topology = scenario.topology;
  const auto finished = [&] {
    for (const NodeSite& site : topology.nodes) {
      const NodeId node = topology.host(site.index);
      if (site.role == NodeRole::kHost && !simulation.host_at(node).finished()) return false;
    }
    return true;
  };
  const FabricTime step = topology.base_rtt * 16;
  for (FabricTime now = step; !finished() && now < scenario.stop(); now = now + step) {
    simulation.run({}, now);
  }
  auto work = nlohmann::ordered_json::array();
  uint64_t sent = 0, lost = 0, again = 0, errors = 0, timeouts = 0;
  for (uint32_t h = 0; h < topology.host_count(); ++h) {
    const endpoint::HostAccount account = simulation.account(h);
    sent += account.stats.data_packets_sent;
    lost += account.stats.losses_detected;
    again += account.stats.retransmissions;
    errors += account.stats.qps_in_error;
    timeouts += account.stats.timeouts;
    for (const endpoint::WorkReport& report : account.work) {
      auto pieces = nlohmann::ordered_json::array();
      for (const endpoint::WorkSample& each : report.samples) {
        pieces.push_back({each.from.ps(), each.to.ps()});
      }
      work.push_back({{"host", h}, {"workload", report.workload}, {"pieces_ps", pieces}});
    }
  }
  return {{"work", work},         {"packets", sent}, {"losses", lost}, {"retransmissions", again},
          {"timeouts", timeouts}, {"errors", errors}};
}

}  // namespace
}  // namespace mrclab

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: work_times SCENARIO.yaml\n");
    return 2;
  }
  try {
    std::printf("%s\n", mrclab::measure(argv[1]).dump().c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "work_times: %s\n", error.what());
    return 1;
  }
}
