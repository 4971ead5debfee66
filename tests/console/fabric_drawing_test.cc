#include "console/fabric_drawing.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "fabric/topology/fabric_file.h"
#include "scenario/spec/shipped_files.h"

namespace mrclab::lab {
namespace {

Topology shipped(const char* name) { return read_fabric_file(find_fabric(name)); }

size_t count_of(const std::string& text, const std::string& word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST_CASE("planes that are alike are drawn once, every node of one of them by name") {
  const std::string text = drawn_as_text(shipped("octet"));
  CHECK(text.starts_with("octet: 8 hosts, 48 switches, 128 links\n"));
  CHECK(text.find("plane p0, and p1 to p7 like it") != std::string::npos);
  for (const char* name : {"p0.t1-3", "p0.t0-1", "h7"}) CHECK(count_of(text, name) == 1);
  CHECK(text.find("p1.t0-0") == std::string::npos);
  // Four spines and two leaves hang on one bar, each leaf's four hosts on a bar of their own.
  CHECK(text.find("\n         +---------+--------+------------------+----------+-------+\n") !=
        std::string::npos);
  CHECK(text.find("\n    +--------+-----+--+--------+        +--------+--------+") !=
        std::string::npos);
}

TEST_CASE("planes with other rates are drawn beside the others") {
  const std::string text = drawn_as_text(shipped("fare-planes"));
  CHECK(count_of(text, "\nplane p") >= 1);
}

TEST_CASE("links between switches of one row are listed") {
  const std::string text = drawn_as_text(shipped("ring"));
  CHECK(text.find("  s0 : s1 s4\n  s1 : s2\n") != std::string::npos);
}

TEST_CASE("T2s are drawn above T1s, and of long lists of links the first and the last") {
  const std::string text = drawn_as_text(shipped("district"));
  CHECK(text.find("p0.t2-0") < text.find("p0.t1-0"));
  CHECK(text.find("\n  p0.t1-1 : p0.t2-4 p0.t2-5 p0.t2-6 p0.t2-7\n") != std::string::npos);
  CHECK(text.find("\n  p0.t1-31 : p0.t2-12") != std::string::npos);
  CHECK(text.find("p0.t1-20 :") == std::string::npos);
}

TEST_CASE("no drawing is wider than a terminal, whatever the fabric") {
  for (const char* name :
       {"pair", "octet", "hall", "campus", "metro", "ring", "ai-backend", "district"}) {
    CAPTURE(name);
    std::istringstream lines(drawn_as_text(shipped(name)));
    size_t widest = 0, count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      widest = std::max(widest, line.size());
    }
    CHECK(widest <= 80);
    CHECK(widest > 20);
    CHECK(count < 200);
  }
}

TEST_CASE("as SVG every node is a box and every link a line") {
  const Topology topology = shipped("octet");
  const std::string svg = drawn_as_svg(topology);
  CHECK(count_of(svg, "<rect ") == topology.nodes.size());
  CHECK(count_of(svg, "<line ") == topology.links.size());
  CHECK(svg.ends_with("</svg>\n"));
  const std::string ring = drawn_as_svg(shipped("ring"));
  CHECK(count_of(ring, "<line ") == shipped("ring").links.size());
}

}  // namespace
}  // namespace mrclab::lab
