#include "fabric/node/soonest_port.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "fabric/base/random.h"

namespace mrclab {
namespace {

TEST_CASE("the next port has the least time, and of several the lowest number") {
  SoonestPort soonest(5);
  CHECK(soonest.next_time() == FabricTime::never());
  const auto ns = [](int64_t n) { return FabricTime::from_ns(n); };
  soonest.set(4, ns(30));
  soonest.set(1, ns(10));
  soonest.set(3, ns(20));
  soonest.set(0, ns(30));
  soonest.set(2, ns(20));
  std::vector<std::pair<FabricTime, uint32_t>> told;
  while (soonest.next_time() != FabricTime::never()) {
    told.emplace_back(soonest.next_time(), soonest.next());
    soonest.set(soonest.next(), FabricTime::never());
  }
  CHECK(told == std::vector<std::pair<FabricTime, uint32_t>>{
                    {ns(10), 1}, {ns(20), 2}, {ns(20), 3}, {ns(30), 0}, {ns(30), 4}});
}

TEST_CASE("whatever times ports have, the next one is the least of them") {
  for (const uint32_t ports : {1u, 2u, 8u, 21u, 64u, 65u, 700u}) {
    SoonestPort soonest(ports);
    std::vector<FabricTime> of_port(ports, FabricTime::never());
    for (uint64_t step = 0; step < 3'000; ++step) {
      const uint64_t random = mix64(step);
      // More and more ports take part: the tree grows while some have an instant.
      const uint64_t taking_part = std::min<uint64_t>(ports, 1 + step * ports / 1'500);
      const auto port = static_cast<uint32_t>(below(random, taking_part));
      const auto ahead = static_cast<int64_t>(mix64(random) & 0xF);
      of_port[port] = ahead == 0 ? FabricTime::never() : FabricTime::from_ps(ahead - 4);
      soonest.set(port, of_port[port]);
      const auto least = std::min_element(of_port.begin(), of_port.end());
      CHECK(soonest.next_time() == *least);
      CHECK(soonest.next() == least - of_port.begin());
    }
  }
}

}  // namespace
}  // namespace mrclab
