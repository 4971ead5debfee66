#include "endpoint/nic/explicit_paths.h"

#include <doctest/doctest.h>

#include <set>

#include "fabric/topology/path.h"

namespace mrclab::endpoint {
namespace {

Ipv6Address address(uint8_t last) {
  Ipv6Address a{0xfd};
  a[15] = last;
  return a;
}

ExplicitPathsConfig two_planes() {
  ExplicitPathsConfig config;
  config.local = address(1);
  config.remote = address(2);
  config.planes.resize(2);
  config.planes[1].source_mac = {2, 0, 0, 0, 1, 1};
  config.planes[1].next_hop_mac = {2, 0, 0, 0, 1, 2};
  config.planes[1].carriers = {address(11), address(12), address(13)};
  config.planes[1].accepted = {address(77)};
  return config;
}

}  // namespace

TEST_CASE("a plane without carriers sends straight to the peer's inner address") {
  const ExplicitPaths paths(two_planes());
  const PathHeaders headers = paths.headers(1, ev_of({0, kT0LocalUplink}));
  CHECK(headers.carrier == address(2));
  CHECK(headers.outer_source == address(1));
}

TEST_CASE("entropy values take the carriers of their plane in turn") {
  const ExplicitPaths paths(two_planes());
  CHECK(paths.headers(1, ev_of({1, 0})).carrier == address(11));
  CHECK(paths.headers(1, ev_of({1, 2})).carrier == address(13));
  CHECK(paths.headers(1, ev_of({1, 4})).carrier == address(12));
  CHECK(paths.headers(1, ev_of({1, 4})).destination_mac == MacAddress{2, 0, 0, 0, 1, 2});
  CHECK(paths.headers(1, ev_of({9, 0})).carrier == Ipv6Address{});
}

TEST_CASE(
    "only the own address and what was listed for the plane is accepted as outer destination") {
  const ExplicitPaths paths(two_planes());
  CHECK(paths.accepts(0, address(1)));
  CHECK_FALSE(paths.accepts(0, address(77)));
  CHECK(paths.accepts(1, address(77)));
  CHECK_FALSE(paths.accepts(1, address(2)));
  CHECK_FALSE(paths.accepts(7, address(77)));
}

TEST_CASE("the two ends of an explicit set-up are host 0 and host 1") {
  ExplicitPathsConfig config = two_planes();
  config.self = 1;
  const ExplicitPaths paths(config);
  CHECK(paths.address(1) == address(1));
  CHECK(paths.host_of(address(2)) == 0u);
  CHECK_FALSE(paths.host_of(address(3)));
}

TEST_CASE("an explicit set-up that cannot work is refused") {
  ExplicitPathsConfig config = two_planes();
  config.planes.clear();
  CHECK_THROWS_AS(ExplicitPaths{config}, std::invalid_argument);
  config.planes.resize(ExplicitPaths::kMaxPlanes + 1);
  CHECK_THROWS_AS(ExplicitPaths{config}, std::invalid_argument);
  config = two_planes();
  config.remote = config.local;
  CHECK_THROWS_AS(ExplicitPaths{config}, std::invalid_argument);
}

TEST_CASE("the model of two ends has the paths that were asked for, each with its own value") {
  for (const uint32_t per_plane : {1u, 2u, 16u}) {
    const Topology topology = plain_topology({.planes = 8, .evs_per_plane = per_plane});
    CHECK(topology.host_count() == 2);
    std::set<uint32_t> values;
    for (uint32_t p = 0; p < 8; ++p) {
      for (uint32_t u = 0; u < per_plane; ++u) {
        values.insert(ev_of({p, per_plane == 1 ? kT0LocalUplink : u}).value);
      }
    }
    CHECK(values.size() == 8 * per_plane);
    CHECK((topology.host_row(0) == topology.host_row(1)) == (per_plane == 1));
  }
}

}  // namespace mrclab::endpoint
