#include <doctest/doctest.h>

#include <set>

#include "fabric/topology/build_topology.h"
#include "fabric/topology/pattern.h"
#include "tests/support/errors.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::test;

namespace {

std::vector<std::string> node_names(const Topology& t, const std::vector<NodeId>& ids) {
  std::vector<std::string> names;
  for (const NodeId id : ids) names.push_back(t.node(id).name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("names, patterns, lists and all resolve to nodes in the order of the topology") {
  const Topology t = octet();
  NameResolver names(t, 1);
  CHECK(node_names(t, names.hosts("h3")) == Names{"h3"});
  CHECK(node_names(t, names.hosts("h5, h1,h5")) == Names{"h1", "h5"});
  CHECK(node_names(t, names.hosts("h[0-2], h7")) == Names{"h0", "h1", "h2", "h7"});
  CHECK(names.hosts("all").size() == 8);
  CHECK(names.nodes("all").size() == 56);
  CHECK(names.switches("all").size() == 48);
  CHECK(names.switches("p*.t1-0").size() == 8);
  CHECK(names.nodes("p3.*").size() == 6);
}

TEST_CASE("numbers in brackets are numbers, of several digits and in the middle of names") {
  const Topology t = build_topology(shape_of("two-racks", 2, 2, 4, 8));  // 16 hosts
  NameResolver names(t, 1);
  const Names four{"h8", "h9", "h10", "h11"};
  for (const char* text : {"h[8-11]", "h{8..11}", "h8-h11", "h[8,9,10-11]", "h[8-9], h1[0-1]"}) {
    CHECK_MESSAGE(node_names(t, names.hosts(text)) == four, text);
  }
  CHECK(node_names(t, names.hosts("h[12-15]")) == Names{"h12", "h13", "h14", "h15"});
  CHECK(node_names(t, names.hosts("h[!1-15]")) == Names{"h0"});
  CHECK(names.links("p[0-1].t0-*:u[0-3]").size() == 16);
  CHECK(names.links("p0-p1.t0-0:u0-u3").size() == 8);
  CHECK(names.links("h[8-11]:p[0-1]--p*.t0-1:d{0..3}").size() == 8);
  CHECK(names.wires("h10-h12:p0->*:*").size() == 3);
  CHECK(names.planes("p[0-1]").size() == 2);
  CHECK(names.hosts("random(2, h[12-15])").size() == 2);
}

TEST_CASE("a pattern that names more than there is is refused, wherever it stands") {
  const Topology t = octet();
  NameResolver n(t, 1);
  struct Row {
    std::string error;
    const char* expected;
  };
  for (
      const Row& row : {
          Row{error_of([&] { n.hosts("h[12-15]"); }),
              "found \"h[12-15]\", which names \"h12\": no host has that name (4 of the 4 are "
              "missing): expected a name such as \"h0\""},
          Row{error_of([&] { n.hosts("h{6..9}"); }),
              "found \"h{6..9}\", which names \"h8\": no host has that name (2 of the 4 are "
              "missing): expected only what is there, such as \"h6\", \"h7\""},
          Row{error_of([&] { n.hosts("h0-h8"); }),
              "found \"h0-h8\", which names \"h8\": no host has that name: expected only what is "
              "there, such as \"h0\", \"h1\", \"h2\", \"h3\" and so on"},
          Row{error_of([&] { n.hosts("h0, h[7-8]"); }),
              "found \"h[7-8]\", which names \"h8\": no host has that name: expected only what is "
              "there, such as \"h7\""},
          Row{error_of([&] { n.hosts("random(1, h[7-8])"); }),
              "found \"h[7-8]\", which names \"h8\": no host has that name: expected only what is "
              "there, such as \"h7\""},
          Row{error_of([&] { n.hosts("h[!8]"); }),
              "found \"h[!8]\", which names \"h8\": no host has that name: expected a name such as "
              "\"h0\""},
          Row{error_of([&] { n.links("p[0-8].t0-*:u0"); }),
              "found \"p[0-8].t0-*:u0\", which names \"p8.t0-*:u0\": no link matches that: "
              "expected only what is there, such as \"p0.t0-0:u0\", \"p0.t0-1:u0\", "
              "\"p1.t0-0:u0\", \"p1.t0-1:u0\" and so on"},
          Row{error_of([&] { n.wires("h[7-8]:p0->*:*"); }),
              "found \"h[7-8]:p0->*:*\", which names \"h8:p0->*:*\": no wire matches that: "
              "expected only what is there, such as \"h7:p0->p0.t0-1:d3\""},
          Row{error_of([&] { n.planes("p[6-9]"); }),
              "found \"p[6-9]\", which names \"p8\": no plane has that name (2 of the 4 are "
              "missing): expected only what is there, such as \"p6\", \"p7\""},
      }) {
    CHECK(row.error == row.expected);
  }
}

TEST_CASE("a link is named by either of its ports or by both in either order") {
  const Topology t = octet();
  NameResolver names(t, 1);
  const auto by_host = names.links("h3:p2");
  REQUIRE(by_host.size() == 1);
  CHECK(t.link_name(by_host[0]) == "h3:p2--p2.t0-0:d3");
  CHECK(names.links("p2.t0-0:d3") == by_host);
  CHECK(names.links("h3:p2--p2.t0-0:d3") == by_host);
  CHECK(names.links("p2.t0-0:d3--h3:p2") == by_host);
  CHECK(names.links("h3:p2, p2.t0-0:d3") == by_host);
  CHECK(names.links("h*:p0--p0.t0-1:*").size() == 4);
  CHECK(names.links("all").size() == 128);
}

TEST_CASE("a wire is a link with a direction") {
  const Topology t = octet();
  NameResolver names(t, 1);
  const auto up = names.wires("h3:p2->p2.t0-0:d3");
  const auto down = names.wires("p2.t0-0:d3->h3:p2");
  REQUIRE(up.size() == 1);
  REQUIRE(down.size() == 1);
  CHECK(t.wire_name(up[0]) == "h3:p2->p2.t0-0:d3");
  CHECK(t.wire(up[0]).link == t.wire(down[0]).link);
  CHECK(up[0] != down[0]);
  CHECK(names.wires("h*:p0->*:*").size() == 8);
}

TEST_CASE("ports and optics resolve by their names") {
  const Topology t = octet();
  NameResolver names(t, 1);
  CHECK(names.ports("h[0-3]:p2").size() == 4);
  CHECK(names.ports("p*.t0-*:u0").size() == 16);
  const auto optics = names.optics("p0.t0-0:o0");
  REQUIRE(optics.size() == 1);
  CHECK(t.optic(optics[0]).links.size() == 4);
  CHECK(names.optics("all").size() == 16);
}

TEST_CASE("random draws without replacement, by the seed alone") {
  const Topology t = octet();
  const std::string_view text = "random(5, p*.t0-*:u*)";
  NameResolver first(t, 7);
  NameResolver again(t, 7);
  NameResolver other(t, 8);
  const auto drawn = first.links(text);
  CHECK(drawn.size() == 5);
  CHECK(std::set<LinkId>(drawn.begin(), drawn.end()).size() == 5);
  CHECK(again.links(text) == drawn);
  CHECK(other.links(text) != drawn);
  CHECK(first.links(text) != drawn);  // the next draws of the same seed
  const auto uplinks = first.links("p*.t0-*:u*");
  CHECK(uplinks.size() == 64);
  for (const LinkId link : drawn) {
    CHECK(std::find(uplinks.begin(), uplinks.end(), link) != uplinks.end());
  }
  CHECK(first.links("random(64, p*.t0-*:u*)") == uplinks);
  CHECK(first.links("random(2, h0:*, h1:*), p0.t0-0:u0").size() == 3);
}

TEST_CASE("random reaches every candidate about equally often") {
  const Topology t = octet();
  NameResolver names(t, 3);
  std::vector<int> drawn(8);
  for (int i = 0; i < 8000; ++i) {
    for (const NodeId id : names.hosts("random(2, h*)")) ++drawn[id.value];
  }
  for (const int count : drawn) CHECK((count > 1800 && count < 2200));  // 2000 expected, 5 sigma
}

TEST_CASE("a name that matches nothing is refused with the nearest existing name") {
  const Topology t = octet();
  NameResolver n(t, 1);
  struct Row {
    std::string error;
    const char* expected;
  };
  for (const Row& row : {
           Row{error_of([&] { n.optics("p0.t0-9:o0"); }),
               "found \"p0.t0-9:o0\", which names no optic: expected a name such as "
               "\"p0.t0-0:o0\""},
           Row{error_of([&] { n.hosts("h9"); }),
               "found \"h9\", which names no host: expected a name such as \"h0\""},
           Row{error_of([&] { n.hosts("h1, p0.t0-1"); }),
               "found \"p0.t0-1\", which names no host: expected a name such as \"h0\""},
           Row{error_of([&] { n.links("h3"); }),
               "found \"h3\", which names no link: expected a name such as \"h0:p0\""},
           Row{error_of([&] { n.links("p7.t0-1:u4"); }),
               "found \"p7.t0-1:u4\", which names no link: expected a name such as "
               "\"p7.t0-1:u0\""},
           Row{error_of([&] { n.links("h3:p2->p2.t0-0:d3"); }),
               "found \"h3:p2->p2.t0-0:d3\", which is one direction of a link: expected the link, "
               "\"h3:p2--p2.t0-0:d3\", or where a fault may hit one direction the key \"wire\""},
           Row{error_of([&] { n.wires("h3:p2"); }),
               "found \"h3:p2\", which names no wire: expected a name such as "
               "\"h3:p2->p2.t0-0:d3\""},
           Row{error_of([&] { n.switches("p8.*"); }),
               "found \"p8.*\", which names no switch: expected a name such as \"p0.t0-0\""},
           Row{error_of([&] { n.hosts(""); }),
               "found \"\", which names no host: expected a name such as \"h0\""},
           Row{error_of([&] { n.hosts("random(9, h*)"); }),
               "found \"random(9, h*)\": expected a count of at most 8: no more than that match"},
           Row{error_of([&] { n.hosts("random(h*)"); }),
               "found \"random(h*)\": expected random(<count>, <names>), for instance random(3, "
               "p*.t0-*:u*)"},
           Row{error_of([&] { n.hosts("random(-1, h*)"); }),
               "found \"random(-1, h*)\": expected random(<count>, <names>), for instance "
               "random(3, p*.t0-*:u*)"},
       }) {
    CHECK(row.error == row.expected);
  }
  CHECK(error_of([&] { n.hosts(std::string(5000, 'h')); }).find("at most 4096") !=
        std::string::npos);
}

TEST_CASE("in a file the error stands at the name, also inside a list") {
  const Topology t = octet();
  NameResolver n(t, 1);
  const YamlValue file =
      read_yaml_text("hosts: [h0, \"h[1-2]\"]\nbad:\n  - h0\n  - h8\n", "f.yaml");
  CHECK(n.hosts(file.require("hosts")).size() == 3);
  CHECK(error_of([&] { n.hosts(file.require("bad")); }) ==
        "f.yaml:4:5: found \"h8\", which names no host: expected a name such as \"h0\"");
  CHECK(error_of([&] { n.hosts(read_yaml_text("[]", "f.yaml")); }) ==
        "f.yaml:1:1: found an empty list: expected at least one name");
}
