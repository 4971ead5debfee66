// REPS by hand (recycled_values.h).

#include "endpoint/paths/recycled_values.h"

#include <doctest/doctest.h>

#include <set>

#include "endpoint/paths/ev_set.h"
#include "fabric/topology/path.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::us;

TEST_CASE("what was answered is used once more, the oldest first; else the value is drawn") {
  RecycledValues cache;
  CHECK(!cache.next(us(0)));
  for (const uint32_t value : {5, 3, 9}) cache.recycle(value);
  CHECK(cache.next(us(1)) == 5u);
  cache.recycle(7);
  CHECK(cache.next(us(2)) == 3u);
  CHECK(cache.next(us(2)) == 9u);
  CHECK(cache.next(us(2)) == 7u);
  CHECK(!cache.next(us(2)));
}

TEST_CASE("eight are kept: the ninth takes the place of the oldest") {
  RecycledValues cache;
  for (uint32_t value = 0; value < 9; ++value) cache.recycle(value);
  for (uint32_t value = 1; value < 9; ++value) CHECK(cache.next(us(0)) == value);
  CHECK(!cache.next(us(0)));
}

TEST_CASE("after a loss the cache goes round, and is then filled anew from sixteen drawn values") {
  RecycledValues cache;
  for (const uint32_t value : {5, 3}) cache.recycle(value);
  CHECK(cache.next(us(0)) == 5u);
  cache.freeze(us(1), us(100));
  for (int round = 0; round < 3; ++round) {
    CHECK(cache.next(us(2)) == 5u);
    CHECK(cache.next(us(99)) == 3u);
  }
  cache.freeze(us(50), us(1000));  // a second loss does not prolong it
  cache.recycle(8);                // and an answer meanwhile is no sign afterwards
  CHECK(!cache.next(us(100)));
  cache.recycle(6);
  for (uint32_t i = 1; i < RecycledValues::kExploring; ++i) CHECK(!cache.next(us(101)));
  CHECK(cache.next(us(102)) == 6u);
  CHECK(!cache.next(us(102)));
}

TEST_CASE("a cache that froze empty leaves its values to be drawn") {
  RecycledValues cache;
  cache.freeze(us(0), us(10));
  CHECK(!cache.next(us(1)));
  cache.recycle(4);
  CHECK(cache.next(us(2)) == 4u);
  CHECK(cache.next(us(3)) == 4u);
}

namespace {

EvSet set_of(PathChoice choice) {
  std::vector<EntropyValue> values;
  for (uint32_t plane = 0; plane < 2; ++plane) {
    for (uint32_t uplink = 0; uplink < 16; ++uplink) values.push_back(ev_of({plane, uplink}));
  }
  EvSetLimits limits;
  limits.choice = choice;
  limits.skip = limits.avoid_lost = false;
  limits.frozen = us(50);
  return {values, 2, limits, {7, NodeId{0}, 0}};
}

}  // namespace

TEST_CASE("a recycled value is used in its own plane's turn, and never on a port that is down") {
  EvSet evs = set_of(PathChoice::kReps);
  const uint32_t in_plane_1 = evs.choose(0b10, us(0)).value();
  evs.answered_unmarked(in_plane_1);
  CHECK(evs.plane(evs.choose(0b11, us(1)).value()) == 0);
  CHECK(evs.choose(0b11, us(1)) == in_plane_1);
  evs.answered_unmarked(in_plane_1);
  CHECK(evs.choose(0b10, us(1), in_plane_1) != in_plane_1);  // it is to be avoided
  evs.answered_unmarked(in_plane_1);
  evs.deny(in_plane_1, us(1));
  for (int i = 0; i < 40; ++i) CHECK(evs.choose(0b10, us(1)) != in_plane_1);
  evs.answered_unmarked(in_plane_1);
  evs.set_live_ports({0b01}, us(2));
  for (int i = 0; i < 40; ++i) CHECK(evs.plane(evs.choose(0b11, us(3)).value()) == 0);
}

TEST_CASE("after a loss a plane uses what worked of late, and the other plane goes on") {
  EvSet evs = set_of(PathChoice::kReps);
  const uint32_t a = evs.choose(0b10, us(0)).value(), b = evs.choose(0b10, us(0)).value();
  evs.answered_unmarked(a);
  evs.answered_unmarked(b);
  evs.note_loss(a, us(1));
  for (int i = 0; i < 10; ++i) {
    CHECK(evs.choose(0b10, us(2)) == a);
    CHECK(evs.choose(0b10, us(50)) == b);
  }
  std::set<uint32_t> drawn, of_plane_0;
  for (int i = 0; i < 16; ++i) {
    drawn.insert(evs.choose(0b10, us(51)).value());
    of_plane_0.insert(evs.choose(0b01, us(2)).value());
  }
  CHECK(drawn.size() > 8);
  CHECK(of_plane_0.size() == 16);
}

TEST_CASE("oblivious spraying goes round all values, whatever is answered, marked or lost") {
  EvSet told = set_of(PathChoice::kOblivious), untold = set_of(PathChoice::kOblivious);
  for (int i = 0; i < 100; ++i) {
    const uint32_t index = told.choose(0b11, us(i)).value();
    CHECK(untold.choose(0b11, us(i)) == index);
    told.answered_unmarked(index);
    told.congested(index, us(i));
    told.note_loss(index, us(i));
    told.lost(index, us(i));
  }
}
