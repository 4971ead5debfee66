// Three planes with two uplinks each; a probe every 10 us, 35 us until it has failed.

#include "endpoint/queue_pair/reverse_path.h"

#include <doctest/doctest.h>

#include <set>

#include "fabric/topology/path.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::us;

namespace {

constexpr uint32_t kAllThree = 0b111;

ReversePath make_path(uint32_t planes = 3) {
  std::vector<EntropyValue> values;
  for (uint32_t p = 0; p < planes; ++p) {
    for (uint32_t u = 0; u < 2; ++u) values.push_back(ev_of({p, u}));
  }
  return {[values] { return values; }, planes, {us(40), us(120), us(10), us(35), 1, NodeId{0}, 4}};
}

}  // namespace

TEST_CASE("the way back follows the data and rotates over planes on which the peer was heard") {
  ReversePath path = make_path();
  CHECK(path.of_plane(1) == ev_of({1, 0}));
  path.note_data(Path{1, 1}, 1, us(100));
  path.note_data(Path{2, 1}, 2, us(110));
  CHECK(path.choose({kAllThree}, us(120)) == ev_of({1, 1}));
  CHECK(path.choose({kAllThree}, us(120)) == ev_of({2, 1}));
  CHECK(path.choose({kAllThree}, us(120)) == ev_of({1, 1}));  // plane 0 was silent for long
  CHECK(path.choose({0b001}, us(120)) == ev_of({0, 0}));      // but better than nothing
  CHECK(!path.choose({0}, us(120)));
  CHECK(path.choose({0b110}, us(145)) == ev_of({2, 1}));  // plane 1 is too long ago
}

TEST_CASE("a value that was answered stays, whatever the peer is heard on, until that is old") {
  ReversePath path = make_path();
  path.confirmed(ev_of({1, 1}), us(100));
  path.note_data(Path{1, 0}, 1, us(150));
  CHECK(path.of_plane(1) == ev_of({1, 1}));
  path.confirmed(ev_of({1, 0}), us(160));
  CHECK(path.of_plane(1) == ev_of({1, 0}));
  path.note_data(Path{1, 1}, 1, us(300));
  CHECK(path.of_plane(1) == ev_of({1, 1}));
}

TEST_CASE("one probe per interval on random values while the peer sends and we do not") {
  ReversePath path = make_path();
  CHECK(path.probe_due() == FabricTime::never());
  std::set<EntropyValue> probed;
  FabricTime due;
  for (int i = 0; i < 60; ++i) {
    path.note_data(Path{0, 0}, 0, us(100 + 10 * i));
    due = path.probe_due();
    CHECK(due == us(110 + 10 * i));
    const auto probe = path.next_probe({0b101}, due);
    REQUIRE(probe);
    probed.insert(probe->ev);
    CHECK(path.answered(probe->id, due + us(7)) == us(7));
    CHECK(!path.answered(probe->id, due + us(8)));  // once
    CHECK(path.of_plane(path_of(probe->ev)->plane) == probe->ev);
  }
  CHECK(probed.size() == 4);  // two planes are usable
  CHECK(!path.next_probe({kAllThree}, path.probe_due()));
  CHECK(path.probe_due() == FabricTime::never());  // the peer fell silent
}

TEST_CASE("who sends data sends no probes: its SACKs tell as much") {
  ReversePath path = make_path();
  for (int i = 0; i < 20; ++i) {
    path.note_data(Path{0, 0}, 0, us(100 + 10 * i));
    path.data_sent(path.probe_due() - us(5));
    CHECK(!path.next_probe({kAllThree}, path.probe_due()));
  }
}

TEST_CASE("a plane whose probe is not answered is avoided until something there is") {
  ReversePath path = make_path(2);
  FabricTime t = us(100);
  std::optional<ReversePath::Probe> lost;
  const auto tick = [&] {
    path.note_data(Path{0, 0}, 0, t);
    path.note_data(Path{1, 0}, 1, t);
    t = path.probe_due();
    return path.next_probe({0b11}, t);
  };
  while (!lost || path_of(lost->ev)->plane != 1) lost = tick();
  const FabricTime sent = t;
  while (t < sent + us(35)) {
    CHECK(!path.suspect(1));
    const auto other = tick();
    if (other && path_of(other->ev)->plane == 0) path.answered(other->id, t + us(5));
  }
  CHECK(path.suspect(1));
  for (int i = 0; i < 10; ++i) CHECK(path_of(path.choose({0b11}, t).value())->plane == 0);
  CHECK(path_of(path.choose({0b10}, t).value())->plane == 1);  // nothing else is left
  CHECK(!path.answered(lost->id, t));
  path.confirmed(ev_of({1, 1}), t);
  CHECK(!path.suspect(1));
}

TEST_CASE("a denied value carries nothing back, whoever is heard on it or answers") {
  ReversePath path = make_path();
  path.set_denied(ev_of({1, 0}), true);
  CHECK(path.of_plane(1) == ev_of({1, 1}));
  path.note_data(Path{1, 0}, 1, us(10));
  path.confirmed(ev_of({1, 0}), us(10));
  CHECK(path.of_plane(1) == ev_of({1, 1}));
  path.set_denied(ev_of({1, 1}), true);
  CHECK(!path.of_plane(1));
  CHECK(!path.choose({0b010}, us(11)));
  for (int i = 0; i < 40; ++i) {
    path.note_data(Path{1, 0}, 1, us(20 + 10 * i));
    CHECK(!path.next_probe({0b010}, path.probe_due()));
  }
  path.set_denied(ev_of({1, 1}), false);
  CHECK(path.of_plane(1) == ev_of({1, 1}));
}

TEST_CASE("values may come in any order of planes, and a plane has its own alone") {
  const std::vector<EntropyValue> values{ev_of({2, 1}), ev_of({0, 3}), ev_of({2, 0}), ev_of({0, 1}),
                                         ev_of({7, 0})};  // there is no plane 7
  ReversePath path([&] { return values; }, 3, {us(40), us(120), us(10), us(35), 1, NodeId{0}, 4});
  CHECK(path.of_plane(0) == ev_of({0, 3}));
  CHECK(!path.of_plane(1));
  CHECK(path.of_plane(2) == ev_of({2, 1}));
  path.set_denied(ev_of({2, 1}), true);
  path.set_denied(ev_of({2, 2}), true);  // none of its values
  CHECK(path.of_plane(2) == ev_of({2, 0}));
  path.set_denied(ev_of({2, 0}), true);
  CHECK(!path.of_plane(2));
  path.set_denied(ev_of({2, 1}), false);
  CHECK(path.of_plane(2) == ev_of({2, 1}));
  path.note_data(Path{2, 2}, 2, us(1));
  CHECK(path.of_plane(2) == ev_of({2, 2}));
}

TEST_CASE("a way back that leads to a dead port of the peer gives way to another of its plane") {
  // Two planes; uplink 0 leads to the peer's port 0, uplink 1 to its port 1.
  std::vector<EntropyValue> values;
  for (uint32_t p = 0; p < 2; ++p) {
    for (uint32_t u = 0; u < 2; ++u) values.push_back(ev_of({p, u}));
  }
  ReversePath path([&] { return values; }, 2, {us(40), us(120), us(10), us(35), 1, NodeId{0}, 4},
                   [](Path to) { return to.uplink; });
  path.note_data(Path{0, 0}, 0, us(100));
  path.note_data(Path{1, 1}, 1, us(100));
  const LivePorts first{.own = 0b11, .peer = 0b01}, second{.own = 0b11, .peer = 0b10};
  CHECK(path.of_plane(0, first) == ev_of({0, 0}));
  CHECK(path.of_plane(0, second) == ev_of({0, 1}));
  CHECK(!path.of_plane(0, {.own = 0b10, .peer = 0b01}));
  CHECK(!path.of_plane(0, {.own = 0b11, .peer = 0}));
  CHECK(path.choose(second, us(110)) == ev_of({0, 1}));
  CHECK(path.choose(second, us(110)) == ev_of({1, 1}));
  CHECK(path.choose(first, us(110)) == ev_of({0, 0}));
  CHECK(path.choose(first, us(110)) == ev_of({1, 0}));
  for (int i = 0; i < 20; ++i) {
    path.note_data(Path{0, 0}, 0, path.probe_due());
    const auto probe = path.next_probe(second, path.probe_due());
    REQUIRE(probe);
    CHECK(path_of(probe->ev)->uplink == 1);
  }
  // It is the value of its plane all the same, for when the port is back.
  CHECK(path.of_plane(0) == ev_of({0, 0}));
}

TEST_CASE("a probe to a port of the peer that has died says nothing about its plane") {
  // One plane; uplink 0 leads to the peer's port 0, uplink 1 to its port 1.
  const ReversePath::Config config{us(40), us(120), us(10), us(35), 1, NodeId{0}, 4};
  const auto uplink = [](Path to) { return to.uplink; };
  const LivePorts second{.own = 1, .peer = 0b10};
  const auto tick = [](ReversePath& path, LivePorts live) {
    const bool silent = path.probe_due() == FabricTime::never();
    path.note_data(Path{0, 0}, 0, silent ? us(0) : path.probe_due());
    return path.next_probe(live, path.probe_due());
  };
  ReversePath one([] { return std::vector{ev_of({0, 0})}; }, 1, config, uplink);
  REQUIRE(tick(one, {}));
  for (int i = 0; i < 6; ++i) CHECK(!tick(one, second));
  CHECK(!one.suspect(0));
  REQUIRE(tick(one, {}));
  for (int i = 0; i < 6; ++i) tick(one, {});
  CHECK(one.suspect(0));

  // Nor does an answered value that leads there speak for the one that is used instead.
  ReversePath two([] { return std::vector{ev_of({0, 0}), ev_of({0, 1})}; }, 1, config, uplink);
  two.confirmed(ev_of({0, 0}), us(0));
  for (int i = 0; i < 6; ++i) REQUIRE(tick(two, second));
  CHECK(two.suspect(0));
}

TEST_CASE(
    "the values of the way back are made once, when they are needed, and take nobody's place") {
  int made = 0;
  const auto make = [&made] {
    ++made;
    return std::vector{ev_of({0, 0}), ev_of({0, 1}), ev_of({1, 0}), ev_of({1, 1})};
  };
  ReversePath path(make, 2, {us(40), us(120), us(10), us(35), 1, NodeId{0}, 4});
  path.data_sent(us(1));
  path.confirmed(ev_of({1, 1}), us(2));
  CHECK(made == 0);  // a host that only sends data to this peer needs none
  CHECK(path.of_plane(1) == ev_of({1, 1}));
  CHECK(path.of_plane(0) == ev_of({0, 0}));
  CHECK(made == 1);
  CHECK(path.any({0b01}));
  path.set_denied(ev_of({0, 0}), true);
  CHECK(path.of_plane(0) == ev_of({0, 1}));
  CHECK(made == 1);
}
