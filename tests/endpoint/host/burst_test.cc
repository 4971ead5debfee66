#include "endpoint/nic/burst.h"

#include <doctest/doctest.h>

namespace mrclab::endpoint {

TEST_CASE("a burst takes its ports in turn, and those without a path not at all") {
  Burst burst(3, {10'000}, 4'096, 4, {{0, 1}, {2, 0}, {2, 1}});
  CHECK_FALSE(burst.next(0b1010));  // ports 1 and 3 lead nowhere
  const std::optional<Burst::Datagram> first = burst.next(0b1111), second = burst.next(0b1111),
                                       third = burst.next(0b1111);
  REQUIRE(first);
  REQUIRE(second);
  REQUIRE(third);
  CHECK(first->port == 0);
  CHECK(second->port == 2);
  CHECK(third->port == 0);
  CHECK(first->ev == ev_of({0, 1}));
  CHECK(second->ev == ev_of({2, 0}));
  CHECK(third->payload == 10'000 - 2 * 4'096);
  CHECK(burst.done());
  CHECK_FALSE(burst.next(0b1111));
}

}  // namespace mrclab::endpoint
