#include "endpoint/paths/ev_set.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "fabric/topology/path.h"
#include "tests/support/fabrics.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::us;

namespace {

/// `planes` planes with `uplinks` values each.
EvSet make_set(uint32_t planes, uint32_t uplinks, uint32_t qp = 0, EvSetLimits limits = {}) {
  std::vector<EntropyValue> values;
  for (uint32_t p = 0; p < planes; ++p) {
    for (uint32_t u = 0; u < uplinks; ++u) values.push_back(ev_of({p, u}));
  }
  return {values, planes, limits, {7, NodeId{0}, qp}};
}

std::vector<uint32_t> choose_n(EvSet& set, size_t n, uint32_t ports) {
  std::vector<uint32_t> chosen;
  for (size_t i = 0; i < n; ++i) chosen.push_back(set.choose(ports, us(0)).value());
  return chosen;
}

}  // namespace

TEST_CASE("a cross-T1 pair gets every plane and uplink, a pair on one T0 one value per plane") {
  const Topology octet = test::octet();
  const auto cross = entropy_values(octet, 0, 4, 256, 1);
  CHECK(cross.size() == 32);
  CHECK(std::set<uint32_t>([&] {
          std::set<uint32_t> all;
          for (const auto ev : cross) all.insert(ev.value);
          return all;
        }())
            .size() == 32);
  const auto local = entropy_values(octet, 0, 1, 256, 1);
  REQUIRE(local.size() == 8);
  for (uint32_t p = 0; p < 8; ++p) CHECK(path_of(local[p]) == Path{p, kT0LocalUplink});
}

TEST_CASE("a value is the last of its plane when no other there is usable, active or backup") {
  EvSet one_each = make_set(2, 1);
  CHECK(one_each.is_last_of_plane(0));
  EvSetLimits limits;
  limits.active = 2;  // one per plane, the other a backup
  EvSet set = make_set(2, 2, 0, limits);
  CHECK(!set.is_last_of_plane(0));
  set.deny(1, us(0));
  CHECK(set.is_last_of_plane(0));
  CHECK(!set.is_last_of_plane(2));
}

TEST_CASE("a limit takes equally many values of each plane") {
  const auto values = entropy_values(test::octet(), 0, 4, 16, 1);
  std::map<uint32_t, int> per_plane;
  for (const auto ev : values) ++per_plane[path_of(ev)->plane];
  CHECK(per_plane.size() == 8);
  for (const auto& [plane, count] : per_plane) CHECK(count == 2);
}

TEST_CASE("where there are more paths than values, each queue pair draws its own") {
  const Topology octet = test::octet();
  const auto drawn = [&](uint32_t qpn) {
    return entropy_values(octet, 0, 4, 16, 1, Chosen::kByName, {qpn});
  };
  std::set<std::vector<EntropyValue>> sets;
  for (uint32_t qpn = 1; qpn <= 8; ++qpn) {
    CHECK(drawn(qpn) == drawn(qpn));
    CHECK(drawn(qpn).size() == 16);
    sets.insert(drawn(qpn));
  }
  CHECK(sets.size() == 8);  // of 6^8
}

TEST_CASE("the rotation uses every value of a plane once before any twice, and planes in turn") {
  EvSet set = make_set(2, 4);
  for (int round = 0; round < 5; ++round) {
    std::set<uint32_t> seen;
    for (const uint32_t index : choose_n(set, 8, 0b11)) seen.insert(index);
    CHECK(seen.size() == 8);
  }
  const auto chosen = choose_n(set, 4, 0b11);
  CHECK(set.plane(chosen[0]) != set.plane(chosen[1]));
}

TEST_CASE(
    "queue pairs that share a turn go round the planes together, each by itself meets another") {
  EvSet a = make_set(4, 2, 0), b = make_set(4, 2, 4);  // both would begin in one plane
  PlaneTurn turn;
  for (uint32_t i = 0; i < 16; ++i) {
    const uint32_t first = a.plane(a.choose(0b1111, us(0), turn).value());
    CHECK(b.plane(b.choose(0b1111, us(0), turn).value()) == (first + 1) % 4);
  }
  CHECK(a.plane(a.choose(0b1111, us(0)).value()) == b.plane(b.choose(0b1111, us(0)).value()));
}

TEST_CASE("rotations are reshuffled at each wrap and differ between queue pairs") {
  EvSet a = make_set(1, 16, 0);
  EvSet b = make_set(1, 16, 1);
  const auto first = choose_n(a, 16, 1);
  CHECK(choose_n(a, 16, 1) != first);
  CHECK(choose_n(b, 16, 1) != first);
}

TEST_CASE("only values of free and usable ports are chosen") {
  EvSet set = make_set(4, 2);
  for (int i = 0; i < 20; ++i) CHECK(set.plane(set.choose(0b0100, us(0)).value()) == 2);
  set.set_live_ports({0b1011}, us(1));
  CHECK(!set.choose(0b0100, us(0)));
  CHECK(!set.choose(0, us(0)));
}

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

TEST_CASE("every queue pair draws its own active values") {
  std::set<std::set<uint32_t>> choices;
  for (uint32_t qp = 0; qp < 10; ++qp) {
    const EvSet set = make_set(1, 16, qp, {.active = 4});
    choices.insert({set.rotation(0).begin(), set.rotation(0).end()});
  }
  CHECK(choices.size() > 5);
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

TEST_CASE("values are found by their number and by nothing else") {
  EvSet set = make_set(2, 4);
  CHECK(set.find(ev_of({1, 2})) == 6);
  CHECK(!set.find(ev_of({1, 4})));
  CHECK(!set.find(ev_of({2, 0})));
  CHECK(!set.find({0xFFFF'FFFF}));
}

TEST_CASE("values keep the numbers of their order, which need not be that of the values") {
  const std::vector<EntropyValue> values{ev_of({1, 2}), ev_of({0, 7}), ev_of({1, 0}),
                                         ev_of({0, 3})};
  const EvSet set(values, 2, {}, {7, NodeId{0}, 0});
  for (uint32_t i = 0; i < values.size(); ++i) {
    CHECK(set.value(i) == values[i]);
    CHECK(set.find(values[i]) == i);
  }
  CHECK(!set.find(ev_of({0, 0})));
  CHECK(!set.find(ev_of({1, 3})));
}

TEST_CASE("a value is good from the start until something else has been known of it") {
  EvSet set = make_set(2, 4);
  CHECK(set.good_since(3) == us(0));
  set.lost(3, us(5));
  CHECK(set.good_since(3) == us(0));
  set.revived(3, false, us(9));
  CHECK(set.good_since(3) == us(9));
  CHECK(set.good_since(2) == us(0));
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
  // that arrive take the places of values that do not. Each change of places is told.
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
