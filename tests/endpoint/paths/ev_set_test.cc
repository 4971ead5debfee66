#include "endpoint/paths/ev_set.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "fabric/topology/path.h"
#include "tests/endpoint/paths/ev_sets.h"
#include "tests/support/fabrics.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::choose_n;
using mrclab::test::make_set;
using mrclab::test::us;

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

TEST_CASE("every queue pair draws its own active values") {
  std::set<std::set<uint32_t>> choices;
  for (uint32_t qp = 0; qp < 10; ++qp) {
    const EvSet set = make_set(1, 16, qp, {.active = 4});
    choices.insert({set.rotation(0).begin(), set.rotation(0).end()});
  }
  CHECK(choices.size() > 5);
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
