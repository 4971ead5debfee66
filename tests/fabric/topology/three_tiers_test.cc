// Planes of three tiers: pods of T0s and T1s below T2s.

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "fabric/paths/ecmp.h"
#include "fabric/paths/path_list.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/fare.h"
#include "fabric/topology/graph_paths.h"
#include "fabric/topology/path.h"
#include "fabric/topology/pattern.h"
#include "tests/support/errors.h"
#include "tests/support/texts.h"

using namespace mrclab;

namespace {

constexpr const char* kPodsText =
    "name: pods\nplanes: 2\npods: 3\nt0: 6\nt1: 6\nt2: 4\nhosts_per_t0: 2\n";

Topology tiers_in(const std::string& text) {
  return build_topology(parse_fabric(read_yaml_text(text, "f.yaml")));
}

std::string refusal_of_tiers(const std::string& text) {
  return test::error_of([&] { tiers_in(text); });
}

std::string with_part(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

/// "p0.t0-0:u1 p0.t1-1:u0 ...", without the NIC.
std::string ports_of_way(const Topology& t, uint32_t from, uint32_t to, Path path) {
  std::string text;
  for (const PortRef exit : exits_of(t, from, to, path)) {
    if (exit.node != t.host(from)) text += (text.empty() ? "" : " ") + t.port_name(exit);
  }
  return text;
}

}  // namespace

TEST_CASE("a plane of three tiers is a fat tree: T1 k of each pod hangs on the k-th group of T2s") {
  const Topology t = tiers_in(kPodsText);
  CHECK(t.host_count() == 12);
  CHECK(t.nodes.size() == 12 + 2 * (6 + 6 + 4));
  CHECK(t.links.size() == 2 * (12 + 12 + 12));
  CHECK_FALSE(t.regular());
  CHECK(t.has_planes());
  CHECK(t.planes_apart);
  CHECK(t.longest_path == 5);
  CHECK(t.node(t.t2(1, 3)).name == "p1.t2-3");
  CHECK(t.node(t.t2(1, 3)).role == NodeRole::kT2);
  CHECK(t.node(t.t1(0, 5)).pod == 2);
  CHECK(t.link_name(t.port(*t.find_port("p0.t1-3:u0")).link) == "p0.t1-3:u0--p0.t2-2:d1");
  CHECK(t.link_name(t.port(*t.find_port("p1.t0-4:u1")).link) == "p1.t0-4:u1--p1.t1-5:d0");
}

TEST_CASE("the number of a path between pods is that of its T2, within a pod that of its T1") {
  const Topology t = tiers_in(kPodsText);
  CHECK(paths_between(t, 0, 11).size() == 2 * 4);
  CHECK(paths_between(t, 0, 2).size() == 2 * 2);
  CHECK(paths_between(t, 0, 1) == std::vector<Path>{{0, kT0LocalUplink}, {1, kT0LocalUplink}});
  for (uint32_t u = 0; u < 4; ++u) {
    const std::string up = std::to_string(u / 2), n = std::to_string(u % 2);
    CHECK(ports_of_way(t, 0, 11, {1, u}) == "p1.t0-0:u" + up + " p1.t1-" + up + ":u" + n +
                                                " p1.t2-" + std::to_string(u) + ":d2 p1.t1-" +
                                                std::to_string(4 + u / 2) + ":d1 p1.t0-5:d1");
    CHECK(path_back(t, 0, 11, {1, u}) == Path{1, u});
  }
  CHECK(ports_of_way(t, 0, 2, {0, 1}) == "p0.t0-0:u1 p0.t1-1:d1 p0.t0-1:d0");
}

TEST_CASE("a carrier over a T2 fills all six uSIDs, in both address plans") {
  CHECK(to_string(make_carrier(tiers_in(kPodsText), 0, 11, {1, 3})) ==
        "5f00:0:2100:1101:3103:1105:2105:e101");
  CHECK(to_string(make_carrier(tiers_in(std::string(kPodsText) + "address_plan: full\n"), 0, 11,
                               {1, 3})) == "5f00:0:4800:8801:8c03:8805:4805:c801");
}

TEST_CASE("with t2_links: mesh each T1 hangs on each T2, and paths are triples of T1, T2 and T1") {
  const Topology t = tiers_in(std::string(kPodsText) + "t2_links: mesh\n");
  CHECK(t.links.size() == 2 * (12 + 12 + 24));
  CHECK(paths_between(t, 0, 11).size() == 2 * 2 * 4 * 2);
  std::set<std::string> ways;
  for (const Path path : paths_between(t, 0, 11)) {
    ways.insert(ports_of_way(t, 0, 11, path));
    CHECK(path_back(t, 11, 0, *path_back(t, 0, 11, path)) == path);
  }
  CHECK(ways.size() == 32);
}

TEST_CASE("pods, T2s and their links read back from what they are written as") {
  const FabricShape shape = parse_fabric(read_yaml_text(
      std::string(kPodsText) + "t2_links: mesh\noptics: {t1_uplinks: 2}\n", "f.yaml"));
  const FabricShape again = parse_fabric(read_yaml_text(to_yaml(shape), "again.yaml"));
  CHECK(again.pods == 3);
  CHECK(again.t2 == 4);
  CHECK(again.t2_links == T2Links::kMesh);
  CHECK(again.t1_uplinks_per_optic == 2);
  CHECK(to_yaml(again) == to_yaml(shape));
}

TEST_CASE("numbers that make no pods are refused where they stand") {
  const std::string text = kPodsText;
  CHECK(test::mentions(refusal_of_tiers(with_part(text, "pods: 3\n", "")), "0 pods and 4 T2s"));
  CHECK(test::mentions(refusal_of_tiers(with_part(text, "t2: 4\n", "")), "3 pods and 0 T2s"));
  CHECK(test::mentions(refusal_of_tiers(with_part(text, "t0: 6", "t0: 5")),
                       "5 T0s and 6 T1s in 3 pods"));
  CHECK(test::mentions(refusal_of_tiers(with_part(text, "t1: 6", "t1: 4")),
                       "6 T0s and 4 T1s in 3 pods"));
  CHECK(test::mentions(refusal_of_tiers(with_part(text, "t2: 4", "t2: 3")),
                       "3 T2s for the 2 T1s of a pod"));
  CHECK(test::mentions(refusal_of_tiers(with_part(text, "t2: 4", "t2: 300")), "f.yaml:6"));
  CHECK(test::mentions(
      refusal_of_tiers("name: m\nplanes: 1\nt0: 2\nt1: 2\nhosts_per_t0: 1\nt2_links: mesh\n"),
      "\"t2\" beside it"));
  CHECK(test::mentions(refusal_of_tiers(text + "nics_per_node: 3\n"), "2 T0s in a pod"));
  CHECK(test::mentions(refusal_of_tiers("name: m\nplanes: 1\npods: 2\nt0: 2\nt1: 128\nt2: 256\n"
                                        "hosts_per_t0: 1\nt2_links: mesh\n"),
                       "more than 1024 shortest paths"));
}

TEST_CASE("the uplinks of a T1 may share transceivers, which are named like those of a T0") {
  const Topology t = tiers_in(std::string(kPodsText) + "optics: {t1_uplinks: 2}\n");
  NameResolver names(t, 0);
  const auto optics = names.optics("p1.t1-2:uo0");
  REQUIRE(optics.size() == 1);
  CHECK(t.optic(optics[0]).links == std::vector<LinkId>{t.port(*t.find_port("p1.t1-2:u0")).link,
                                                        t.port(*t.find_port("p1.t1-2:u1")).link});
}

TEST_CASE("switches of three tiers hash at each tier: a hashed path is one of the built ones") {
  const Topology t = tiers_in(std::string(kPodsText) + "routing: ecmp\n");
  std::map<uint32_t, uint32_t> taken;
  for (uint32_t number = 0; number < 400; ++number) {
    const auto path = path_between(t, 0, 11, {1, number, Chosen::kByHashIpv6});
    REQUIRE(path);
    CHECK(path->plane == 1);
    ++taken[path->uplink];
  }
  REQUIRE(taken.size() == 4);
  for (const auto& [uplink, count] : taken) CHECK(count > 60);
  CHECK(path_between(t, 0, 1, {0, 7, Chosen::kByHashIpv6}) == Path{0, kT0LocalUplink});
}

TEST_CASE(
    "where T2s are, each pod's T1s are one AS, a plane's T2s another, and T0s each their own") {
  const Topology t = tiers_in(std::string(kPodsText) + "routing: fare\n");
  CHECK(as_number(t, t.t1(0, 0)) == as_number(t, t.t1(0, 1)));
  CHECK(as_number(t, t.t2(0, 0)) == as_number(t, t.t2(0, 3)));
  std::set<uint32_t> systems;
  for (uint32_t plane = 0; plane < 2; ++plane) {
    for (uint32_t i = 0; i < 6; ++i) systems.insert(as_number(t, t.t0(plane, i)));
    for (uint32_t i = 0; i < 6; i += 2) systems.insert(as_number(t, t.t1(plane, i)));
    systems.insert(as_number(t, t.t2(plane, 0)));
  }
  CHECK(systems.size() == 2 * (6 + 3 + 1));
}

TEST_CASE(
    "a fabric of 4,096 hosts in three tiers is built at once, its paths measured and not listed") {
  const char* const text =
      "name: large\nplanes: 4\npods: 16\nt0: 256\nt1: 256\nt2: 256\nhosts_per_t0: 16\n";
  const Topology t = build_topology(parse_fabric(read_yaml_text(text, "f.yaml"), 10'000));
  CHECK(t.host_count() == 4096);
  CHECK(paths_between(t, 0, 4095).size() == 4 * 256);
  CHECK(to_string(make_carrier(t, 0, 4095, {3, 255})) == "5f00:0:2300:130f:33ff:13ff:23ff:e30f");
}
