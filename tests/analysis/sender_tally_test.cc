// Who sent what arrived: what has no room in the tally is counted, so that no check passes for want of it.

#include "analysis/frame/sender_tally.h"

#include <doctest/doctest.h>

#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::analysis;

TEST_CASE("datagrams of more pairs than a tally has room for are counted as left out") {
  const Topology topology = test::octet();
  SenderTally tally, all;
  constexpr uint32_t kMore = 100;
  for (uint32_t i = 0; i < SenderTally::kMostWays + kMore; ++i) {
    tally.arrived(i, 0, true, FabricTime::zero(), topology);
  }
  CHECK(tally.uncounted == kMore);
  tally.arrived(0, 0, true, FabricTime::zero(), topology);  // of a pair that has room
  CHECK(tally.uncounted == kMore);
  all.add(tally);
  CHECK(all.uncounted == kMore);
  CHECK(all.arrivals == SenderTally::kMostWays + kMore + 1);
}
