// The rules of FARE by hand-checked examples.

#include <doctest/doctest.h>

#include "routing/fare/hop_weights.h"
#include "routing/fare/path_share.h"

using namespace mrclab;
using namespace mrclab::routing;

namespace {

using Weights = std::vector<uint32_t>;

BitRate gbps(uint64_t rate) { return BitRate::from_gbps(rate); }

Weights weights_of_mbps(std::initializer_list<uint64_t> rates, const WeightLimits& limits = {}) {
  std::vector<BitRate> bandwidths;
  for (const uint64_t rate : rates) bandwidths.push_back({rate * 1'000'000});
  return hop_weights(bandwidths, limits);
}

HeardShare heard(uint32_t link, uint32_t node, uint64_t rate, uint64_t advertised) {
  return {PortId{link}, RouterId{node}, gbps(rate), gbps(advertised)};
}

}  // namespace

TEST_CASE(
    "a node's bandwidth is the least of its links together and of what it says, spread evenly") {
  const std::vector<HeardShare> two_links{heard(5, 1, 100, 150), heard(6, 1, 100, 150),
                                          heard(7, 2, 100, 200), heard(8, 2, 100, 200)};
  const auto per_node = link_shares(two_links, ShareGranularity::kPerNode);
  REQUIRE(per_node);
  CHECK(*per_node == std::vector<LinkShare>{
                         {{5}, gbps(75)}, {{6}, gbps(75)}, {{7}, gbps(100)}, {{8}, gbps(100)}});
  CHECK(total(*per_node) == gbps(350));
  const auto per_link = link_shares(two_links, ShareGranularity::kPerLink);
  CHECK(total(*per_link) == gbps(400));
}

TEST_CASE("one path without bandwidth leaves nothing to weigh") {
  std::vector<HeardShare> shares{heard(1, 1, 100, 50), heard(2, 2, 100, 100)};
  shares[1].advertised.reset();
  CHECK_FALSE(link_shares(shares, ShareGranularity::kPerNode));
  CHECK_FALSE(link_shares(shares, ShareGranularity::kPerLink));
}

TEST_CASE("what is advertised is the sum by N, no more than the link") {
  CHECK(share_to_advertise(gbps(150), 2, gbps(100)) == gbps(75));
  CHECK(share_to_advertise(gbps(400), 2, gbps(100)) == gbps(100));
  CHECK(share_to_advertise(gbps(60), 0, gbps(100)) == gbps(60));
}

TEST_CASE("weights have no common divisor, and a float32's rounding does not spoil them") {
  CHECK(weights_of_mbps({75'000, 75'000, 100'000, 100'000}) == Weights{3, 3, 4, 4});
  CHECK(weights_of_mbps({200'000, 400'000, 400'000, 400'000}) == Weights{1, 2, 2, 2});
  CHECK(weights_of_mbps({100, 100, 200, 200}) == Weights{1, 1, 2, 2});
  CHECK(hop_weights(std::vector<BitRate>{{9'374'999'552u * 8}, {12'499'999'744u * 8}}, {}) ==
        Weights{3, 4});
  CHECK(weights_of_mbps({33'333, 50'000}) == Weights{2, 3});
  CHECK(weights_of_mbps({100'000, 133'333}) == Weights{3, 4});
  CHECK(weights_of_mbps({16'667, 19'048}) == Weights{7, 8});
  CHECK(weights_of_mbps({42}) == Weights{1});
  CHECK(weights_of_mbps({}) == Weights{});
}

TEST_CASE(
    "weights never exceed the group, and nearly right ones are taken where right ones do not fit") {
  CHECK(weights_of_mbps({97, 89}, {BitRate{1'000'000}, 16, 100}) == Weights{8, 7});
  CHECK(weights_of_mbps({1, 1'000'000}, {BitRate{1'000'000}, 8, 100}) == Weights{1, 6});
  CHECK(weights_of_mbps({5, 5, 5, 5}, {BitRate{1'000'000}, 3, 100}) == Weights{1, 1, 1, 0});
}

TEST_CASE("a path of bandwidth 0 is drained, unless all are") {
  CHECK(weights_of_mbps({0, 100, 100}) == Weights{0, 1, 1});
  CHECK(weights_of_mbps({0, 0, 0}) == Weights{1, 1, 1});
}
