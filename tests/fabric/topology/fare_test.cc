// Fabrics whose switches route by themselves: how files describe it, and what they are numbered by.

#include "fabric/topology/fare.h"

#include <doctest/doctest.h>

#include <set>

#include "fabric/paths/ecmp.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/path.h"
#include "tests/support/errors.h"

using namespace mrclab;

namespace {

FabricShape fare_shape(FareChoice fare = {}) {
  FabricShape shape;
  shape.name = "routing";
  shape.planes = shape.t0 = shape.t1 = shape.hosts_per_t0 = 3;
  shape.routing.by_default = Routing::kFare;
  shape.routing.fare = fare;
  return shape;
}

}  // namespace

TEST_CASE("NICs speak where there are several planes, unless the fabric says otherwise") {
  const auto told = [](uint32_t planes, std::optional<NicRoutes> nics, bool fare = true) {
    FabricShape shape = fare_shape({.nics = nics});
    shape.planes = planes;
    if (!fare) shape.routing = {};
    return nic_routes(build_topology(shape));
  };
  CHECK(told(1, {}) == NicRoutes::kOff);
  CHECK(told(2, {}) == NicRoutes::kAll);
  CHECK(told(2, NicRoutes::kOff) == NicRoutes::kOff);
  CHECK(told(1, NicRoutes::kWanted) == NicRoutes::kWanted);
  CHECK(told(2, {}, false) == NicRoutes::kOff);
}

TEST_CASE("what a file says of FARE is read back as it was") {
  RoutingChoice all{.by_default = Routing::kFare, .same_seed = true};
  all.fare = {Spray::kFlow, FareDelays::kFrr, FabricTime::from_us(50), NicRoutes::kAggregates,
              FabricTime::from_ms(3)};
  RoutingChoice some{.by_default = Routing::kFare};
  some.fare.delays = FareDelays::kHardware;
  RoutingChoice fast{.by_default = Routing::kFare};
  fast.fare.fast_reroute = RerouteScope::kRemote;
  fast.fare.detect = FabricTime::from_us(3);
  fast.fare.react = FabricTime::zero();
  RoutingChoice silent{.by_default = Routing::kFare};
  silent.fare.delays = FareDelays::kHardware;
  silent.fare.bfd = FabricTime::zero();
  for (const RoutingChoice& choice :
       {RoutingChoice{.by_default = Routing::kFare}, some, all, fast, silent}) {
    FabricShape shape = fare_shape();
    shape.routing = choice;
    CHECK(parse_fabric(read_yaml_text(to_yaml(shape), "f.yaml")).routing == choice);
  }
  const std::string text =
      "name: f\nplanes: 1\nt0: 2\nt1: 1\nhosts_per_t0: 1\nrouting: {default: fare, spray: flow, "
      "delays: frr, bfd: 50us, nics: aggregates, ready: 3ms, hash_seed: same}\n";
  CHECK(parse_fabric(read_yaml_text(text, "f.yaml")).routing == all);
}

TEST_CASE("hardware has the shortest common BFD interval (RFC 7419) unless another is named") {
  FareChoice fare;
  CHECK(fare.bfd_interval() == FabricTime::zero());
  fare.delays = FareDelays::kFrr;
  CHECK(fare.bfd_interval() == FabricTime::zero());
  fare.delays = FareDelays::kHardware;
  CHECK(fare.bfd_interval() == FabricTime::from_us(3'300));
  fare.bfd = FabricTime::zero();
  CHECK(fare.bfd_interval() == FabricTime::zero());
}

TEST_CASE("times of fast reroute need it, are bounded, and need switches of ours") {
  const auto refused = [](const std::string& rest) {
    return test::error_of([&] {
      parse_fabric(
          read_yaml_text("name: f\nplanes: 1\nt0: 2\nt1: 1\nhosts_per_t0: 1\n" + rest, "f.yaml"));
    });
  };
  CHECK(refused("routing: {default: fare, detect: 5us}").find("found \"detect\"") !=
        std::string::npos);
  CHECK(refused("routing: {default: fare, fast_reroute: local, react: 1s}")
            .find("expected at most 100ms") != std::string::npos);
  CHECK(refused("routing: {default: ecmp, fast_reroute: local}").find("default: fare") !=
        std::string::npos);
  CHECK(refused("forwarding: kernel\nrouting: {default: fare, fast_reroute: local}")
            .find("fast_reroute, beside \"forwarding: kernel\"") != std::string::npos);
}

TEST_CASE("every end of a link has an address of its own, which is no host's") {
  const Topology t = build_topology(fare_shape());
  std::set<Ipv6Address> seen;
  for (const NodeSite& site : t.nodes) {
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      const Ipv6Address address = link_address(t, {site.id, PortId{i}});
      CHECK(seen.insert(address).second);
      CHECK_FALSE(host_of_address(t, address).has_value());
    }
  }
  CHECK(to_string(link_address(t, *t.find_port("h0:p1"))) == "fd01::12:0:1");
  CHECK(to_string(link_address(t, *t.find_port("p1.t0-0:d0"))) == "fd01::12:0:2");
}

TEST_CASE("T1s of a plane are one AS, every T0 is its own, every node one router") {
  const Topology t = build_topology(fare_shape());
  std::set<uint32_t> systems, routers;
  for (const NodeSite& site : t.nodes) {
    routers.insert(router_id(site.id));
    if (site.role != NodeRole::kHost) systems.insert(as_number(t, site.id));
  }
  CHECK(systems.size() == 3 * (3 + 1));
  CHECK(routers.size() == t.nodes.size());
  CHECK(as_number(t, t.t1(2, 0)) == 4'200'000'002);
  CHECK(as_number(t, t.t0(2, 1)) == 4'200'120'001);
}

TEST_CASE("when a fabric is ready follows from its delays, or is said") {
  const auto ready = [](FareChoice fare) { return fare_ready(build_topology(fare_shape(fare))); };
  CHECK(ready({}) < FabricTime::from_us(200));
  CHECK(ready({.delays = FareDelays::kHardware}) > ready({}));
  CHECK(ready({.delays = FareDelays::kFrr}) > FabricTime::from_ms(3'000));
  CHECK(ready({.ready = FabricTime::from_us(7)}) == FabricTime::from_us(7));
}

TEST_CASE("the path of a packet is known where it has one way, and nowhere else") {
  const Topology t = build_topology(fare_shape());
  const Path hashed{1, 5, Chosen::kByHashIpv6};
  CHECK(chosen_by(t) == Chosen::kByHashIpv6);
  CHECK(path_between(t, 0, 1, hashed) == Path{1, kT0LocalUplink});
  CHECK_FALSE(path_between(t, 0, 3, hashed).has_value());
}
