// The fat twin of a fabric: what it has in common with it, and which of its parts a name means.

#include "scenario/spec/fat_twin.h"

#include <doctest/doctest.h>

#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "scenario/spec/contrast.h"
#include "scenario/spec/scenario.h"
#include "scenario/spec/shipped_files.h"
#include "tests/support/errors.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

/// Bits a second of all ports of a kind, from one rack or host.
uint64_t host_rate(const FabricShape& shape) { return shape.planes * shape.host_rate.bps; }
uint64_t rack_rate(const FabricShape& shape) {
  return shape.planes * shape.t1 * shape.fabric_rate.bps;
}

Scenario on_octet(const std::string& more) {
  return parse_scenario(
      read_yaml_text("name: x\nfabric: octet\nworkload:\n"
                     "  - write: {from: h0, to: h4, size: 64KiB, until: end}\nend: 100us\n" +
                         more,
                     "f.yaml"));
}

}  // namespace

TEST_CASE("names in one plane are those in any plane, and nothing else is a plane") {
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"h0:p3", "h0:p0"},
           {"\"h[0-3]:p5\"", "\"h[0-3]:p0\""},
           {"p*.t1-0, p[2-3].t0-*:u1", "p0.t1-0, p0.t0-*:u1"},
           {"p{0..3}.t1-1", "p0.t1-1"},
           {"h3:p2--p2.t0-1:d3", "h3:p0--p0.t0-1:d3"},
           {"h3:p2->p2.t0-1:d3", "h3:p0->p0.t0-1:d3"},
           {"{plane: 3, from: 300us}", "{plane: 0, from: 300us}"},
           {"{plane: p3}", "{plane: p0}"},
           {"{path: \"p7/u2\"}", "{path: \"p0/u2\"}"},
           {"{p99: 12us}", "{p99: 12us}"},
           {"{at_most: 1us, by: p99.9, host: h0}", "{at_most: 1us, by: p99.9, host: h0}"},
           {"up2.t0", "up2.t0"},
           {"rack-p2", "rack-p2"},
           {"{profile: cx8, steps: p}", "{profile: cx8, steps: p}"},
           {"p", "p"}}) {
    CAPTURE(text);
    CHECK(in_one_plane(text) == expected);
  }
}

TEST_CASE("a fat twin has one plane, and as much between its hosts") {
  size_t twins = 0;
  for (const std::string& name : shipped_names("fabrics")) {
    CAPTURE(name);
    const FabricShape shape = parse_fabric(read_yaml_file(find_fabric(name)), kMaxSimulatedNodes);
    if (!shape.graph.empty()) {
      CHECK(test::error_of([&] { fat_twin(shape); }).find("has no fat twin") != std::string::npos);
      continue;
    }
    const FabricShape fat = fat_twin(shape);
    CHECK(fat.planes == 1);
    CHECK(host_rate(fat) == host_rate(shape));
    CHECK(rack_rate(fat) == rack_rate(shape));
    CHECK(fat.t0 * fat.hosts_per_t0 == shape.t0 * shape.hosts_per_t0);
    if (shape.host_count() <= kMaxNodes) {  // to build more takes seconds
      CHECK(build_topology(fat).hosts == build_topology(shape).hosts);
    }
    twins += shape.planes > 1 ? 1 : 0;
  }
  CHECK(twins >= 8);
}

TEST_CASE("faults and expectations of any plane are those of the only one") {
  const Scenario scenario = on_octet(
      "faults:\n  - {at: 10us, link_down: {link: \"h1:p3, h1:p5\", for: 20us}}\n"
      "  - {at: 50us, optic_glitch: {optic: \"p6.t0-0:o0\", down: 10us, stagger: 5us}}\n"
      "expect:\n  - no_qp_error\n  - goodput: {plane: 6, from: 80us, at_least: 1%, of: line_rate}\n");
  const Scenario fat = fat_twin(scenario);
  CHECK(fat.topology.planes == 1);
  REQUIRE(fat.faults.size() == 2);
  CHECK(faults::to_yaml(fat.faults[0], fat.topology) ==
        "{at: 10us, link_down: {link: [\"h1:p0--p0.t0-0:d1\"], for: 20us}}");
  // A transceiver of the twin carries one port: four links of four hosts are one link here. Each has eight effects.
  CHECK(scenario.schedule.size() == (2 + 4) * 8);
  CHECK(fat.schedule.size() == (1 + 1) * 8);
  REQUIRE(fat.expect.size() == 2);
  CHECK(analysis::to_yaml(fat.expect[1]).find("plane: 0") != std::string::npos);
  const Scenario again = parse_scenario(read_yaml_text(to_yaml(fat), "again.yaml"));
  CHECK(to_yaml(again) == to_yaml(fat));
}

TEST_CASE("a scenario, a transport's name and a contrast can ask for the twin") {
  CHECK(on_octet("twin: fat\n").topology.planes == 1);
  CHECK(on_octet("twin: none\n").topology.planes == 8);
  const Scenario scenario = on_octet(
      "contrast:\n  - {transport: roce, name: fat, twin: fat, expect: [{losses: {at_most: 0}}]}\n"
      "  - {transport: roce, expect: [{losses: {at_most: 0}}]}\n");
  const auto planes_under = [&](const char* name) {
    return under_transport(scenario, find_contrast(scenario, name)).topology.planes;
  };
  CHECK(planes_under("fat") == 1);
  CHECK(planes_under("roce") == 8);
  CHECK(planes_under("roce16-fat") == 1);
  CHECK(planes_under("mrc-fat") == 1);
  const Scenario again = parse_scenario(read_yaml_text(to_yaml(scenario), "again.yaml"));
  CHECK(again.contrasts == scenario.contrasts);
  CHECK(again.contrasts[0].on_fat_twin);
  CHECK(test::error_of([&] { find_contrast(scenario, "rice-fat"); }).find("roce-fat") !=
        std::string::npos);
}

TEST_CASE("every shipped incident of several planes can be asked of RoCE on the fat twin") {
  size_t asked = 0;
  for (const std::string& name : shipped_names("incidents")) {
    CAPTURE(name);
    const Scenario scenario = load_scenario(name);
    if (scenario.fabric.planes == 1 || !scenario.fabric.graph.empty()) continue;
    if (scenario.topology.routing.underlay == Underlay::kIpv4) continue;
    const Scenario fat = under_transport(scenario, find_contrast(scenario, "roce16-fat"));
    CHECK(fat.topology.planes == 1);
    CHECK(fat.faults.size() == scenario.faults.size());
    CHECK(fat.workload.size() == scenario.workload.size());
    // A run's folder keeps it as a file.
    CHECK(to_yaml(parse_scenario(read_yaml_text(to_yaml(fat), name))) == to_yaml(fat));
    ++asked;
  }
  CHECK(asked >= 15);
}
