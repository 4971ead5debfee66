// A fabric of which few hosts work: the others, and switches that nothing reaches, are not made.

#include <doctest/doctest.h>

#include "fabric/history/history.h"
#include "scenario/simulation/simulation.h"
#include "sim/sim_world.h"
#include "tests/lab/support/temporary_runs.h"

namespace mrclab::lab {
namespace {

/// Two hosts of one rack write to each other: neither T1s nor the other rack have anything to do.
Scenario idle_story(const std::string& faults) {
  const std::string text =
      "name: idle\nfabric: octet\nend: 60us\ncaptures: none\npayload: elided\n"
      "workload:\n  - write: {from: h0, to: h1, size: 64KiB, until: end}\n" +
      faults + "expect: [no_qp_error]\n";
  return parse_scenario(read_yaml_text(text, "f.yaml"), {}, {});
}

struct IdleRun {
  std::string digest;
  size_t made = 0;
  uint64_t placed = 0;
};

IdleRun idle_run(const Scenario& scenario, bool look_at_all_first) {
  IdleRun run;
  std::vector<std::unique_ptr<HistoryDigest>> digests;
  struct Recorder : NodeObserver {
    explicit Recorder(HistoryDigest& to) : digest(to) {}
    void packet(const PacketRecord& record) override { digest.packet(record); }
    void event(const EventRecord&) override {}
    HistoryDigest& digest;
  };
  std::vector<std::unique_ptr<Recorder>> recorders;
  for (const NodeSite& site : scenario.topology.nodes) {
    digests.push_back(std::make_unique<HistoryDigest>(scenario.topology, site.id, scenario.stop()));
    recorders.push_back(std::make_unique<Recorder>(*digests.back()));
  }
  Simulation simulation(scenario, 1,
                        [&](NodeId node) -> NodeObserver& { return *recorders[node.value]; });
  for (const NodeSite& site : scenario.topology.nodes) {
    if (!look_at_all_first) break;
    if (site.role == NodeRole::kHost) {
      simulation.host_at(site.id);
    } else {
      simulation.switch_at(site.id);
    }
  }
  simulation.run();
  std::vector<HistoryStream> streams;
  for (const auto& digest : digests) {
    const auto more = digest->reported();
    streams.insert(streams.end(), more.begin(), more.end());
  }
  run.digest = history_sha256(streams);
  for (const NodeSite& site : scenario.topology.nodes) run.made += simulation.is_made(site.id);
  for (const analysis::HostReport& host : simulation.hosts().hosts) run.placed += host.bytes_placed;
  return run;
}

TEST_CASE("nodes without anything to do are not made, and nothing else changes by that") {
  const Scenario scenario = idle_story("");
  const IdleRun lazy = idle_run(scenario, false), eager = idle_run(scenario, true);
  CHECK(lazy.made == 2 + scenario.topology.planes);  // two hosts, and their T0 of each plane
  CHECK(eager.made == scenario.topology.nodes.size());
  CHECK(lazy.digest == eager.digest);
  CHECK(lazy.placed == eager.placed);
  CHECK(lazy.placed > 0);
}

TEST_CASE("a fault makes the nodes that it concerns") {
  const Scenario scenario = idle_story("faults:\n  - {at: 20us, nic_dead: {host: h5}}\n");
  const IdleRun lazy = idle_run(scenario, false), eager = idle_run(scenario, true);
  CHECK(lazy.made == 3 + 2 * scenario.topology.planes);  // and h5, with the T0s that it hangs on
  CHECK(lazy.digest == eager.digest);
}

TEST_CASE("hosts of a fabric with a mapper work by themselves: all are made") {
  Scenario scenario = idle_story("");
  scenario.fabric.mapper.on = scenario.topology.mapper.on = true;
  CHECK(idle_run(scenario, false).made == scenario.topology.nodes.size());
}

}  // namespace
}  // namespace mrclab::lab
