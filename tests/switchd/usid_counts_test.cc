#include "switchd/usid_counts.h"

#include <doctest/doctest.h>

#include <map>

#include "tests/support/property.h"

using namespace mrclab;
using namespace mrclab::switchd;

TEST_CASE("counters by uSID are those of a map, in its order") {
  CHECK(test::counterexample(
            [] {
              std::map<uint16_t, uint64_t> expected;
              UsidCounts counts;
              CHECK(counts.empty());
              for (int n = *rc::gen::inRange(0, 200); n > 0; --n) {
                const auto usid = *rc::gen::arbitrary<uint16_t>();
                ++expected[usid];
                ++counts.of(usid).packets;
              }
              std::vector<std::pair<uint16_t, uint64_t>> found;
              counts.for_each([&](uint16_t usid, const UsidCounters& counters) {
                found.emplace_back(usid, counters.packets);
              });
              const std::vector<std::pair<uint16_t, uint64_t>> wanted(expected.begin(),
                                                                      expected.end());
              RC_ASSERT(found == wanted);
              RC_ASSERT(counts.empty() == expected.empty());
            },
            100) == "");
}

TEST_CASE("the first and the last uSID have counters, too") {
  UsidCounts counts;
  counts.of(0).errors = 1;
  counts.of(UINT16_MAX).errors = 2;
  counts.of(0).bytes = 3;
  std::vector<uint16_t> seen;
  counts.for_each([&](uint16_t usid, const UsidCounters&) { seen.push_back(usid); });
  CHECK(seen == std::vector<uint16_t>{0, UINT16_MAX});
  CHECK(counts.of(0).errors == 1);
  CHECK(counts.of(0).bytes == 3);
  CHECK(counts.of(UINT16_MAX).errors == 2);
}
