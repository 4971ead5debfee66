// What the pace of a lab publishes to its processes in the gate page.

#include "live/world/lab_pace.h"

#include <doctest/doctest.h>

#include <memory>

#include "fabric/topology/build_topology.h"

using namespace mrclab;

TEST_CASE(
    "at a pace of its own a lab has a leash of three quarters of its shortest lookahead, at a "
    "fixed one so much more that it takes 20 ms") {
  const Topology topology = build_topology({.name = "pair"});
  const auto gate = std::make_unique<netio::GatePage>();
  const lab::LabPace fixed(*gate, topology, 2'000, FabricTime::never());
  CHECK(gate->leash_ps == FabricTime::from_us(10).ps());
  const lab::LabPace slow(*gate, topology, 1'000'000, FabricTime::never());
  CHECK(gate->leash_ps == lab::leash_of(lab::shortest_lookahead(topology)).ps());
  const lab::LabPace own(*gate, topology, {}, FabricTime::never());
  const FabricTime shortest = lab::shortest_lookahead(topology);
  CHECK(shortest > FabricTime::zero());
  CHECK(gate->leash_ps == shortest.ps() * 3 / 4);
}

TEST_CASE(
    "the clock of a lab with switches of others has no leash at a fixed pace: they do not wait") {
  FabricShape shape{.name = "pair"};
  shape.forwarding = Forwarding::kOvs;
  const Topology topology = build_topology(shape);
  const auto gate = std::make_unique<netio::GatePage>();
  const lab::LabPace fixed(*gate, topology, 2'000, FabricTime::never());
  CHECK(gate->leash_ps == 0);
}
