#include "endpoint/paths/ev_events.h"

#include <doctest/doctest.h>

#include "endpoint/paths/denylist.h"

using namespace mrclab;
using namespace mrclab::endpoint;

TEST_CASE("a full event queue says with the next event how many were lost in between") {
  EvEventQueue queue;
  EvEvent event;
  for (uint32_t i = 0; i < EvEventQueue::kLimit + 5; ++i) {
    event.ev = {i};
    queue.push(event);
  }
  CHECK(queue.poll()->ev.value == 0);
  event.ev = {999};
  queue.push(event);
  for (uint32_t i = 1; i < EvEventQueue::kLimit; ++i) {
    const auto next = queue.poll();
    REQUIRE(next);
    CHECK(next->ev.value == i);
    CHECK(next->drop_count == 0);
  }
  const auto last = queue.poll();
  REQUIRE(last);
  CHECK(last->ev.value == 999);
  CHECK(last->drop_count == 5);
  CHECK(!queue.poll());
  queue.push(event);
  CHECK(queue.poll()->drop_count == 0);
}

TEST_CASE("a value denied toward everybody and toward one peer needs both to be allowed") {
  Denylist list;
  list.set({5}, Denylist::kEverybody, true);
  list.set({5}, 3, true);
  CHECK(list.denies({5}, 3));
  CHECK(list.denies({5}, 4));
  CHECK(!list.denies({6}, 3));
  list.set({5}, Denylist::kEverybody, false);
  CHECK(list.denies({5}, 3));
  CHECK(!list.denies({5}, 4));
  list.set({5}, 3, false);
  CHECK(list.empty());
}
