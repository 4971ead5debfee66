// What a congestion mark does to an entropy value: SKIP, and where it is asked for fewer turns.

#include "endpoint/paths/ev_set.h"

#include <doctest/doctest.h>

#include <cstdlib>
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

/// Marks cost turns, which grow by periods of 10 us.
EvSetLimits turn_shares() {
  EvSetLimits limits;
  limits.turn_period = us(10);
  return limits;
}

/// How many of `choices` a value has.
int uses(EvSet& set, uint32_t index, FabricTime at, int choices) {
  int count = 0;
  for (int i = 0; i < choices; ++i) count += set.choose(1, at) == index;
  return count;
}

/// So many rounds over the plane, one each 10 us, in which each use of a value of `marked` is marked.
FabricTime mark_uses(EvSet& set, uint32_t marked, FabricTime at, int rounds) {
  for (int round = 0; round < rounds; ++round, at += us(10)) {
    for (uint32_t i = 0; i < set.size(); ++i) {
      const auto index = set.choose(1, at);
      if (index && (marked & 1u << *index) != 0) set.congested(*index, at + us(5), at);
    }
  }
  return at;
}

}  // namespace

TEST_CASE("a value that is marked more often than its plane has fewer turns, and grows back") {
  EvSet set = make_set(1, 4, 0, turn_shares());
  CHECK(uses(set, 2, us(0), 40) == 10);
  const FabricTime struck = mark_uses(set, 0b0100, us(10), 100);
  CHECK(set.turns(2) < EvSet::kWhole / 8);
  CHECK(set.turns(2) >= EvSet::kWhole / 128);
  CHECK(set.turns(1) == EvSet::kWhole);
  CHECK(set.state(2) == EvState::kGood);  // it is not left
  CHECK(uses(set, 2, struck, 400) < 15);
  const FabricTime healed = mark_uses(set, 0, struck, 400);
  CHECK(set.turns(2) == EvSet::kWhole);
  CHECK(uses(set, 2, healed, 40) >= 9);
}

TEST_CASE("values of a plane that are marked alike have as many uses") {
  for (const uint32_t every : {1, 2, 3}) {
    CAPTURE(every);
    EvSet set = make_set(1, 4, 0, turn_shares());
    std::map<uint32_t, int> count;
    for (uint32_t i = 0; i < 400; ++i) {
      const auto index = set.choose(1, us(i));
      REQUIRE(index);
      // Each n-th use of each value.
      if (count[*index]++ % every == 0) set.congested(*index, us(i + 5), us(i));
    }
    // Their shares may fall, but alike: who has waited longest is next.
    for (uint32_t i = 0; i < 4; ++i) CHECK(std::abs(count[i] - 100) < 15);
  }
}

TEST_CASE("marks of packets that were sent before a share fell do not lower it again") {
  EvSet set = make_set(1, 4, 0, turn_shares());
  for (int i = 0; i < 8; ++i) set.congested(1, us(20), us(10));
  const uint32_t fallen = set.turns(1);
  CHECK(fallen < EvSet::kWhole);
  set.congested(1, us(21), us(19));
  CHECK(set.turns(1) == fallen);
  set.congested(1, us(22));  // sent at an unknown time: once in a period
  CHECK(set.turns(1) == fallen);
  set.congested(1, us(22), us(21));
  CHECK(set.turns(1) < fallen);
}

TEST_CASE("a share does not grow while its value is out of use") {
  EvSet set = make_set(1, 4, 0, turn_shares());
  const FabricTime struck = mark_uses(set, 0b1000, us(0), 20);
  const uint32_t fallen = set.turns(3);
  set.lost(3, struck);
  set.revived(3, false, us(9'000));
  uses(set, 3, us(9'000), 8);
  CHECK(set.turns(3) == fallen);
}

TEST_CASE("a mark costs fewer turns where the rest of the plane is marked as well") {
  EvSet clean = make_set(1, 4, 0, turn_shares()), full = make_set(1, 4, 0, turn_shares());
  // Value 0 is always marked; in the full plane the others are each second time.
  FabricTime at = us(0);
  for (int round = 0; round < 8; ++round, at += us(10)) {
    for (uint32_t i = 0; i < 16; ++i) {
      const auto a = clean.choose(1, at), b = full.choose(1, at);
      if (a == 0) clean.congested(0, at + us(5), at);
      if (b && (b == 0 || i % 2 == 0)) full.congested(*b, at + us(5), at);
    }
  }
  CHECK(clean.turns(0) < EvSet::kWhole / 12);
  CHECK(full.turns(0) > EvSet::kWhole / 4);
  CHECK(full.turns(0) < EvSet::kWhole / 2);
}

TEST_CASE("a plane of which all values are slowed still takes packets, in turns") {
  EvSet set = make_set(1, 3, 0, turn_shares());
  for (uint32_t i = 0; i < 3; ++i) {
    for (int mark = 0; mark < 12; ++mark) set.congested(i, us(1), us(0));
    CHECK(set.turns(i) < EvSet::kWhole);
  }
  std::map<uint32_t, int> count;
  for (int i = 0; i < 300; ++i) ++count[set.choose(1, us(2)).value()];
  for (uint32_t i = 0; i < 3; ++i) CHECK(count[i] > 30);
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
