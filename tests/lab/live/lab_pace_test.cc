// What the pace of a lab tells its processes through the gate page.

#include "lab/live/lab_pace.h"

#include <doctest/doctest.h>

#include <memory>

#include "fabric/topology/build_topology.h"

using namespace mrclab;

TEST_CASE(
    "at a pace of its own a lab has a leash of three quarters of its shortest lookahead, at a "
    "fixed one none") {
  const Topology topology = build_topology({.name = "pair"});
  const auto gate = std::make_unique<netio::GatePage>();
  const lab::LabPace fixed(*gate, topology, 2'000, FabricTime::never());
  CHECK(gate->leash_ps == 0);
  const lab::LabPace own(*gate, topology, {}, FabricTime::never());
  const FabricTime shortest = lab::shortest_lookahead(topology);
  CHECK(shortest > FabricTime::zero());
  CHECK(gate->leash_ps == shortest.ps() * 3 / 4);
  const lab::LabPace again(*gate, topology, 2'000, FabricTime::never());
  CHECK(gate->leash_ps == 0);
}
