// Sorting by buckets of time gives what a stable sort gives, however times are spread.

#include "analysis/capture/time_sort.h"

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <random>

namespace mrclab::analysis {
namespace {

struct Timed {
  int64_t t;
  uint32_t rank, number;
  bool operator<(const Timed& other) const {
    return t != other.t ? t < other.t : rank < other.rank;
  }
};

void check_sorted(const std::function<int64_t(uint32_t)>& time_of, uint32_t count) {
  std::mt19937 random(count);
  std::vector<Timed> items;
  for (uint32_t i = 0; i < count; ++i)
    items.push_back({time_of(i), static_cast<uint32_t>(random() % 3), i});
  std::vector<Timed> expected = items;
  std::stable_sort(expected.begin(), expected.end());
  static SortRoom<Timed> room;  // used again, as in a reading
  sort_by_time(std::span(items), room, [](const Timed& item) { return item.t; });
  bool same = true;
  for (uint32_t i = 0; i < count; ++i) same = same && items[i].number == expected[i].number;
  CHECK(same);
}

}  // namespace

TEST_CASE("sorting by time is a stable sort") {
  std::mt19937_64 random(7);
  for (const uint32_t count : {0u, 1u, 2u, 63u, 64u, 65u, 1000u, 4096u, 5000u}) {
    CAPTURE(count);
    check_sorted([](uint32_t i) { return int64_t{i} * 1000; }, count);
    check_sorted([](uint32_t i) { return -int64_t{i}; }, count);
    check_sorted([&](uint32_t i) { return int64_t{i} * 10 + int64_t(random() % 5000); }, count);
    check_sorted([&](uint32_t) { return int64_t(random() % 7); }, count);
    check_sorted([](uint32_t) { return int64_t{5}; }, count);
    check_sorted([&](uint32_t) { return static_cast<int64_t>(random()); }, count);
    // All but one at a few instants, which are one bucket: the stable sort has to step in.
    check_sorted([&](uint32_t i) { return i == 0 ? int64_t{1} << 60 : int64_t(random() % 900); },
                 count);
    check_sorted(
        [](uint32_t i) {
          return i % 2 == 0 ? std::numeric_limits<int64_t>::min()
                            : std::numeric_limits<int64_t>::max();
        },
        count);
  }
}

}  // namespace mrclab::analysis
