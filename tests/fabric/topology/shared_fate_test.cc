// What fails together: transceivers of uplinks, line cards, power zones.

#include <doctest/doctest.h>

#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/pattern.h"
#include "tests/support/errors.h"

using namespace mrclab;

namespace {

const std::string kTwoPlanes = "name: x\nplanes: 2\nt0: 2\nt1: 4\nhosts_per_t0: 3\n";

FabricShape planes_with(const std::string& text) {
  return parse_fabric(read_yaml_text(text, "f.yaml"));
}
Topology with(const std::string& more) { return build_topology(planes_with(kTwoPlanes + more)); }
std::string planes_error(const std::string& more) {
  return test::error_of([&] { with(more); });
}

std::string names(const Topology& t, const std::vector<NodeId>& nodes) {
  std::string text;
  for (const NodeId node : nodes) text += (text.empty() ? "" : " ") + t.node(node).name;
  return text;
}

}  // namespace

TEST_CASE("uplinks share transceivers where the fabric says so, behind those of downlinks") {
  CHECK(with("").optics.size() == 4);  // of three downlinks each
  const Topology t = with("optics: {t0_downlinks: 2, t0_uplinks: 2}\n");
  NameResolver names_in(t, 0);
  const std::vector<OpticId> up = names_in.optics("p0.t0-0:uo*");
  REQUIRE(up.size() == 2);
  CHECK(t.optic(up[1]).name == "p0.t0-0:uo1");
  REQUIRE(t.optic(up[1]).links.size() == 2);
  CHECK(t.link_name(t.optic(up[1]).links[0]) == "p0.t0-0:u2--p0.t1-2:d0");
  CHECK(names_in.optics("p0.t0-0:o*").size() == 2);
  // Written back and read again it is the same.
  const FabricShape shape = planes_with(kTwoPlanes + "optics: {t0_downlinks: 0, t0_uplinks: 4}\n");
  CHECK(planes_with(to_yaml(shape, 0)).uplinks_per_optic == 4);
  CHECK(build_topology(planes_with(to_yaml(shape, 0))).optics.size() == 4);
}

TEST_CASE("neighbouring ports of a switch are on one line card") {
  const Topology t = with("line_cards: {ports: 3}\n");
  NameResolver names_in(t, 0);
  const std::vector<PortRef> cards = names_in.line_cards("p1.t0-1:c*");
  REQUIRE(cards.size() == 3);  // three downlinks, four uplinks
  CHECK(t.line_card_name(cards[1]) == "p1.t0-1:c1");
  const std::vector<PortRef> ports = t.line_card_of(cards[1]);
  REQUIRE(ports.size() == 3);
  CHECK(t.port_name(ports[0]) == "p1.t0-1:u0");
  CHECK(t.line_card_of(cards[2]).size() == 1);
  CHECK(test::error_of([&] { names_in.line_cards("p1.t0-1:c9"); }) != "no error");
  CHECK(to_yaml(planes_with(kTwoPlanes), 0).find("line_cards") == std::string::npos);
}

TEST_CASE("planes have a power zone for each rack and for each rack of spines") {
  const Topology t = with("");
  REQUIRE(t.power_zones.size() == 6);
  CHECK(t.power_zones[1].name == "rack-1");
  CHECK(names(t, t.power_zones[1].nodes) == "h3 h4 h5 p0.t0-1 p1.t0-1");
  CHECK(t.power_zones[5].name == "spine-3");
  CHECK(names(t, t.power_zones[5].nodes) == "p0.t1-3 p1.t1-3");
}

TEST_CASE("a fabric's own zones take the place of those; a node is in one at most") {
  const std::string zones = "power_zones: {feed-a: \"p0.*\", feed-b: [h0, \"p1.t1-*\"]}\n";
  const Topology t = with(zones);
  REQUIRE(t.power_zones.size() == 2);
  CHECK(names(t, t.power_zones[1].nodes) == "h0 p1.t1-0 p1.t1-1 p1.t1-2 p1.t1-3");
  CHECK(
      build_topology(planes_with(to_yaml(planes_with(kTwoPlanes + zones), 0))).power_zones.size() ==
      2);
  CHECK(planes_error("power_zones: {a: \"p0.*\", b: [h0, \"p0.t1-0\"], c: h99}\n") ==
        "f.yaml:6:29: found p0.t1-0, which is in a: expected each node in one zone at most\n"
        "f.yaml:6:49: found \"h99\", which names no node: expected a name such as \"h0\"");
}

TEST_CASE("a number of hosts is told where the fabric counts them, beside what else is wrong") {
  CHECK(
      test::error_of([] { planes_with("name: x\nplanes: 2\nhosts: 16\nt0: many\n"); }) ==
      "f.yaml:3:8: found \"16\": expected \"hosts_per_t0: 4\" (with \"t0: 4\" these are 16 hosts) "
      "in place of it\n"
      "f.yaml:4:5: found \"many\": expected a whole number from 1 to 512");
}
