// Entropy values that are lost, denied, revived, replaced by backups, or lead to a dead port.

#include "endpoint/paths/ev_set.h"

#include <doctest/doctest.h>

#include <set>

#include "fabric/topology/path.h"
#include "tests/endpoint/paths/ev_sets.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::choose_n;
using mrclab::test::make_set;
using mrclab::test::us;

TEST_CASE("a retransmission avoids the value that lost it while there is another, free or not") {
  EvSet set = make_set(2, 2);
  for (int i = 0; i < 40; ++i) CHECK(set.choose(0b11, us(0), 1) != 1);
  EvSet one_each = make_set(2, 1);
  CHECK(!one_each.choose(0b01, us(0), 0));
  CHECK(one_each.choose(0b11, us(0), 0) == 1);
  one_each.set_live_ports({0b01}, {});
  CHECK(one_each.choose(0b11, us(0), 0) == 0);
  EvSet skipped = make_set(1, 2);
  skipped.congested(0, us(0));
  CHECK(skipped.choose(0b01, us(0), 0) == 1);
}

TEST_CASE("a lost value leaves the rotation until it is revived") {
  EvSet set = make_set(2, 4);
  CHECK(set.lost(5, us(0)) == EvSet::LossVerdict::kAssumedBad);
  CHECK(set.lost(5, us(0)) == EvSet::LossVerdict::kUnchanged);
  for (const uint32_t index : choose_n(set, 40, 0b11)) CHECK(index != 5);
  CHECK(set.unusable() == 1);
  set.revived(5, false, us(9));
  CHECK(set.state(5) == EvState::kGood);
  CHECK(set.good_since(5) == us(9));
  const auto again = choose_n(set, 16, 0b11);
  CHECK(std::count(again.begin(), again.end(), 5u) >= 1);
}

TEST_CASE("a value revived by a marked probe comes back as SKIP") {
  EvSet set = make_set(1, 4);
  set.lost(2, us(0));
  set.revived(2, true, us(1));
  CHECK(set.state(2) == EvState::kSkip);
}

TEST_CASE("no more values are assumed bad than leave a quarter of them active") {
  EvSet set = make_set(2, 4);
  int bad = 0;
  for (uint32_t i = 0; i < 8; ++i) bad += set.lost(i, us(0)) == EvSet::LossVerdict::kAssumedBad;
  CHECK(bad == 6);
  CHECK(set.choose(0b11, us(0)));
}

TEST_CASE("a plane that comes back starts GOOD, but what the controller denied stays denied") {
  EvSet set = make_set(2, 4);
  set.lost(0, us(0));
  LivePorts one;
  SUBCASE("the own port") { one = {.own = 0b10, .peer = 0b11}; }
  SUBCASE("the peer's") { one = {.own = 0b11, .peer = 0b10}; }
  set.set_live_ports(one, us(1));
  set.deny(1, us(1));
  CHECK(set.usable_ports() == 0b10);
  CHECK(set.unusable() == 4);
  CHECK(!set.choose(0b01, us(1)));
  set.set_live_ports({0b11, 0b11}, us(2));
  CHECK(set.usable_ports() == 0b11);
  CHECK(set.unusable() == 1);
  CHECK(set.state(0) == EvState::kGood);
  CHECK(set.state(1) == EvState::kDenied);
  CHECK(set.good_since(0) == us(2));
  CHECK(set.lost(1, us(0)) == EvSet::LossVerdict::kUnchanged);
  set.allow(1, us(3));
  CHECK(set.state(1) == EvState::kGood);
}

TEST_CASE("a lost value changes places with a backup of its own plane, and waits when it is back") {
  EvSet set = make_set(2, 8, 0, {.active = 6});
  const std::vector<EvSet::Index> other = set.rotation(1);
  REQUIRE(set.rotation(0).size() == 3);
  const uint32_t victim = set.rotation(0).front();
  CHECK(set.lost(victim, us(1)) == EvSet::LossVerdict::kAssumedBad);
  CHECK(!set.active(victim));
  CHECK(set.rotation(0).size() == 3);
  for (const uint32_t index : set.rotation(0)) {
    CHECK(set.plane(index) == 0);
    CHECK(set.state(index) == EvState::kGood);
  }
  CHECK(set.rotation(1) == other);
  set.revived(victim, false, us(2));
  CHECK(!set.active(victim));  // its place is taken
  for (const uint32_t index : choose_n(set, 60, 0b11)) CHECK(index != victim);
}

TEST_CASE(
    "a plane without usable backups keeps its places, and whoever is usable first fills one") {
  EvSet set = make_set(2, 4, 0, {.active = 6, .min_active = 1});
  std::vector<uint32_t> bad;
  for (uint32_t index = 0; index < 4; ++index) {
    set.lost(index, us(1));
    bad.push_back(index);
  }
  CHECK((set.ports_with_choice()) == 0b10);
  uint32_t backup = 4;
  for (const uint32_t index : bad) {
    if (!set.active(index)) backup = index;
  }
  REQUIRE(backup < 4);
  set.revived(backup, false, us(2));
  CHECK(set.active(backup));
  CHECK(set.ports_with_choice() == 0b11);
  CHECK(set.rotation(0).size() == 3);
}

TEST_CASE("ev_min_active is a count or a share, and is never gone below") {
  const auto bad_of = [](EvSetLimits limits) {
    EvSet set = make_set(2, 8, 0, limits);
    int bad = 0;
    for (uint32_t i = 0; i < 16; ++i) {
      bad += set.lost(i, us(0)) == EvSet::LossVerdict::kAssumedBad;
    }
    return bad;
  };
  CHECK(bad_of({.min_active = 5}) == 11);
  CHECK(bad_of({.min_active_share = {500'000'000}}) == 8);
  CHECK(bad_of({.min_active_share = {0}}) == 15);                         // one is always left
  CHECK(bad_of({.active = 8, .min_active_share = {500'000'000}}) == 12);  // 8 backups and 4 of 8
}

TEST_CASE("what the controller denies is replaced, and ev_min_active does not bind it") {
  EvSet set = make_set(2, 4, 0, {.active = 4});
  const uint32_t victim = set.rotation(1).front();
  set.deny(victim, us(1));
  CHECK(!set.active(victim));
  set.revived(victim, false, us(2));
  set.congested(victim, us(2));
  CHECK(set.lost(victim, us(2)) == EvSet::LossVerdict::kUnchanged);
  CHECK(set.state(victim) == EvState::kDenied);
  for (uint32_t i = 0; i < 8; ++i) set.deny(i, us(3));
  CHECK(!set.choose(0b11, us(3)));
  set.allow(5, us(4));
  CHECK(set.choose(0b11, us(4)) == 5);
}

TEST_CASE(
    "values that lead to a dead port of the peer rest, and their plane goes on with the others") {
  // Two planes of four values; the even ones lead to the peer's port 0, the odd ones to its port 1.
  const auto odd = [](Path path) { return path.uplink % 2; };
  std::vector<EntropyValue> values;
  for (uint32_t p = 0; p < 2; ++p) {
    for (uint32_t u = 0; u < 4; ++u) values.push_back(ev_of({p, u}));
  }
  const auto make = [&](EvSetLimits limits) {
    return EvSet(values, 2, limits, {7, NodeId{0}, 0}, odd);
  };
  const auto leads_to = [&](const EvSet& set, uint32_t index) {
    return odd(*path_of(set.value(index)));
  };

  EvSet set = make({});
  set.lost(*set.find(ev_of({0, 2})), us(1));
  set.deny(*set.find(ev_of({1, 2})), us(1));
  set.set_live_ports({.own = 0b11, .peer = 0b10}, us(2));
  CHECK(set.usable_ports() == 0b11);
  CHECK(set.unusable() == 4);
  CHECK(!set.connected(*set.find(ev_of({0, 0}))));
  CHECK(set.connected(*set.find(ev_of({0, 1}))));
  for (const uint32_t index : choose_n(set, 20, 0b11)) CHECK(leads_to(set, index) == 1);

  set.set_live_ports({.own = 0b11, .peer = 0b00}, us(3));
  CHECK(set.usable_ports() == 0);
  CHECK(!set.choose(0b11, us(3)));

  // Back: what was lost before starts GOOD, what was denied stays so.
  set.set_live_ports({.own = 0b11, .peer = 0b01}, us(4));
  const std::vector<uint32_t> chosen = choose_n(set, 20, 0b11);
  for (const uint32_t index : chosen) CHECK(leads_to(set, index) == 0);
  CHECK(std::set<uint32_t>(chosen.begin(), chosen.end()).size() == 3);
  CHECK(set.state(*set.find(ev_of({0, 2}))) == EvState::kGood);
  CHECK(set.good_since(*set.find(ev_of({0, 2}))) == us(4));
  CHECK(set.good_since(*set.find(ev_of({0, 1}))) == us(0));
  CHECK(set.state(*set.find(ev_of({1, 2}))) == EvState::kDenied);

  // With backups each port of the peer has its share of the places, and again when it is back; backups
  // that arrive take the places of values that do not. Each change of places is reported.
  EvSet few = make({.active = 4});
  const auto places = [&](uint32_t peer_port) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < few.size(); ++i) {
      if (few.active(i) && leads_to(few, i) == peer_port) ++count;
    }
    return count;
  };
  CHECK(places(0) == 2);
  CHECK(places(1) == 2);
  CHECK(few.take_swaps().empty());
  few.set_live_ports({.own = 0b11, .peer = 0b10}, us(1));
  CHECK(places(0) == 0);
  CHECK(places(1) == 4);
  const auto swaps = few.take_swaps();
  CHECK(!swaps.empty());
  for (const EvSet::Swap swap : swaps) {
    CHECK(leads_to(few, swap.in) == 1);
    CHECK(leads_to(few, swap.out) == 0);
  }
  CHECK(few.take_swaps().empty());
  few.set_live_ports({.own = 0b11, .peer = 0b11}, us(2));
  CHECK(places(0) == 2);
  CHECK(places(1) == 2);
  CHECK(few.take_swaps().size() == 2);
  for (uint32_t plane = 0; plane < 2; ++plane) CHECK(few.rotation(plane).size() == 2);

  // Values that cannot arrive do not count as left when one more is lost.
  EvSet last = make({.min_active = 2});
  last.set_live_ports({.own = 0b11, .peer = 0b10}, us(1));
  CHECK(last.lost(*last.find(ev_of({0, 1})), us(2)) == EvSet::LossVerdict::kAssumedBad);
  CHECK(last.lost(*last.find(ev_of({1, 1})), us(2)) == EvSet::LossVerdict::kAssumedBad);
  CHECK(last.lost(*last.find(ev_of({0, 3})), us(2)) == EvSet::LossVerdict::kSkipped);
}
