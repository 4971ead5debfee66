#include "live/world/process_plan.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "fabric/topology/fabric_file.h"
#include "live/bringup/process_names.h"
#include "netio/runtime/gate.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

std::vector<std::string> names_of(const ProcessPlan& plan) {
  std::vector<std::string> names;
  for (const ProcessPlan::Process& process : plan.processes) names.push_back(process.name);
  return names;
}

/// The process of each switch fits its plane, and every node has one.
void check_nodes(const Topology& topology, const ProcessPlan& plan, uint32_t shares) {
  for (const NodeSite& site : topology.nodes) {
    const uint32_t process = plan.process_of_node[site.id.value];
    REQUIRE(process < plan.processes.size());
    CHECK(plan.processes[process].endpoints == (site.role == NodeRole::kHost));
    if (site.role == NodeRole::kHost) continue;
    CHECK(process == 2 + site.plane * shares / topology.planes);
  }
}

}  // namespace

TEST_CASE(
    "daemons of switches share the planes, as many as asked for, at most one for each plane") {
  using Names = std::vector<std::string>;
  const Topology octet = read_fabric_file(MRCLAB_SOURCE_DIR "/topologies/fabrics/octet.yaml");
  REQUIRE(octet.planes == 8);
  struct Row {
    uint32_t wanted, shares;
    Names names;
  };
  for (const Row& row :
       {Row{0, 1, {"hosts-0", "hosts-1", "planes-0-7"}},
        Row{1, 1, {"hosts-0", "hosts-1", "planes-0-7"}},
        Row{2, 2, {"hosts-0", "hosts-1", "planes-0-3", "planes-4-7"}},
        Row{3, 3, {"hosts-0", "hosts-1", "planes-0-2", "planes-3-5", "planes-6-7"}},
        Row{7,
            7,
            {"hosts-0", "hosts-1", "planes-0-1", "plane-2", "plane-3", "plane-4", "plane-5",
             "plane-6", "plane-7"}},
        Row{99,
            8,
            {"hosts-0", "hosts-1", "plane-0", "plane-1", "plane-2", "plane-3", "plane-4", "plane-5",
             "plane-6", "plane-7"}}}) {
    CAPTURE(row.wanted);
    const ProcessPlan plan = plan_processes(octet, false, 2, row.wanted);
    CHECK(names_of(plan) == row.names);
    check_nodes(octet, plan, row.shares);
  }
}

TEST_CASE("the name of a daemon says which planes it runs, and no other name does") {
  struct Row {
    const char* name;
    uint32_t plane;
    bool runs;
  };
  for (const Row& row :
       {Row{"plane-3", 3, true}, Row{"plane-3", 2, false}, Row{"planes-0-3", 0, true},
        Row{"planes-0-3", 3, true}, Row{"planes-0-3", 4, false}, Row{"planes-10-11", 1, false},
        Row{"planes-0-3x", 1, false}, Row{"planes-0", 0, false}, Row{"planes-", 0, false},
        Row{"planes--1-3", 1, false}, Row{"planes-0-99999999999", 1, false},
        Row{"hosts-0", 0, false}, Row{"", 0, false}}) {
    CAPTURE(row.name);
    CHECK(runs_plane(row.name, row.plane) == row.runs);
  }
  CHECK(runs_plane(name_of_planes(2, 5), 4));
  CHECK(runs_plane(name_of_planes(7, 7), 7));
}

TEST_CASE("an isolated node has a daemon of its own, however many would share") {
  const Topology octet = read_fabric_file(MRCLAB_SOURCE_DIR "/topologies/fabrics/octet.yaml");
  const ProcessPlan plan = plan_processes(octet, true, 2, 1);
  CHECK(plan.processes.size() == octet.nodes.size());
}
