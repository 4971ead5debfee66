#include "fabric/node/effect_text.h"
#include "fabric/topology/build_topology.h"

#include <doctest/doctest.h>

#include "fabric/topology/path.h"

using namespace mrclab;

TEST_CASE("every kind of effect survives the way through text") {
  const Topology topology = build_topology({.name = "pair", .planes = 2, .t0 = 2, .t1 = 1});
  const std::vector<ScheduledEffect> effects{
      {FabricTime::from_us(300), WireState{WireId{3}, false}, 1, 0, false},
      {FabricTime::from_us(301),
       WireLoss{.wire = WireId{2},
                .kind = LossKind::kBursty,
                .loss = {200'000'000},
                .enter_bad = {1000},
                .leave_bad = {5000}},
       2, 1, false},
      {FabricTime::from_us(400), PortCarrier{{NodeId{1}, PortId{1}}, true}, 3, 2, true},
      {FabricTime::from_us(500), EvDenial{NodeId{0}, ev_of({1, 0}), NodeId{1}, true}, 4, 3, false},
      {FabricTime::from_us(600), EvDenial{NodeId{0}, ev_of({1, 0}), {}, false}, 5, 3, true},
      {FabricTime::from_us(601), WireErrors{WireId{2}, {1'000'000}}, 6, 4, false},
      {FabricTime::from_us(602),
       WireDelay{WireId{2}, FabricTime::from_us(1), FabricTime::from_ns(3), {500}, true}, 7, 5,
       false},
      {FabricTime::from_us(603), WireDuplicates{WireId{0}, {70}}, 8, 6, false},
      {FabricTime::from_us(604), WireRate{WireId{0}, BitRate::from_gbps(50)}, 9, 7, false},
      {FabricTime::from_us(605), SwitchState{NodeId{2}, SwitchWork::kHung}, 10, 8, false},
      {FabricTime::from_us(606), SwitchErrors{NodeId{2}, {77}}, 11, 9, false},
      {FabricTime::from_us(607), SwitchRoute{NodeId{2}, {0x1000}, RouteKind::kWrong, PortId{1}}, 12,
       10, false},
      {FabricTime::from_us(608), SwitchTrim{NodeId{2}, true}, 13, 11, false},
      {FabricTime::from_us(609), SwitchEcn{NodeId{2}, EcnKind::kAlways}, 14, 12, false},
      {FabricTime::from_us(610), SwitchBuffer{NodeId{2}, {750'000'000}}, 15, 13, false},
      {FabricTime::from_us(611), HostState{NodeId{1}, HostWork::kPaused}, 16, 14, false},
      {FabricTime::from_us(612), HostBurst{NodeId{1}, NodeId{0}, {65536}}, 17, 15, false},
      {FabricTime::from_us(612), HostVerbs{NodeId{1}, 3, VerbsStatus::kRemoteAccess}, 17, 15,
       false},
      {FabricTime::from_us(613), HostDrain{NodeId{1}, DrainKind::kSlow, {1'000'000}}, 18, 16,
       false},
      {FabricTime::from_us(614),
       WireCodewords{WireId{1}, FecCode::kKr4, {1'000'000}, {500'000'000}, 77}, 19, 17, false},
  };
  for (const ScheduledEffect& effect : effects) {
    const auto back = parse_effect(topology, to_text(effect));
    REQUIRE(back);
    CHECK(to_text(*back) == to_text(effect));
    CHECK(back->effect == effect.effect);
    CHECK(back->at == effect.at);
    CHECK(back->heals == effect.heals);
  }
}

TEST_CASE("text that is no effect, or names nothing in the topology, is refused") {
  const Topology topology = build_topology({.name = "pair", .planes = 2, .t0 = 2, .t1 = 1});
  for (const char* line : {"",
                           "x",
                           "1 2 3",
                           "1 2 3 0 wire_state 1",
                           "1 2 3 0 wire_state 1 2",
                           "1 2 3 0 wire_state 999 1",
                           "1 2 3 2 wire_state 1 1",
                           "-1 2 3 0 wire_state 1 1",
                           "1 2 3 0 wire_state - 1",
                           "1 2 3 0 wire_loss 1 0 0 random 2000000000 0 0 0",
                           "1 2 3 0 wire_loss 1 0 0 sometimes 0 0 0 0",
                           "1 2 3 0 wire_loss 1 0 0 every_nth 0 0 0 0",
                           "1 2 3 0 wire_loss 1 1 5 random 5 0 0 0",
                           "1 2 3 0 wire_delay 1 1000000001 0 5 0",
                           "1 2 3 0 wire_delay 1 999999999 2 5 0",
                           "1 2 3 0 wire_errors 1 1000000000000001",
                           "1 2 3 0 wire_codewords 1 kp4 0 0 0",
                           "1 2 3 0 wire_codewords 1 none 5 0 0",
                           "1 2 3 0 wire_codewords 1 kp5 5 0 0",
                           "1 2 3 0 switch_state 0 hung",
                           "1 2 3 0 switch_state 2 tired",
                           "1 2 3 0 switch_route 2 4096 wrong -",
                           "1 2 3 0 switch_route 2 65536 missing -",
                           "1 2 3 0 switch_route 2 4096 missing 99",
                           "1 2 3 0 switch_route 2 4096 as_built 0",
                           "1 2 3 0 host_state 2 down",
                           "1 2 3 0 host_burst 0 0 64",
                           "1 2 3 0 host_burst 0 1 999999999",
                           "1 2 3 0 host_verbs 2 1 fatal",
                           "1 2 3 0 host_verbs 0 1 none",
                           "1 2 3 0 host_verbs 0 1 broken",
                           "1 2 3 0 host_drain 2 stalled 0",
                           "1 2 3 0 host_drain 0 slow 0",
                           "1 2 3 0 host_drain 0 stalled 5",
                           "1 2 3 0 port_carrier 0/9 1",
                           "1 2 3 0 port_carrier 99/0 1",
                           "1 2 3 0 port_carrier 0 0 1",
                           "1 2 3 0 wire_state 1 1 more",
                           "1 2 3 0 ev_denial 0 5 - 1",
                           "1 2 3 0 ev_denial 9 49152 - 1",
                           "1 2 3 0 ev_denial 2 49152 - 1",
                           "1 2 3 0 ev_denial 0 49152 2 1",
                           "1 2 3 0 ev_denial 0 49152 - off",
                           "1 2 3 0 ev_denial 0 49152 1x 0"}) {
    CAPTURE(line);
    CHECK_FALSE(parse_effect(topology, line));
  }
}

TEST_CASE("both ends of a wire are told, and a port's own node") {
  const Topology topology = build_topology({.name = "two", .t1 = 0});
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
        "ev_denial h0 p0/- denied=yes");
}

TEST_CASE("every effect has a state as built, which is that of the same target") {
  const Effect loss = WireLoss{.wire = WireId{2}, .kind = LossKind::kRandom, .loss = {5}};
  CHECK(as_built(loss) == Effect{WireLoss{.wire = WireId{2}}});
  CHECK_FALSE(is_as_built(loss));
  CHECK(is_as_built(as_built(loss)));
  const Effect denial = EvDenial{NodeId{0}, {5}, NodeId{1}, true};
  CHECK(as_built(denial) == Effect{EvDenial{NodeId{0}, {5}, NodeId{1}, false}});
}
