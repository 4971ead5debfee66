#include "endpoint/paths/lazy_ev_set.h"

#include <doctest/doctest.h>

#include <utility>

using namespace mrclab;
using namespace mrclab::endpoint;

TEST_CASE("the values of a queue pair are made once, when the first is needed, also after a move") {
  int made = 0;
  LazyEvSet lazy(LazyEvSet::Make([&made] {
    ++made;
    return EvSet({ev_of({0, 0}), ev_of({1, 3})}, 2, {}, {1, NodeId{0}, 0});
  }));
  CHECK(!lazy.is_made());
  LazyEvSet moved = std::move(lazy);
  CHECK(made == 0);
  CHECK(moved.get().size() == 2);
  CHECK(moved.get().value(1) == ev_of({1, 3}));
  CHECK(made == 1);
  CHECK(moved.is_made());
  const LazyEvSet there = EvSet({ev_of({0, 0})}, 2, {}, {1, NodeId{0}, 0});
  CHECK(there.is_made());
  CHECK(there.get().size() == 1);
}
