#include "fabric/text/counted_noun.h"

#include <doctest/doctest.h>

namespace mrclab {

TEST_CASE("one thing is counted in the singular, none and several in the plural") {
  CHECK(counted_noun(1, "fault") == "1 fault");
  CHECK(counted_noun(0, "fault") == "0 faults");
  CHECK(counted_noun(2, "fault") == "2 faults");
  CHECK(counted_noun(2, "process") == "2 processes");
  CHECK(counted_noun(2, "switch") == "2 switches");
  CHECK(counted_noun(2, "reply") == "2 replies");
  CHECK(counted_noun(2, "gateway") == "2 gateways");
  CHECK(counted_noun(2, "pair of hosts") == "2 pairs of hosts");
  CHECK(counted_noun(2, "queue pair in error") == "2 queue pairs in error");
  CHECK(counted_noun(1, {"fault that heals", "faults that heal"}) == "1 fault that heals");
  CHECK(counted_noun(3, {"fault that heals", "faults that heal"}) == "3 faults that heal");
}

}  // namespace mrclab
