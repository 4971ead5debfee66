// The output of `plan` for three tiers and for lists: what is counted is what is built.

#include "plan/graph_plan.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "fabric/text/yaml.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "plan/fabric_plan_text.h"
#include "plan/node_addresses.h"
#include "scenario/spec/shipped_files.h"
#include "switchd/forwarding_table.h"
#include "tests/support/texts.h"

namespace mrclab::lab {

TEST_CASE("three tiers of k-port switches have the counts of a fat tree, by the built graph") {
  const FabricShape shape = parse_fabric(read_yaml_text(
      "name: k8\nplanes: 1\npods: 8\nt0: 32\nt1: 32\nt2: 16\nhosts_per_t0: 4\n", "k8.yaml"));
  const FabricPlan p = plan_any_fabric(shape);
  const FatTree tree{8, 3};
  CHECK(p.hosts == tree.hosts());
  CHECK(p.switches() == tree.switches());
  CHECK(p.links() == tree.links());
  CHECK(p.longest_path == tree.longest_path());
  CHECK(p.tiers == 3);
  CHECK(p.t0_ports == 8);
  CHECK(p.t1_ports == 8);
  CHECK(p.t2_ports == 8);
  CHECK(p.evs_per_pair == 16);
  CHECK(p.oversubscription == Ratio{1, 1});
  CHECK(p.t1_oversubscription == Ratio{1, 1});
  CHECK(p.bisection_bps == 64 * uint64_t{100'000'000'000});
  const Topology t = build_topology(shape);
  CHECK(p.t0_routes.total() == switchd::ForwardingTable(t, t.t0(0, 0)).size() + 1);
  CHECK(p.t1_routes.total() == switchd::ForwardingTable(t, t.t1(0, 0)).size() + 1);
  CHECK(p.t2_routes.total() == switchd::ForwardingTable(t, t.t2(0, 0)).size() + 1);
  CHECK(test::mentions(plan_text(p), "T1-T2 links"));
  CHECK(plan_json(p).at("t2").at("t2") == 16);
  std::istringstream lines(plan_text(p));
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
  CHECK(node_addresses(p.outline, "p0.t2-5").size() == 1 + 8);
  CHECK_THROWS_AS(plan_any_fabric(shape, BitRate::from_gbps(700)), InputError);
}

TEST_CASE("a listed fabric is counted in its graph") {
  const FabricPlan p = plan_any_fabric(parse_fabric(read_yaml_file(find_fabric("ai-backend"))));
  CHECK(p.hosts == 4);
  CHECK(p.t0 == 4);
  CHECK(p.t1 == 2);
  CHECK(p.links() == 16);
  CHECK(p.evs_per_pair == 8);
}

}  // namespace mrclab::lab
