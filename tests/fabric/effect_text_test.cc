#include "fabric/effect_text.h"

#include <doctest/doctest.h>

#include "fabric/path.h"

using namespace mrclab;

TEST_CASE("every kind of effect survives the way through text") {
  const Topology topology = build_regular_planes({.name = "pair", .planes = 2, .t0 = 2, .t1 = 1});
  const std::vector<ScheduledEffect> effects{
      {FabricTime::from_us(300), WireState{WireId{3}, false}, 1, 0, false},
      {FabricTime::from_us(301), WireLoss{WireId{2}, Probability{200'000'000}}, 2, 1, false},
      {FabricTime::from_us(400), PortCarrier{{NodeId{1}, PortId{1}}, true}, 3, 2, true},
      {FabricTime::from_us(500), EvDenial{NodeId{0}, ev_of({1, 0}), NodeId{1}, true}, 4, 3, false},
      {FabricTime::from_us(600), EvDenial{NodeId{0}, ev_of({1, 0}), {}, false}, 5, 3, true},
  };
  for (const ScheduledEffect& effect : effects) {
    const auto back = parse_effect(topology, to_text(effect));
    REQUIRE(back);
    CHECK(to_text(*back) == to_text(effect));
    CHECK(back->at == effect.at);
    CHECK(back->heals == effect.heals);
  }
}

TEST_CASE("text that is no effect, or names nothing in the topology, is refused") {
  const Topology topology = build_regular_planes({.name = "pair", .planes = 2, .t0 = 2, .t1 = 1});
  for (const char* line :
       {"", "x", "1 2 3", "1 2 3 0 wire 1", "1 2 3 0 wire 1 sideways", "1 2 3 0 wire 999 up",
        "1 2 3 2 wire 1 up", "-1 2 3 0 wire 1 up", "1 2 3 0 loss 1 2000000000",
        "1 2 3 0 carrier 0 9 up", "1 2 3 0 carrier 99 0 up", "1 2 3 0 wire 1 up more",
        "1 2 3 0 ev 0 5 all denied", "1 2 3 0 ev 9 49152 all denied",
        "1 2 3 0 ev 2 49152 all denied", "1 2 3 0 ev 0 49152 2 denied",
        "1 2 3 0 ev 0 49152 all off", "1 2 3 0 ev 0 49152 1x good"}) {
    CAPTURE(line);
    CHECK_FALSE(parse_effect(topology, line));
  }
}

TEST_CASE("both ends of a wire are told, and a port's own node") {
  const Topology topology = build_regular_planes({.name = "two", .t1 = 0});
  std::vector<uint32_t> told;
  const auto tell = [&](NodeId node) { told.push_back(node.value); };
  for_each_concerned(topology, WireState{WireId{0}, false}, tell);
  CHECK(told == std::vector<uint32_t>{0, 1});
  told.clear();
  for_each_concerned(topology, PortCarrier{{NodeId{1}, PortId{0}}, false}, tell);
  CHECK(told == std::vector<uint32_t>{1});
  told.clear();
  for_each_concerned(topology, EvDenial{NodeId{0}, ev_of({0, kT0LocalUplink}), {}, true}, tell);
  CHECK(told == std::vector<uint32_t>{0});
  CHECK(describe(topology, EvDenial{NodeId{0}, ev_of({0, kT0LocalUplink}), {}, true}) ==
        "h0 p0/- denied");
}
