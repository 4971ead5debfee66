// What a congestion mark does to an entropy value: SKIP, and where it is asked for being held.

#include "endpoint/paths/ev_set.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "tests/endpoint/paths/ev_sets.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::choose_n;
using mrclab::test::make_set;
using mrclab::test::us;

TEST_CASE("a marked value loses exactly one turn") {
  EvSet set = make_set(1, 4);
  const uint32_t victim = choose_n(set, 4, 1).back();
  set.congested(victim, us(0));
  set.congested(victim, us(0));  // repeated feedback does not accumulate
  CHECK(set.state(victim) == EvState::kSkip);
  std::map<uint32_t, int> uses;
  for (const uint32_t index : choose_n(set, 3, 1)) ++uses[index];
  // Its turn came somewhere in this round or comes at the next selection.
  CHECK(uses[victim] == 0);
  for (const uint32_t index : choose_n(set, 9, 1)) ++uses[index];
  CHECK(set.state(victim) == EvState::kGood);
  CHECK(uses[victim] == 2);
}

namespace {

/// Marks hold a value for 10 us, at most for 40.
EvSetLimits holding(uint32_t active = 128) {
  EvSetLimits limits;
  limits.active = active;
  limits.hold_least = us(10);
  limits.hold_most = us(40);
  return limits;
}

/// Marks every use of a value until it is held; returns how many that took.
int mark_every_use(EvSet& set, uint32_t index, FabricTime at) {
  for (int marks = 1; marks < 100; ++marks) {
    set.congested(index, at);
    for (int i = 0; set.choose(1, at) != index; ++i) {
      if (i == 20) return marks;
    }
  }
  return 100;
}

}  // namespace

TEST_CASE("a value that is marked whenever it is used is held, tried, and held for twice as long") {
  EvSet set = make_set(1, 4, 0, holding());
  const auto uses = [&set](int64_t at, uint32_t index) {
    int count = 0;
    for (int i = 0; i < 40; ++i) count += set.choose(1, us(at)) == index;
    return count;
  };
  CHECK(uses(0, 2) == 10);
  const int marks = mark_every_use(set, 2, us(0));
  CHECK(marks > 3);
  CHECK(marks < 12);
  set.congested(2, us(5));  // a repeated mark does not re-arm it
  CHECK(uses(9, 2) == 0);
  CHECK(uses(10, 2) == 1);   // the trial
  CHECK(uses(29, 2) == 0);   // whose answer may still be on its way
  set.congested(2, us(29));  // marked: 20 us now
  CHECK(uses(48, 2) == 0);
  CHECK(uses(49, 2) == 1);
  set.congested(2, us(60));
  CHECK(uses(99, 2) == 0);
  CHECK(uses(100, 2) == 1);
  set.congested(2, us(110));  // at most 40 us
  CHECK(uses(149, 2) == 0);
  CHECK(uses(150, 2) == 1);
  CHECK(uses(170, 2) == 10);  // not marked: as good as any
  set.congested(2, us(171));  // and one mark costs one turn again
  CHECK(uses(171, 2) >= 9);
}

TEST_CASE(
    "a value that is always marked changes places with a good backup, and comes back as one") {
  EvSet set = make_set(1, 2, 0, holding(1));
  const uint32_t active = set.active(0) ? 0 : 1;
  mark_every_use(set, active, us(0));
  CHECK(!set.active(active));
  for (int i = 0; i < 10; ++i) CHECK(set.choose(1, us(1)) == 1 - active);
  CHECK(set.take_swaps().size() == 1);
}

TEST_CASE("where every value of a plane is held each mark costs one turn, as without holding") {
  EvSet set = make_set(1, 3, 0, holding());
  for (int round = 0; round < 30; ++round) {
    for (uint32_t i = 0; i < 3; ++i) set.congested(i, us(0));
    CHECK(set.choose(1, us(1)));
  }
  EvSet one = make_set(2, 1, 0, holding());
  int uses = 0;
  for (int i = 0; i < 100; ++i) {
    one.congested(0, us(0));
    uses += one.choose(0b01, us(1)) == 0;
  }
  CHECK(uses > 40);
}

TEST_CASE("one selection restores at most one skipped value") {
  for (uint32_t qp = 0; qp < 40; ++qp) {  // many orders of the rotation
    EvSet set = make_set(1, 4, qp);
    for (uint32_t i = 0; i < 3; ++i) set.congested(i, us(0));
    CHECK(set.choose(1, us(0)) == 3);
    int skipped = 0;
    for (uint32_t i = 0; i < 3; ++i) skipped += set.state(i) == EvState::kSkip;
    CHECK(skipped >= 2);
  }
}

TEST_CASE("with every value skipped the one just restored is used") {
  EvSet set = make_set(1, 3);
  for (uint32_t i = 0; i < 3; ++i) set.congested(i, us(0));
  const auto chosen = set.choose(1, us(0));
  REQUIRE(chosen);
  CHECK(set.state(*chosen) == EvState::kGood);
}

TEST_CASE("a mark that is older than the age-out costs no turn") {
  for (const bool old : {false, true}) {
    EvSet set = make_set(1, 2, 0, {.skip_age_out = us(22)});
    choose_n(set, 2, 1);
    set.congested(0, us(100));
    set.congested(0, us(121));  // not re-armed
    std::map<uint32_t, int> uses;
    for (int i = 0; i < 2; ++i) ++uses[set.choose(1, us(old ? 123 : 122)).value()];
    CHECK(uses[0] == (old ? 1 : 0));
  }
}

TEST_CASE(
    "without SKIP a mark costs no turn, and without avoidance a loss is held against nobody") {
  EvSetLimits limits;
  limits.skip = false;
  limits.avoid_lost = false;
  EvSet set = make_set(1, 4, 0, limits);
  set.congested(0, us(0));
  CHECK(set.lost(1, us(0)) == EvSet::LossVerdict::kUnchanged);
  const std::vector<uint32_t> round = choose_n(set, 4, 1);
  CHECK(std::set<uint32_t>(round.begin(), round.end()).size() == 4);
  CHECK(set.unusable() == 0);
}
