// How far the nodes of a simulated fabric may run ahead.

#include "sim/bipartition.h"

#include <doctest/doctest.h>

#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "scenario/spec/shipped_files.h"

namespace mrclab::lab {
namespace {

constexpr FabricTime kNever = FabricTime::never();

TEST_CASE("hosts and T1s are one side, the T0s between them the other") {
  const Topology topology = read_fabric_file(find_fabric("octet"));
  const Bipartition sides = bipartition(topology);
  uint32_t of_second = 0;
  for (const Wire& wire : topology.all_wires()) {
    CHECK(sides.of[wire.from.node.value] != sides.of[wire.to.node.value]);
  }
  for (const uint8_t side : sides.of) of_second += side;
  CHECK(of_second > 0);
  CHECK(sides.lookahead[0][0] == kNever);
  CHECK(sides.lookahead[1][1] == kNever);
  const FabricTime there = sides.lookahead[0][1], back = sides.lookahead[1][0];
  CHECK(there > FabricTime::zero());
  CHECK(sides.longest_window() == there + back);
  CHECK(sides.windows_in(there + back) == doctest::Approx(2));
}

TEST_CASE("a side hears of the other one by one wire, and of itself by two") {
  const auto ns = [](int64_t count) { return FabricTime::from_ns(count); };
  Bipartition sides;
  sides.of = {0, 1};
  sides.lookahead = {{{kNever, ns(30)}, {ns(50), kNever}}};
  CHECK(sides.horizon(0, ns(1000), ns(1010)) == ns(1060));
  CHECK(sides.horizon(0, ns(1000), ns(1031)) == ns(1080));
  CHECK(sides.horizon(1, ns(1010), ns(1000)) == ns(1030));
  CHECK(sides.horizon(1, kNever, ns(1000)) == ns(1030));
  CHECK(sides.horizon(1, ns(1000), kNever) == ns(1080));
  CHECK(sides.horizon(0, kNever, kNever) == kNever);
  CHECK(sides.longest_window() == ns(80));
}

TEST_CASE("three switches in a ring have one side, and windows of one lookahead") {
  const Topology topology =
      build_topology(parse_fabric(read_yaml_text("name: ring\n"
                                                 "switches: {s0: 0100, s1: 0200, s2: 0300}\n"
                                                 "hosts: [[s0], [s1], [s2]]\n"
                                                 "links: {s0: [s1], s1: [s2], s2: [s0]}\n",
                                                 "ring")));
  const Bipartition sides = bipartition(topology);
  for (const uint8_t side : sides.of) CHECK(side == 0);
  CHECK(sides.lookahead[0][0] < kNever);
  CHECK(sides.longest_window() == sides.lookahead[0][0]);
  CHECK(sides.horizon(0, FabricTime::zero(), kNever) == sides.lookahead[0][0]);
  CHECK(sides.windows_in(sides.lookahead[0][0] * 3) == doctest::Approx(3));
}

}  // namespace
}  // namespace mrclab::lab
