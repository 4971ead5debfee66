// NICs that speak BGP in many planes, end to end: what is shown of a NIC's table, and how large tables become.

#include <doctest/doctest.h>

#include "console/switch_rows.h"
#include "endpoint/host/host_table.h"
#include "fabric/topology/fabric_file.h"
#include "lab/run/scenario_run.h"
#include "plan/fare_view.h"
#include "plan/nic_routes.h"
#include "scenario/simulation/simulation.h"
#include "scenario/spec/shipped_files.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/no_observer.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {}  // namespace

TEST_CASE("inspect shows a NIC's table: which planes lead to whom, sessions, and its size") {
  const Scenario scenario = load_scenario("fare-plane-lost");
  test::NoObserver none;
  Simulation simulation(scenario, 1, [&](NodeId) -> NodeObserver& { return none; });
  simulation.run({}, FabricTime::from_us(400));
  const Topology& t = scenario.topology;
  const NodeId host = *t.find_node("h0");
  const auto said = endpoint::table_json(t, simulation.host_at(host));
  const std::string text = switch_table_text(table_of_host(t.node(host), said));
  CHECK(text.find("h0: forwarded by its NIC") == 0);
  CHECK(text.find("p1*1,p2*1,p3*1") != std::string::npos);
  CHECK(text.find("5 prefixes known, 4 of them in the forwarding table") != std::string::npos);
  CHECK(text.find("p3.t0-0") != std::string::npos);
  CHECK(text.find("fd00:2::/32") != std::string::npos);
}

TEST_CASE("trace fare says how the sender's NIC weighs planes, whatever NICs are told") {
  for (const char* nics : {"all", "aggregates", "wanted"}) {
    CAPTURE(nics);
    const Topology t = read_fabric_file(find_fabric("fare-planes"));
    Topology asked = t;
    asked.routing.fare.nics = std::string_view(nics) == "all"          ? NicRoutes::kAll
                              : std::string_view(nics) == "aggregates" ? NicRoutes::kAggregates
                                                                       : NicRoutes::kWanted;
    CHECK(explain_fare(asked, {"h0", "h5", {}}).at("weights") == nlohmann::json{1, 1, 1, 1});
    const auto down = explain_fare(asked, {"h0", "h5", "h5:p0"});
    CHECK(down.at("weights") == nlohmann::json{0, 1, 1, 1});
    CHECK(fare_text(down).find("planes     0:1:1:1, as the NIC of h0 weighs them") !=
          std::string::npos);
  }
}

TEST_CASE("plan says how many routes 100,000 hosts take in four planes") {
  PlanRequest request;
  request.hosts = 100'000;
  request.planes = 4;
  request.hosts_per_t0 = 250;
  const NicRoutePlan plan = plan_nic_routes(plan_fabric(shape_of(request)), 1024);
  REQUIRE(plan.ways.size() == 3);
  const auto nic = [&](size_t way) {
    return std::pair(plan.ways[way].nic.prefixes, plan.ways[way].nic.paths);
  };
  CHECK(nic(0) == std::pair(uint64_t{100'000}, uint64_t{399'997}));
  CHECK(nic(1) == std::pair(uint64_t{401}, uint64_t{1'601}));
  CHECK(nic(2) == std::pair(uint64_t{1'024}, uint64_t{4'093}));
  CHECK(plan.ways[1].t1.prefixes == 400);
  CHECK(plan.ways[1].per_lost == 1);
  CHECK(plan.ways[2].filter == 1'023);
  CHECK(nic_routes_text(plan).find("399,997") != std::string::npos);
  // The arithmetic is that of tables as they are (tests/endpoint/host/host_routes_test.cc): six hosts, three rows.
  PlanRequest small;
  small.hosts = 6;
  small.planes = 4;
  small.hosts_per_t0 = 2;
  small.t1 = 2;
  const NicRoutePlan six = plan_nic_routes(plan_fabric(shape_of(small)), 2);
  CHECK(six.ways[0].nic.prefixes == 6);
  CHECK(six.ways[1].nic.prefixes == 4);
  CHECK(six.ways[2].nic.prefixes == 2);
}
