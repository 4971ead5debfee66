// How flows share uplinks, and which ports were paused, out of packet histories made by hand.

#include <doctest/doctest.h>

#include "analysis/measure/flow_spread.h"
#include "analysis/measure/pause_use.h"
#include "fabric/packet/pause_frame.h"
#include "fabric/paths/ecmp.h"
#include "fabric/topology/build_topology.h"

using namespace mrclab;
using namespace mrclab::analysis;

namespace {

/// One plane of two T0s with four uplinks each; h0 to h3 hang on the first, h4 to h7 on the second.
Topology two_racks(bool adaptive = false) {
  FabricShape shape;
  shape.name = "two-racks";
  shape.planes = 1;
  shape.t0 = 2;
  shape.t1 = 4;
  shape.hosts_per_t0 = 4;
  shape.lossless.adaptive = adaptive;
  return build_topology(shape);
}

/// First transmissions of one packet each: who sends to whom over which path, how often.
struct Sent {
  uint32_t source, destination;
  Path path;
  int packets = 1;
  uint16_t attempt = 0;
};

PacketHistory history_of(const std::vector<std::vector<Sent>>& flows) {
  PacketTables tables;
  for (const std::vector<Sent>& flow : flows) {
    const auto number = static_cast<uint32_t>(tables.flows.size());
    tables.flows.push_back({flow[0].source, flow[0].destination, Qpn{number}});
    for (const Sent& sent : flow) {
      for (int i = 0; i < sent.packets; ++i) {
        Attempt attempt;
        attempt.ev = ev_of(sent.path);
        attempt.packet = static_cast<uint32_t>(tables.packets.size());
        attempt.attempt = sent.attempt;
        tables.attempts.push_back(attempt);
        Packet packet;
        packet.flow = number;
        tables.packets.push_back(packet);
      }
    }
  }
  return PacketHistory(std::move(tables));
}

Path named(uint32_t uplink) { return {0, uplink}; }

}  // namespace

TEST_CASE("flows that keep to one uplink are counted where they share it") {
  const Topology topology = two_racks();
  const auto spread = flow_spread(topology, history_of({{{0, 4, named(1), 6}},
                                                        {{1, 5, named(1), 3}},
                                                        {{2, 6, named(1), 1}},
                                                        {{3, 7, named(2), 2}}}));
  REQUIRE(spread);
  CHECK(spread->flows == 4);
  CHECK(spread->one_path == 4);
  CHECK(spread->sharing == 3);
  CHECK(spread->most == 3);
  CHECK(spread->shared == 1);
  CHECK(flows_per_uplink(*spread) ==
        "flows per uplink: none on 2, one on 1, 3 on 1; 1 of 4 uplinks carries more than one");
  CHECK(spread->uplinks == 4);
  CHECK(spread->used == 2);
  CHECK(spread->busiest == "p0.t0-0:u1");
  CHECK(spread->busiest_to_mean == doctest::Approx(10.0 / 3));
}

TEST_CASE("a flow that sprays collides with nobody, and uplinks of both racks count") {
  const auto spread = flow_spread(
      two_racks(), history_of({{{0, 4, named(0)}, {0, 4, named(1)}}, {{5, 1, named(0)}}}));
  REQUIRE(spread);
  CHECK(spread->flows == 2);
  CHECK(spread->one_path == 1);
  CHECK(spread->sharing == 0);
  CHECK(spread->shared == 0);
  CHECK(spread->most == 1);
  CHECK(spread->uplinks == 8);
  CHECK(spread->used == 3);
}

TEST_CASE("where a hash chooses, a flow's uplink is the one that its switch's hash gives") {
  const Topology topology = two_racks();
  const Path port{0, 77, Chosen::kByFlow};
  const auto spread = flow_spread(topology, history_of({{{0, 4, port}}}));
  REQUIRE(spread);
  const auto built = path_between(topology, 0, 4, port);
  REQUIRE(built);
  CHECK(spread->busiest == "p0.t0-0:u" + std::to_string(built->uplink));
}

TEST_CASE(
    "what is sent again or stays in its rack loads no uplink, and adaptive ones are unknown") {
  Sent again{0, 4, named(1)};
  again.attempt = 1;
  CHECK_FALSE(flow_spread(two_racks(), history_of({{again}, {{0, 1, named(kT0LocalUplink)}}})));
  CHECK_FALSE(flow_spread(two_racks(true), history_of({{{0, 4, named(1)}}})));
  CHECK_FALSE(flow_spread(two_racks(), PacketHistory{}));
}

TEST_CASE("uplinks are counted by how many flows keep to them, those that spray among the unused") {
  const auto spread = flow_spread(two_racks(), history_of({{{0, 4, named(1)}},
                                                           {{1, 5, named(1)}},
                                                           {{2, 6, named(2)}},
                                                           {{3, 7, named(0)}, {3, 7, named(3)}}}));
  REQUIRE(spread);
  CHECK(spread->one_path == 3);
  CHECK(spread->used == 4);
  CHECK(spread->uplinks_by_flows == std::vector<uint32_t>{2, 1, 1});
  CHECK(spread->sharing == 2);
  // Of equally busy uplinks the first is named.
  const auto even = flow_spread(two_racks(), history_of({{{0, 4, named(2), 3}},  //
                                                         {{1, 5, named(1), 3}}}));
  REQUIRE(even);
  CHECK(even->busiest == "p0.t0-0:u1");
  CHECK(even->busiest_to_mean == doctest::Approx(2.0));
  CHECK(even->sharing == 0);
  CHECK(even->shared == 0);
}

TEST_CASE("another path of what is sent again makes no flow spray") {
  Sent again{0, 4, named(2)};
  again.attempt = 1;
  const auto spread = flow_spread(two_racks(), history_of({{{0, 4, named(1)}, again}}));
  REQUIRE(spread);
  CHECK(spread->one_path == 1);
  CHECK(spread->used == 1);
}

TEST_CASE("a packet whose path nothing tells leaves the spread unknown") {
  for (const uint32_t uplink : {4u, 9u}) {  // of 0 to 3
    CHECK_FALSE(
        flow_spread(two_racks(), history_of({{{0, 4, named(1)}}, {{1, 5, named(uplink)}}})));
  }
}

TEST_CASE("flows that all spray have no line about their uplinks") {
  const auto spread = flow_spread(two_racks(), history_of({{{0, 4, named(0)}, {0, 4, named(1)}}}));
  REQUIRE(spread);
  CHECK(flows_per_uplink(*spread).empty());
}

TEST_CASE("of the ports that stood paused the one that stood longest is named, and who began") {
  const Topology topology = two_racks();
  const PortRef nic = *topology.find_port("h0:p0"), uplink = *topology.find_port("p0.t0-0:u2");
  const auto at = [](int64_t us) { return FabricTime::from_us(us); };
  const std::vector<PauseSeen> pauses{{at(10), nic, kPauseQuanta},    {at(15), nic, 0},
                                      {at(20), uplink, kPauseQuanta}, {at(30), uplink, 0},
                                      {at(40), nic, kPauseQuanta},    {at(42), nic, 0}};
  const auto use = pause_use(topology, PauseTimes(topology, pauses, {}, at(100)));
  REQUIRE(use);
  CHECK(use->ports == 2);
  CHECK(use->longest == at(10));
  CHECK(use->longest_port == "p0.t0-0:u2");
  CHECK(use->first_pauser == "p0.t0-0");
  CHECK_FALSE(pause_use(topology, PauseTimes(topology, {}, {}, at(100))));
}

TEST_CASE("a pause lasts as many bit times as its port's rate makes them when the frame counts") {
  const Topology topology = two_racks();
  const PortRef uplink = *topology.find_port("p0.t0-0:u2");
  const WireId out = topology.port(uplink).out;
  const BitRate built = topology.wire(out).rate, slow{built.bps / 4};
  const FabricTime latency = topology.ingress_latency(uplink.node);
  const auto at = [](int64_t us) { return FabricTime::from_us(us); };
  const std::vector<ScheduledEffect> schedule{{at(100), WireRate{out, slow}},
                                              {at(200), WireRate{out, {}}}};
  const std::vector<PauseSeen> pauses{
      {at(50), uplink, 100}, {at(100) - latency, uplink, 100}, {at(300), uplink, 100}};
  const PauseTimes times(topology, pauses, schedule, at(1'000));
  REQUIRE(times.spans().size() == 3);
  CHECK(times.spans()[0].length() == pause_time(100, built));
  CHECK(times.spans()[1].length() == pause_time(100, slow));
  CHECK(times.spans()[2].length() == pause_time(100, built));
}
