// NICs that speak BGP in a fabric that routes by itself (draft-xu-idr-fare-in-mpson): whole hosts and switches joined by
// wires, whose tables come from BGP alone.

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "endpoint/host/host_routes.h"
#include "endpoint/host/host_table.h"
#include "endpoint/options/profile_maker.h"
#include "endpoint/paths/plane_turn.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fare.h"
#include "fabric/topology/path.h"
#include "tests/support/fabrics.h"
#include "tests/support/sim_fabric.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::SimFabric;
using mrclab::test::us;

namespace {

/// Four planes of three T0s and two T1s, two hosts at each T0.
Topology planes_of(NicRoutes nics, Spray spray = Spray::kPacket) {
  FabricShape shape = test::shape_of("planes", 4, 3, 2, 2);
  shape.routing.by_default = Routing::kFare;
  shape.routing.fare.nics = nics;
  shape.routing.fare.spray = spray;
  return build_topology(shape);
}

std::string weights(SimFabric& fabric, uint32_t from, uint32_t to) {
  std::string text;
  for (const uint32_t weight : fabric.host(from).routes()->plane_weights(to)) {
    text += std::to_string(weight);
  }
  return text;
}

size_t prefixes(SimFabric& fabric, uint32_t host) {
  return fabric.host(host).routes()->speaker().table().size();
}

IncastSpec stream(uint32_t from, uint32_t to, uint32_t percent) {
  IncastSpec spec;
  spec.from = {from};
  spec.to = to;
  spec.load.ppb = Probability::kOne / 100 * percent;
  spec.at = fare_ready(planes_of(NicRoutes::kAll));
  spec.message = {64 * 1024};
  return spec;
}

/// Four queue pairs of RC from host 0 to host 5.
SimFabric::Options four_flows(const Topology& topology) {
  SimFabric::Options options;
  options.profile = make_profile("roce", topology);
  IncastSpec spec = stream(0, 5, 30);
  spec.qps = 4;
  options.workloads = {spec};
  return options;
}

void set_rate(SimFabric& fabric, FabricTime at, const std::string& port, BitRate rate) {
  const Link& link = fabric.topology.link(fabric.link_of(port));
  fabric.apply(at, WireRate{link.a_to_b(), rate});
  fabric.apply(at, WireRate{link.b_to_a(), rate});
}

/// Data packets that a host sends, by plane.
class Counts {
 public:
  Counts(SimFabric& fabric, uint32_t host) {
    fabric.observer(host).on_packet = [this](const PacketRecord& r) {
      const bool data = r.queue == QueueClass::kData || r.queue == QueueClass::kLossless;
      if (r.direction == Direction::kEgress && r.event == PacketEvent::kPassed && data) {
        ++of_[r.port.value];
      }
    };
  }
  std::vector<uint64_t> take() { return std::exchange(of_, std::vector<uint64_t>(4)); }

 private:
  std::vector<uint64_t> of_ = std::vector<uint64_t>(4);
};

double part(const std::vector<uint64_t>& counts, size_t plane) {
  uint64_t sum = 0;
  for (const uint64_t count : counts) sum += count;
  REQUIRE(sum > 300);
  return static_cast<double>(counts[plane]) / static_cast<double>(sum);
}

}  // namespace

TEST_CASE("each NIC port has a session with its leaf, and a NIC knows every host by all planes") {
  for (const NicRoutes nics : {NicRoutes::kAll, NicRoutes::kAggregates}) {
    CAPTURE(name_of(nics));
    SimFabric fabric(planes_of(nics), {});
    fabric.stop_when_finished = false;
    fabric.run_until(fare_ready(fabric.topology) / 2);
    for (uint32_t host = 0; host < 6; ++host) {
      CHECK(fabric.observer(host).count("bgp_up") == 4);
      for (uint32_t to = 0; to < 6; ++to) {
        CHECK(weights(fabric, host, to) == (host == to ? "0000" : "1111"));
      }
      // All: every host's, its own among them. Aggregates: three rows and its own.
      CHECK(prefixes(fabric, host) == (nics == NicRoutes::kAll ? 6 : 4));
    }
  }
}

TEST_CASE(
    "a NIC that asks for its partners is told of no other, by a filter that each leaf applies") {
  SimFabric::Options options;
  options.workloads = {stream(0, 5, 10)};
  SimFabric fabric(planes_of(NicRoutes::kWanted), options);
  fabric.stop_when_finished = false;
  fabric.run_until(fare_ready(fabric.topology) / 2);
  CHECK(weights(fabric, 0, 5) == "1111");
  CHECK(weights(fabric, 0, 4) == "0000");
  CHECK(prefixes(fabric, 0) == 2);
  CHECK(weights(fabric, 5, 0) == "1111");
  CHECK(prefixes(fabric, 1) == 1);
}

TEST_CASE(
    "a plane that has lost a host is left for that host alone, and used again when it is back") {
  for (const NicRoutes nics : {NicRoutes::kAll, NicRoutes::kAggregates, NicRoutes::kWanted}) {
    CAPTURE(name_of(nics));
    SimFabric::Options options;
    options.workloads = {stream(0, 5, 10), stream(0, 4, 10)};
    SimFabric fabric(planes_of(nics), options);
    fabric.stop_when_finished = false;
    const FabricTime ready = fare_ready(fabric.topology);
    fabric.run_until(ready);
    const size_t before = prefixes(fabric, 0);
    fabric.set_link(ready, fabric.link_of("h5:p0"), false);
    fabric.run_until(ready + us(30));
    CHECK(weights(fabric, 0, 5) == "0111");
    CHECK(weights(fabric, 0, 4) == "1111");
    // The route with that mark is one more only where it is an exception from an aggregate.
    CHECK(prefixes(fabric, 0) == before + (nics == NicRoutes::kAggregates ? 1 : 0));
    // The host itself sends nothing into the plane either.
    CHECK(weights(fabric, 5, 0) == "0111");
    fabric.set_link(ready + us(30), fabric.link_of("h5:p0"), true);
    fabric.run_until(ready + us(80));
    CHECK(weights(fabric, 0, 5) == "1111");
    CHECK(weights(fabric, 5, 0) == "1111");
    CHECK(prefixes(fabric, 0) == before);
  }
}

TEST_CASE(
    "a leaf without uplinks takes its plane from all hosts behind it, and none from the others") {
  for (const NicRoutes nics : {NicRoutes::kAll, NicRoutes::kAggregates}) {
    CAPTURE(name_of(nics));
    SimFabric fabric(planes_of(nics), {});
    fabric.stop_when_finished = false;
    const FabricTime ready = fare_ready(fabric.topology);
    fabric.set_link(ready, fabric.link_of("p2.t0-2:u0"), false);
    fabric.set_link(ready, fabric.link_of("p2.t0-2:u1"), false);
    fabric.run_until(ready + us(30));
    CHECK(weights(fabric, 0, 4) == "1101");
    CHECK(weights(fabric, 0, 5) == "1101");
    // Of one neighbour less the spines of that plane promise more to the others: a fair share, not capacity
    // (routing/fare/path_share.h). An aggregate has the rate of its leaf's link, whatever that leads to.
    CHECK(weights(fabric, 0, 2) == (nics == NicRoutes::kAll ? "1121" : "1111"));
    CHECK(weights(fabric, 4, 5) == (nics == NicRoutes::kAll ? "1121" : "1111"));
    CHECK(weights(fabric, 4, 0) == "1101");
  }
}

TEST_CASE(
    "a queue pair of MRC does not use a plane without a route, and does again when there is one") {
  SimFabric::Options options;
  options.workloads = {stream(0, 4, 40)};
  SimFabric fabric(planes_of(NicRoutes::kAll), options);
  fabric.stop_when_finished = false;
  Counts counts(fabric, 0);
  const auto told = [&](std::string_view cause) {
    const auto& events = fabric.observer(0).events;
    return std::count_if(events.begin(), events.end(), [&](const auto& event) {
      return event.kind == "ev_state" && event.cause == cause && event.detail == "route";
    });
  };
  const FabricTime ready = fare_ready(fabric.topology);
  fabric.run_until(ready + us(100));
  CHECK(told("port_up") == 4);  // when the first routes came
  CHECK(part(counts.take(), 2) == doctest::Approx(0.25).epsilon(0.05));
  for (const char* uplink : {"p2.t0-2:u0", "p2.t0-2:u1"}) {
    fabric.set_link(ready + us(100), fabric.link_of(uplink), false);
    fabric.set_link(ready + us(300), fabric.link_of(uplink), true);
  }
  fabric.run_until(ready + us(130));
  CHECK(told("port_down") == 1);
  counts.take();
  fabric.run_until(ready + us(300));
  CHECK(counts.take()[2] == 0);
  fabric.run_until(ready + us(330));
  CHECK(told("port_up") == 5);
  counts.take();
  fabric.run_until(ready + us(530));
  CHECK(part(counts.take(), 2) == doctest::Approx(0.25).epsilon(0.05));
  CHECK(fabric.stats(0).qps_in_error == 0);
}

TEST_CASE("a NIC port at half rate gets half of what the others get, packet by packet") {
  SimFabric::Options options;
  options.workloads = {stream(0, 5, 40)};
  SimFabric fabric(planes_of(NicRoutes::kAll), options);
  fabric.stop_when_finished = false;
  Counts counts(fabric, 0);
  const FabricTime ready = fare_ready(fabric.topology);
  set_rate(fabric, ready, "h5:p0", BitRate::from_gbps(50));
  fabric.run_until(ready + us(20));
  CHECK(weights(fabric, 0, 5) == "1222");
  CHECK(weights(fabric, 0, 4) == "1111");
  counts.take();
  fabric.run_until(ready + us(220));
  const std::vector<uint64_t> slow = counts.take();
  CHECK(part(slow, 0) == doctest::Approx(1.0 / 7).epsilon(0.02));
  for (size_t plane = 1; plane < 4; ++plane) {
    CHECK(part(slow, plane) == doctest::Approx(2.0 / 7).epsilon(0.02));
  }
  set_rate(fabric, ready + us(220), "h5:p0", BitRate::from_gbps(100));
  fabric.run_until(ready + us(240));
  CHECK(weights(fabric, 0, 5) == "1111");
  counts.take();
  fabric.run_until(ready + us(440));
  CHECK(part(counts.take(), 0) == doctest::Approx(0.25).epsilon(0.02));
}

TEST_CASE("flows of RC have a plane each, leave the one that lost their peer, and come back") {
  const Topology topology = planes_of(NicRoutes::kAggregates, Spray::kFlow);
  SimFabric fabric(topology, four_flows(topology));
  fabric.stop_when_finished = false;
  Counts counts(fabric, 0);
  const FabricTime ready = fare_ready(fabric.topology);
  fabric.run_until(ready + us(100));
  for (const uint64_t count : counts.take()) CHECK(count > 50);
  fabric.set_link(ready + us(100), fabric.link_of("h5:p0"), false);
  fabric.run_until(ready + us(120));
  counts.take();
  fabric.run_until(ready + us(300));
  const std::vector<uint64_t> without = counts.take();
  CHECK(without[0] == 0);
  for (size_t plane = 1; plane < 4; ++plane) CHECK(without[plane] > 50);
  CHECK(fabric.observer(0).count("flow_moved") == 1);
  CHECK(fabric.stats(0).qps_in_error == 0);
  fabric.set_link(ready + us(300), fabric.link_of("h5:p0"), true);
  fabric.run_until(ready + us(340));
  counts.take();
  fabric.run_until(ready + us(500));
  CHECK(counts.take()[0] > 50);
  CHECK(fabric.observer(0).count("flow_moved") == 2);
}

TEST_CASE("flows whose ends have chosen different planes go on") {
  const Topology topology = planes_of(NicRoutes::kAll, Spray::kFlow);
  SimFabric fabric(topology, four_flows(topology));
  fabric.stop_when_finished = false;
  Counts counts(fabric, 0);
  const FabricTime ready = fare_ready(fabric.topology);
  set_rate(fabric, us(1), "h5:p0", BitRate::from_gbps(50));
  set_rate(fabric, us(1), "h0:p3", BitRate::from_gbps(50));
  fabric.run_until(ready + us(20));
  CHECK(weights(fabric, 0, 5) != weights(fabric, 5, 0));
  counts.take();
  fabric.run_until(ready + us(300));
  uint64_t sent = 0;
  for (const uint64_t count : counts.take()) sent += count;
  CHECK(sent > 200);
  CHECK(fabric.stats(0).qps_in_error == 0);
  CHECK(fabric.stats(5).refused_for(Refusal::kWrongPeer) == 0);
  CHECK(fabric.stats(0).refused_for(Refusal::kWrongPeer) == 0);
}

TEST_CASE("other weights move no flow that sends") {
  const Topology topology = planes_of(NicRoutes::kAll, Spray::kFlow);
  SimFabric fabric(topology, four_flows(topology));
  fabric.stop_when_finished = false;
  Counts counts(fabric, 0);
  const FabricTime ready = fare_ready(fabric.topology);
  fabric.run_until(ready + us(100));
  set_rate(fabric, ready + us(100), "h5:p0", BitRate::from_gbps(50));
  fabric.run_until(ready + us(120));
  CHECK(weights(fabric, 0, 5) == "1222");
  CHECK(fabric.observer(0).count("flow_moved") == 0);
  counts.take();
  fabric.run_until(ready + us(300));
  for (const uint64_t count : counts.take()) CHECK(count > 50);
  CHECK(fabric.stats(0).qps_in_error == 0);
}

TEST_CASE("a host that loses its power is gone from all tables, and speaks again when it is back") {
  SimFabric fabric(planes_of(NicRoutes::kAll), {});
  fabric.stop_when_finished = false;
  const FabricTime ready = fare_ready(fabric.topology);
  const NodeId host = fabric.topology.host(5);
  const auto set_links = [&](FabricTime at, bool up) {
    for (const char* port : {"h5:p0", "h5:p1", "h5:p2", "h5:p3"}) {
      fabric.set_link(at, fabric.link_of(port), up);
    }
  };
  fabric.apply(ready, HostState{host, HostWork::kDown});
  set_links(ready, false);
  fabric.run_until(ready + us(30));
  CHECK(weights(fabric, 0, 5) == "0000");
  fabric.apply(ready + us(40), HostState{host, HostWork::kRunning});
  set_links(ready + us(40), true);
  fabric.run_until(ready * 2 + us(100));
  CHECK(weights(fabric, 0, 5) == "1111");
  CHECK(weights(fabric, 5, 0) == "1111");
}

TEST_CASE(
    "a host says its routes: which planes lead to whom, its sessions and the size of its table") {
  SimFabric fabric(planes_of(NicRoutes::kAggregates), {});
  fabric.stop_when_finished = false;
  const FabricTime ready = fare_ready(fabric.topology);
  fabric.set_link(ready, fabric.link_of("h5:p0"), false);
  fabric.run_until(ready + us(30));
  const nlohmann::json said = table_json(fabric.topology, fabric.host(0));
  CHECK(said.at("hosts")[5] == nlohmann::json{1, 2, 3});
  CHECK(said.at("weights")[5] == nlohmann::json{1, 1, 1});
  CHECK(said.at("hosts")[0].empty());
  CHECK(said.at("speaker").at("prefixes") == 5);
  CHECK(said.at("speaker").at("sessions").size() == 4);
  CHECK(said.at("speaker").at("sessions")[0].at("with") == "p0.t0-0");
  SimFabric silent(planes_of(NicRoutes::kOff), {});
  CHECK(table_json(silent.topology, silent.host(0)).is_null());
}

TEST_CASE("weights of planes are kept while all ports have something to send") {
  PlaneWeights weights;
  weights.set({2, 2, 0, 2});
  CHECK(weights.empty());  // all alike
  weights.set({1, 2, 2, 2});
  REQUIRE_FALSE(weights.empty());
  std::map<uint32_t, int> sent;
  for (int i = 0; i < 700; ++i) {
    const auto plane = weights.due(0b1111, 0);
    REQUIRE(plane);
    weights.took(*plane);
    ++sent[*plane];
  }
  CHECK(sent == std::map<uint32_t, int>{{0, 100}, {1, 200}, {2, 200}, {3, 200}});
  // Only plane 0 is free: it goes ahead by little, and then waits for the others.
  int ahead = 0;
  for (; ahead < 100 && weights.due(0b0001, 0b1110); ++ahead) weights.took(0);
  CHECK(ahead >= 1);
  CHECK(ahead <= 2);
  // Where the others are of no use any more, it waits for none.
  CHECK(weights.due(0b0001, 0) == 0u);
}
