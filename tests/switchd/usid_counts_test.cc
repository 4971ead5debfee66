#include "switchd/usid_counts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

using namespace mrclab;
using namespace mrclab::switchd;

TEST_CASE("counters by uSID are those of a map, in its order") {
  std::mt19937 random(1);
  for (const uint32_t of : {1u, 100u, 3000u, 65'536u}) {  // so many uSIDs are met
    std::map<uint16_t, uint64_t> expected;
    UsidCounts counts;
    CHECK(counts.empty());
    for (int packet = 0; packet < 2'000; ++packet) {
      const auto usid = static_cast<uint16_t>(random() % of * 7);
      ++expected[usid];
      ++counts.of(usid).packets;
    }
    std::map<uint16_t, uint64_t> found;
    std::vector<uint16_t> order;
    counts.for_each([&](uint16_t usid, const UsidCounters& counters) {
      found[usid] = counters.packets;
      order.push_back(usid);
    });
    CHECK(found == expected);
    CHECK(order.size() == expected.size());
    CHECK(std::is_sorted(order.begin(), order.end()));
    CHECK_FALSE(counts.empty());
  }
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
