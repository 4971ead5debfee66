// `plan --simulate`: what it foretells of memory and of letters between ranks, against simulations.

#include "plan/simulation_plan.h"

#include <doctest/doctest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "fabric/text/yaml.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "scenario/simulation/simulation.h"
#include "scenario/spec/scenario.h"
#include "scenario/spec/shipped_files.h"
#include "tests/lab/support/thread_ranks.h"
#include "tests/support/nightly.h"
#include "tests/support/no_observer.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

FabricShape planes_of(uint32_t t0, uint32_t t1, uint32_t hosts_per_t0) {
  FabricShape shape;
  shape.name = "f";
  shape.planes = 4;
  shape.t0 = t0;
  shape.t1 = t1;
  shape.hosts_per_t0 = hosts_per_t0;
  return shape;
}

/// A link that counts what its rank sends.
class CountingLink : public RankLink {
 public:
  explicit CountingLink(RankLink& link) : link_(link) {}
  uint32_t rank() const override { return link_.rank(); }
  uint32_t count() const override { return link_.count(); }
  std::string machine() const override { return link_.machine(); }
  WindowVote agree(const WindowVote& own) override { return link_.agree(own); }
  const std::vector<Bytes>& exchange(const std::vector<Bytes>& to) override {
    for (const Bytes& message : to) sent += message.size();
    return link_.exchange(to);
  }
  std::vector<std::string> gather(const std::string& own) override { return link_.gather(own); }
  uint64_t sent = 0;

 private:
  RankLink& link_;
};

/// Bytes that two ranks send each other per microsecond of fabric time, once a permutation is in full swing.
double bytes_between_two_ranks(const FabricShape& shape) {
  constexpr int64_t kFrom = 30, kTo = 60;
  const Scenario scenario = parse_scenario(
      read_yaml_text("name: f\nfabric:\n" + to_yaml(shape, 2) +
                         "end: 60us\npayload: elided\nworkload:\n  - permutation: {hosts: all, "
                         "shift: " +
                         std::to_string(shape.hosts_per_t0) + ", load: 90%, message: 1MiB}\n",
                     "f.yaml"));
  test::ThreadRanks ranks(2);
  test::NoObserver silence;
  std::array<uint64_t, 2> sent{};
  const auto simulate = [&](uint32_t rank) {
    CountingLink link(ranks.link(rank));
    Simulation simulation(
        scenario, 1, [&](NodeId) -> NodeObserver& { return silence; }, &link);
    simulation.run({}, FabricTime::from_us(kFrom));
    const uint64_t before = link.sent;
    simulation.run({}, FabricTime::from_us(kTo));
    sent[rank] = link.sent - before;
  };
  {
    const std::jthread other(simulate, 1);
    simulate(0);
  }
  return static_cast<double>(sent[0] + sent[1]) / (kTo - kFrom);
}

TEST_CASE("what is planned for two ranks is what two ranks send each other" *
          doctest::test_suite(test::kWholeRun)) {
  const FabricShape shape = planes_of(8, 8, 8);
  const SimulationPlan plan = plan_simulation(shape);
  REQUIRE(plan.ranks.size() > 1);
  const RankCost& two = plan.ranks[1];
  REQUIRE(two.ranks == 2);
  const double planned = 2 * two.sent * two.windows;
  const double real = bytes_between_two_ranks(shape);
  CHECK(planned == doctest::Approx(real).epsilon(0.1));
}

TEST_CASE("a plan for a fabric is made of smaller ones, and grows with its size" *
          doctest::test_suite(test::kWholeRun)) {
  const SimulationPlan small = plan_simulation(planes_of(4, 4, 8));
  REQUIRE(small.samples.size() == 1);
  CHECK(small.samples[0].hosts == 32);
  CHECK(small.core_us == small.samples[0].core_us);
  const SimulationPlan large = plan_simulation(planes_of(32, 64, 64));
  REQUIRE(large.samples.size() == 2);
  CHECK(large.samples[0].hosts == 512);
  CHECK(large.samples[1].hosts == 2048);
  CHECK(large.hosts == 2'048);
  CHECK(large.ports == 4 * 32 * 2 * (64 + 64));
  CHECK(large.core_us >= large.samples[1].core_us);
  for (const SimulationSample& sample : large.samples) {
    CHECK(sample.delivered > 100);
    CHECK(sample.core_us > 0);
    CHECK(sample.host_frames > 2);          // the packet leaves one host and comes to another
    CHECK(sample.cross_shard_frame > 150);  // its headers
    CHECK(sample.cross_shard_frame < 250);
    CHECK(sample.host_bytes > 10'000);
    CHECK(sample.port_bytes > 10);  // it keeps one of the four planes
    CHECK(sample.port_bytes < 50);
  }
  // 90 % of 4 x 100 Gb/s, in packets of 4096 bytes.
  CHECK(large.packets == doctest::Approx(2'048 * 0.9 * 400e9 / 8 / 4096 * 1e-6).epsilon(0.1));
  for (size_t i = 1; i < large.ranks.size(); ++i) {
    CHECK(large.ranks[i].memory < large.ranks[i - 1].memory);
    CHECK(large.ranks[i].memory > large.topology_bytes);
  }
  std::istringstream lines(simulation_text(large));
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
  CHECK(simulation_json(large)["ranks"].size() == large.ranks.size());
}

TEST_CASE("what other fabrics are made of is planned, too: lists of switches, one row, no T1") {
  for (const char* name : {"pair", "octet", "ai-backend", "ring", "hall"}) {
    CAPTURE(name);
    const FabricShape shape = parse_fabric(read_yaml_file(find_fabric(name)));
    const SimulationPlan plan = plan_simulation(shape);
    CHECK(plan.samples.size() == 1);
    CHECK(plan.hosts == build_topology(shape).host_count());
    CHECK(plan.ports == 2 * build_topology(shape).links.size());
    CHECK(plan.samples[0].delivered > 0);
  }
  CHECK_THROWS_AS(plan_simulation(planes_of(1, 0, 1)), InputError);
}

TEST_CASE("of three tiers the samples are fewer pods, and the ports are those that are built") {
  const FabricShape shape = parse_fabric(read_yaml_text(
      "name: k8\nplanes: 1\npods: 8\nt0: 32\nt1: 32\nt2: 16\nhosts_per_t0: 4\n", "k8.yaml"));
  const SimulationPlan plan = plan_simulation(shape);
  REQUIRE(plan.samples.size() == 2);
  CHECK(plan.samples[0].hosts == 2 * 4 * 4);
  CHECK(plan.samples[1].hosts == 8 * 4 * 4);  // 8 pods have fewer T0s than the larger sample may
  CHECK(plan.hosts == 128);
  CHECK(plan.ports == 2 * build_topology(shape).links.size());
}

}  // namespace
