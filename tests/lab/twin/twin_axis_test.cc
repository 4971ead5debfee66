// twin --over and --scale: what is varied, and that faults stay the same parts.

#include "lab/twin/twin_axis.h"

#include <doctest/doctest.h>

#include <sstream>

#include "fabric/text/yaml.h"
#include "faults/fault.h"
#include "lab/twin/twin.h"
#include "lab/twin/twin_table.h"
#include "scenario/spec/scenario.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

Scenario trained(const std::string& faults, const std::string& groups = "{tp: 2, dp: 4}") {
  return parse_scenario(read_yaml_text(
      "name: trained\nfabric: octet\nseed: 1\nend: 900us\nworkload:\n"
      "  - job: {hosts: all, groups: " +
          groups +
          ", steps: 2, scale: 1/100, phases: "
          "[{forward: {compute: 1ms}}, {grads: {all_reduce: {group: dp, size: 25MiB}}}]}\n"
          "faults:\n" +
          faults,
      "trained"));
}

std::vector<std::string> faults_of(const Scenario& scenario) {
  std::vector<std::string> texts;
  for (const faults::Fault& fault : scenario.faults) {
    texts.push_back(describe(fault, scenario.topology));
  }
  return texts;
}

const endpoint::JobWorkload& trained_job(const Scenario& scenario) {
  return std::get<endpoint::JobWorkload>(scenario.workload.front());
}

constexpr const char* kParts =
    "  - {at: 20us, link_down: {link: \"h0:p[0-3]\", for: 10us}}\n"
    "  - {at: 20us, optic_glitch: {optic: \"p5.t0-1:o0\", down: 10us}}\n";

}  // namespace

TEST_CASE(
    "on fewer planes a half of them stays a half, and ports have the rate of what they replace") {
  const Scenario four = on_planes(trained(kParts), 4);
  CHECK(four.topology.planes == 4);
  CHECK(four.topology.host_rate == BitRate::from_gbps(200));
  CHECK(four.fabric.links_per_optic == 2);
  CHECK(faults_of(four) ==
        std::vector<std::string>{"link_down h0:p0--p0.t0-0:d0, h0:p1--p1.t0-0:d0 at 20us for 10us",
                                 "optic_glitch p2.t0-1:o0 at 20us: down 10us"});
  const Scenario one = on_planes(trained(kParts), 1);
  CHECK(faults_of(one).front() == "link_down h0:p0--p0.t0-0:d0 at 20us for 10us");
  CHECK(one.topology.host_rate == BitRate::from_gbps(800));
  CHECK_THROWS_AS(on_planes(trained(kParts), 3), InputError);
}

TEST_CASE("a transceiver of other links is that with the first link of the one that failed") {
  const Scenario second =
      trained("  - {at: 20us, optic_dead: {optic: \"p0.t0-0:o0\", for: 10us}}\n");
  const Scenario ones = with_links_per_optic(second, 1);
  CHECK(faults_of(ones).front() == "optic_dead p0.t0-0:o0 at 20us for 10us");
  CHECK(ones.topology.optic(ones.faults.front().targets.optics.front()).links.size() == 1);
  const Scenario twos = with_links_per_optic(
      with_links_per_optic(
          trained("  - {at: 20us, optic_dead: {optic: \"p0.t0-0:o0\", for: 10us}}\n"), 1),
      2);
  CHECK(twos.topology.optic(twos.faults.front().targets.optics.front()).links.size() == 2);
}

TEST_CASE("fewer ranks are the first ones, and the outermost dimension gets smaller") {
  const Scenario four = with_ranks(trained(kParts), 4);
  CHECK(trained_job(four).spec.hosts == std::vector<uint32_t>{0, 1, 2, 3});
  CHECK(trained_job(four).spec.groups.back().size == 2);
  CHECK(trained_job(four).plan->planned.graph.ranks() == 4);
  CHECK_THROWS_AS(with_ranks(trained(kParts), 3), InputError);
  CHECK_THROWS_AS(with_ranks(trained(kParts), 16), InputError);
}

TEST_CASE("at another scale what breaks is broken for as much longer as steps are") {
  const Scenario twice = at_scale(trained(kParts), 50);
  CHECK(trained_job(twice).spec.scale == 50);
  CHECK(twice.end == FabricTime::from_us(1800));
  CHECK(faults_of(twice).back() == "optic_glitch p5.t0-1:o0 at 40us: down 20us");
  CHECK(twice.schedule.front().at == FabricTime::from_us(40));
  CHECK_THROWS_AS(at_scale(trained(kParts), 0), InputError);
}

TEST_CASE(
    "variants are those that were asked for, without the scenario's own, each known before a run") {
  const Scenario scenario = trained(kParts);
  std::vector<std::string> names;
  for (const TwinVariant& variant : variants_of(scenario, {"planes", "optics=1:4", "ranks=4"})) {
    names.push_back(variant.axis + variant.value);
  }
  CHECK(names ==
        std::vector<std::string>{"", "planes1", "planes2", "planes4", "optics1", "ranks4"});
  CHECK(variants_of(scenario, {"transport=one-path"}).size() == 2);
  CHECK_THROWS_AS(variants_of(scenario, {"colour"}), InputError);
  CHECK_THROWS_AS(variants_of(scenario, {"planes=x"}), InputError);
  CHECK_THROWS_AS(variants_of(scenario, {"transport=none"}), InputError);
  CHECK_THROWS_AS(variants_of(scenario, {"planes="}), InputError);
}

TEST_CASE("one table has a line for each variant, in the columns of a terminal") {
  std::vector<TwinReport> reports;
  for (const TwinVariant& variant : variants_of(trained(kParts, "{dp: 8}"), {"ranks=4"})) {
    reports.push_back(run_twins(variant.scenario, {}));
    reports.back().axis = variant.axis;
    reports.back().value = variant.value;
  }
  const std::string table = twin_table(reports, {});
  CHECK(table.find("as it is ") != std::string::npos);
  CHECK(table.find("ranks 4 ") != std::string::npos);
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
}
