#include "fabric/base/make_room.h"

#include <doctest/doctest.h>

#include <set>

TEST_CASE("a vector that is asked for room again and again has an eighth to spare at most") {
  std::vector<int> items;
  std::set<size_t> sizes;
  for (int i = 0; i < 10'000; ++i) {
    mrclab::make_room(items, 1);
    REQUIRE(items.capacity() > items.size());
    items.push_back(i);
    REQUIRE(items.capacity() <= items.size() + items.size() / 8 + 4);
    sizes.insert(items.capacity());
  }
  CHECK(sizes.size() < 80);
  mrclab::make_room(items, 20'000);
  CHECK(items.capacity() >= 30'000);
  CHECK(items[9'999] == 9'999);
}
