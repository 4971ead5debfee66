#include "live/bringup/ordinary_paths.h"
#include "scenario/spec/shipped_files.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "fabric/paths/path_list.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/pattern.h"
#include "fabric/topology/routes.h"
#include "faults/fault.h"
#include "faults/schedule.h"

namespace mrclab::lab {
namespace {

Topology fabric(const char* name) { return read_fabric_file(lab::find_fabric(name)); }

/// What is dead while a fault is in force, given as it would be in a scenario.
DeadParts dead_after(const Topology& topology, const std::string& kind, const std::string& body) {
  NameResolver names(topology, 1);
  const auto fault = faults::parse_fault(*faults::find_fault(kind), FabricTime::from_us(1),
                                         read_yaml_text(body, "test"), names);
  DeadParts dead(topology);
  const FabricTime during = FabricTime::from_us(1) + FabricTime::from_ns(500);
  for (const Effect& effect :
       faults::replay(faults::compile({fault}, topology), during).degraded_targets()) {
    dead.add(effect);
  }
  return dead;
}

TEST_CASE("ordinary traffic of every pair of hosts uses every plane, and all of them every spine") {
  const Topology octet = fabric("octet");
  std::set<std::pair<uint32_t, uint32_t>> spines;
  for (uint32_t from = 0; from < 8; ++from) {
    for (uint32_t to = 0; to < 8; ++to) {
      if (from == to) continue;
      std::set<uint32_t> planes;
      std::vector<Path> paths = ordinary_paths(octet, from, to, DeadParts(octet));
      for (const Path path : paths) {
        CHECK(has_path(octet, from, to, path));
        planes.insert(path.plane);
        if (path.uplink != kT0LocalUplink) spines.insert({path.plane, path.uplink});
      }
      CHECK(planes.size() == 8);
      CHECK(paths == ordinary_paths(octet, to, from, DeadParts(octet)));
    }
  }
  CHECK(spines.size() == 8 * 4);
}

TEST_CASE("what is known to carry nothing is avoided, and nothing else is") {
  struct Case {
    const char *fault, *body;
    size_t ways;          ///< from h0 to h5 that are left
    const char* avoided;  ///< a pattern of the wires that no path may have
  };
  const Case cases[] = {
      {"link_down", "{link: h0:p3}", 7, "h0:p3->*:*"},
      {"link_down", "{link: h5:p2}", 7, "*:*->h5:p2"},
      {"link_down", "{link: [\"p1.t0-0:u0\", \"p1.t0-0:u1\", \"p1.t0-0:u2\"]}", 8,
       "p1.t0-0:u[0-2]->*:*"},
      {"port_down", "{port: \"p1.t1-3:d1\"}", 8, "p1.t1-3:d1->*:*"},
      {"optic_dead", "{optic: \"p2.t0-1:o0\"}", 7, "p2.t0-1:d*->*:*"},
      {"blackhole", "{link: \"p4.t0-0:u*\", direction: up}", 7, "p4.t0-0:u*->*:*"},
      {"wire_loss", "{link: \"p4.t0-1:u*\", direction: down, loss: 100%}", 7, "*:*->p4.t0-1:u*"},
      {"switch_hang", "{switch: \"p6.t1-[0-2]\"}", 8, "*:*->p6.t1-[0-2]:*"},
      {"switch_crash", "{switch: p7.t0-1}", 7, "*:*->p7.t0-1:*"},
      {"switch_missing_route", "{route: \"p0.t0-0:u[1-3]\"}", 8, "p0.t0-0:u[1-3]->*:*"},
      {"switch_missing_route", "{route: \"p0.t0-1:d1\"}", 7, "p0.t0-1:d1->*:*"},
      {"plane_down", "{plane: p5}", 7, "h0:p5->*:*"},
      {"wire_loss", "{link: \"h0:p*\", loss: 50%}", 8, nullptr},
      {"delay", "{link: \"h0:p*\", by: 2us}", 8, nullptr},
      {"rate", "{link: \"h0:p*\", to: 1Gb/s}", 8, nullptr},
      {"host_pause", "{host: h5}", 8, nullptr},
      {"pcie_stall", "{host: h5}", 8, nullptr},
      {"nic_dead", "{host: h5}", 0, nullptr},
  };
  const Topology octet = fabric("octet");
  for (const Case& c : cases) {
    CAPTURE(std::string(c.fault));
    CAPTURE(std::string(c.body));
    const DeadParts dead = dead_after(octet, c.fault, c.body);
    const std::vector<Path> paths = ordinary_paths(octet, 0, 5, dead);
    CHECK(paths.size() == c.ways);
    std::set<WireId> avoided;
    if (c.avoided != nullptr) {
      NameResolver names(octet, 1);
      const std::vector<WireId> wires = names.wires(c.avoided);
      avoided.insert(wires.begin(), wires.end());
    }
    for (const Path path : paths) {
      for (const PortRef exit : exits_of(octet, 0, 5, path)) {
        CHECK_FALSE(avoided.contains(octet.port(exit).out));
      }
    }
  }
}

TEST_CASE("in a graph a dead link at the destination leads over its other leaf") {
  const Topology graph = fabric("ai-backend");
  CHECK(ordinary_paths(graph, 0, 2, DeadParts(graph)).size() == 2);  // one out of each NIC port
  const DeadParts dead = dead_after(graph, "link_down", "{link: h2:p0}");
  const std::vector<Path> paths = ordinary_paths(graph, 0, 2, dead);
  CHECK(paths.size() == 2);
  for (const Path path : paths) {
    CHECK(exits_of(graph, 0, 2, path).back().node == *graph.find_node("leaf4"));
  }
  CHECK(ordinary_paths(graph, 0, 2, dead_after(graph, "link_down", "{link: \"h2:*\"}")).empty());
}

TEST_CASE("a fabric of many hosts gives each pair fewer ways, and never none") {
  CHECK(most_ordinary_ways(fabric("hall")) == 8);
  CHECK(most_ordinary_ways(fabric("campus")) == 2);
  const Topology metro = fabric("metro");
  CHECK(most_ordinary_ways(metro) == 1);
  const std::vector<Path> before = ordinary_paths(metro, 0, 1000, DeadParts(metro));
  REQUIRE(before.size() == 1);
  const std::string link = "{link: \"h0:p" + std::to_string(before.front().plane) + "\"}";
  const std::vector<Path> after =
      ordinary_paths(metro, 0, 1000, dead_after(metro, "link_down", link));
  REQUIRE(after.size() == 1);
  CHECK(after.front().plane != before.front().plane);
}

}  // namespace
}  // namespace mrclab::lab
