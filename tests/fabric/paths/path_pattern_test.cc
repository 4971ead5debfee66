#include "fabric/paths/path_pattern.h"
#include "fabric/paths/path_list.h"
#include "fabric/topology/build_topology.h"

#include <doctest/doctest.h>

#include "tests/support/fabrics.h"

using namespace mrclab;

namespace {

std::vector<std::string> read(const std::string& text) {
  std::vector<std::string> names;
  const YamlValue value = read_yaml_text("p: " + text, "f.yaml").require("p");
  for (const Path path : read_paths(value, test::octet())) names.push_back(to_string(path));
  return names;
}

}  // namespace

TEST_CASE("paths are read by name, pattern or number, in order and without repetition") {
  using Names = std::vector<std::string>;
  CHECK(read("p3/u1") == Names{"p3/u1"});
  CHECK(read("[p3/u1, p0/-, p3/u1]") == Names{"p0/-", "p3/u1"});
  CHECK(read("\"p0/*\"") == Names{"p0/u0", "p0/u1", "p0/u2", "p0/u3", "p0/-"});
  CHECK(read("\"p[6-7]/u2\"") == Names{"p6/u2", "p7/u2"});
  CHECK(read("\"p0/u1, p[6-7]/u2\"") == Names{"p0/u1", "p6/u2", "p7/u2"});
  CHECK(read("\"0x0005c002\"") == Names{"p5/u2"});
}

TEST_CASE("what names no path of the fabric is refused where it stands") {
  for (const char* text : {"\"p[6-8]/u0\"", "\"p0/u[0-4]\"", "\"p0/u0, p8/*\"", "p8/u0", "p0/u4",
                           "u0", "\"0x00050002\"", "\"0x\"", "[[p0/u0]]"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(read(text), InputError);
  }
  CHECK(has_path(test::octet(), {7, 3}));
  CHECK(has_path(test::octet(), {7, kT0LocalUplink}));
  CHECK(!has_path(test::octet(), {8, 0}));
  CHECK(!has_path(test::octet(), {0, 4}));
  // Values for a hash are of the fabric's underlay.
  FabricShape shape = test::shape_of("octet", 8, 2, 4, 4);
  for (const Underlay underlay : {Underlay::kIpv6, Underlay::kIpv4}) {
    shape.routing.underlay = underlay;
    const Topology topology = build_topology(shape);
    CHECK(has_path(topology, {0, 17, Chosen::kByHashIpv6}) == (underlay == Underlay::kIpv6));
    CHECK(has_path(topology, {0, 17, Chosen::kByHashIpv4}) == (underlay == Underlay::kIpv4));
  }
}
