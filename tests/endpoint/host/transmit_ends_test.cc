#include "endpoint/host/transmit_ends.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "fabric/base/random.h"

namespace mrclab::endpoint {
namespace {

TEST_CASE("ports are done in the order of their ends, and of their numbers at one instant") {
  TransmitEnds ends(5);
  CHECK(ends.next_time() == FabricTime::never());
  const auto ns = [](int64_t n) { return FabricTime::from_ns(n); };
  ends.add(4, ns(30));
  ends.add(1, ns(10));
  ends.add(3, ns(20));
  ends.add(0, ns(30));
  ends.add(2, ns(20));
  std::vector<std::pair<FabricTime, uint32_t>> told;
  while (ends.next_time() != FabricTime::never()) {
    const FabricTime at = ends.next_time();
    told.emplace_back(at, ends.pop());
  }
  CHECK(told == std::vector<std::pair<FabricTime, uint32_t>>{
                    {ns(10), 1}, {ns(20), 2}, {ns(20), 3}, {ns(30), 0}, {ns(30), 4}});
}

TEST_CASE("whatever frames ports send, the next end is the least of them") {
  constexpr uint32_t kPorts = 8;
  TransmitEnds ends(kPorts);
  std::vector<FabricTime> of_port(kPorts, FabricTime::never());
  FabricTime now;
  for (uint64_t step = 0; step < 5'000; ++step) {
    const uint64_t random = mix64(step);
    const auto port = static_cast<uint32_t>(random % kPorts);
    if (of_port[port] == FabricTime::never()) {
      of_port[port] = now + FabricTime::from_ns(static_cast<int64_t>(random >> 8 & 0xF));
      ends.add(port, of_port[port]);
    } else {
      const auto least = std::min_element(of_port.begin(), of_port.end());
      now = ends.next_time();
      CHECK(now == *least);
      CHECK(ends.pop() == least - of_port.begin());
      *least = FabricTime::never();
    }
  }
}

}  // namespace
}  // namespace mrclab::endpoint
