// Who paused whom: roots, what stands below them and in which order, and which reason counts.

#include <doctest/doctest.h>

#include "analysis/verdict/pause_report.h"
#include "tests/support/pauses.h"

using namespace mrclab;
using namespace mrclab::analysis;
using test::ns;
using test::Pauses;
using test::pausing_fabric;
using test::ps;
using test::us;

namespace {

/// "p0.t0-1:d1 0; p0.t1-0:d1 1; ": the ports of a tree, and how deep each stands.
std::string shape_of(const Pauses& pauses, const PauseTree& tree) {
  std::string text;
  for (const PausedPort& place : tree.places) {
    text += pauses.name(place.port) + ' ' + std::to_string(place.depth) + "; ";
  }
  return text;
}

}  // namespace

TEST_CASE("two roots have a tree each, first the one that held back longer in all") {
  Pauses pauses;
  pauses.turn("p0.t0-1:u0", "p0.t0-1:d0");
  pauses.turn("p0.t0-0:u1", "p0.t0-0:d0");
  pauses.stands("p0.t0-1:d0", us(100), us(150));  // h2 asks
  pauses.stands("p0.t1-0:d1", us(120), us(400));  // ... and so does p0.t0-1, for longer
  pauses.stands("p0.t0-0:d0", us(500), us(560));  // h0 asks
  pauses.stands("p0.t1-1:d0", us(510), us(520));
  const PauseTree tree = pauses.tree();
  CHECK(shape_of(pauses, tree) == "p0.t0-0:d0 0; p0.t1-1:d0 1; p0.t0-1:d0 0; p0.t1-0:d1 1; ");
  REQUIRE(tree.places.size() == 4);
  CHECK(tree.places[1].above == 0);
  CHECK(tree.places[3].above == 2);
  CHECK(pauses.topology.node(tree.places[3].asked_by).name == "p0.t0-1");
  CHECK_FALSE(tree.cut);
}

TEST_CASE("a root's ports stand together, and it is ranked by their sum") {
  Pauses pauses;
  pauses.stands("h0:p0", us(100), us(130));  // p0.t0-0 asks two hosts, 50 us in all
  pauses.stands("h1:p0", us(100), us(120));
  pauses.stands("h2:p0", us(100), us(140));  // p0.t0-1 asks one, for longer than each of them
  CHECK(shape_of(pauses, pauses.tree()) == "h0:p0 0; h1:p0 0; h2:p0 0; ");
}

TEST_CASE("what one port made stand is ordered by how long it stood, then by the port") {
  Pauses pauses;
  pauses.turn("p0.t0-0:d0", "p0.t0-0:u0");
  pauses.turn("p0.t0-0:d1", "p0.t0-0:u0");
  pauses.turn("p0.t0-0:u1", "p0.t0-0:u0");
  pauses.stands("p0.t0-0:u0", us(100), us(400));
  pauses.stands("h1:p0", us(110), us(150));
  pauses.stands("h0:p0", us(120), us(160));
  pauses.stands("p0.t1-1:d0", us(130), us(180));
  CHECK(shape_of(pauses, pauses.tree()) == "p0.t0-0:u0 0; p0.t1-1:d0 1; h0:p0 1; h1:p0 1; ");
}

TEST_CASE("of several reasons the one counts that was in force for longest") {
  for (const bool first_uplink : {true, false}) {
    Pauses pauses;
    pauses.turn("p0.t0-0:d0", "p0.t0-0:u0");
    pauses.turn("p0.t0-0:d0", "p0.t0-0:u1");
    pauses.stands("p0.t0-0:u0", us(first_uplink ? 100 : 110), us(300));
    pauses.stands("p0.t0-0:u1", us(first_uplink ? 110 : 100), us(300));
    pauses.stands("h0:p0", us(120), us(200));
    const PauseTree tree = pauses.tree();
    REQUIRE(tree.places.size() == 3);
    const PausedPort& host = tree.places[1].depth == 1 ? tree.places[1] : tree.places[2];
    CHECK(pauses.name(host.port) == "h0:p0");
    CHECK(pauses.name(tree.places[host.above].port) ==
          (first_uplink ? "p0.t0-0:u0" : "p0.t0-0:u1"));
  }
}

TEST_CASE("where no way of RoCE's data was seen, any other port of the switch may be the reason") {
  Pauses pauses;
  pauses.stands("p0.t0-0:d0", us(100), us(300));  // h0 asks
  pauses.stands("h0:p0", us(110), us(300));       // its T0 asks it: not for that
  pauses.stands("h1:p0", us(120), us(300));
  CHECK(shape_of(pauses, pauses.tree()) == "p0.t0-0:d0 0; h1:p0 1; h0:p0 0; ");
}

TEST_CASE("a host asks of itself, whatever its own ports had to do") {
  Pauses pauses(pausing_fabric(2, 2, 2, 2));
  pauses.stands("h0:p0", us(100), us(300));
  pauses.stands("p1.t0-0:d0", us(110), us(200));
  const PauseTree tree = pauses.tree();
  CHECK(shape_of(pauses, tree) == "h0:p0 0; p1.t0-0:d0 0; ");
  CHECK(pauser_name(pauses.topology, tree.places[1].asked_by) == "h0's NIC");
}

TEST_CASE("what made a port stand began before it, and not at the same instant") {
  for (const bool before : {true, false}) {
    Pauses pauses;
    pauses.turn("p0.t0-1:u0", "p0.t0-1:d1");
    pauses.stands("p0.t0-1:d1", us(100), us(300));
    pauses.stands("p0.t1-0:d1", us(100) + (before ? ps(1) : ps(0)), us(200));
    CHECK(pauses.tree().places[1].depth == (before ? 1 : 0));
  }
}

TEST_CASE("pauses that only touch the interval, and reasons that ended before it, are not in it") {
  Pauses pauses;
  pauses.turn("p0.t0-1:u0", "p0.t0-1:d1");
  pauses.stands("p0.t0-1:d1", us(100), us(200));
  pauses.stands("p0.t1-0:d1", us(201), us(300));
  CHECK(shape_of(pauses, pauses.tree(us(200), us(300))) == "p0.t1-0:d1 0; ");
  CHECK(shape_of(pauses, pauses.tree(us(200) - ps(1), us(300))) == "p0.t0-1:d1 0; p0.t1-0:d1 1; ");
  CHECK(shape_of(pauses, pauses.tree(us(50), us(100))).empty());
  CHECK(shape_of(pauses, pauses.tree(us(50), us(100) + ps(1))) == "p0.t0-1:d1 0; ");
  const PauseTree clipped = pauses.tree(us(150), us(250));
  REQUIRE(clipped.places.size() == 2);
  CHECK(clipped.places[0].stood == us(50));
  CHECK(clipped.places[0].first == us(150));
  CHECK(clipped.places[1].stood == us(49));
  CHECK(clipped.places[1].first == us(201));
}

TEST_CASE("in a circle of ports a port has no place below itself, and all its time is its own") {
  Pauses pauses;
  turn_in_a_circle(pauses);
  pauses.stands("p0.t1-1:d0", us(100), us(200));
  pauses.stands("p0.t0-1:u1", us(110), us(400));
  pauses.stands("p0.t1-0:d1", us(120), us(400));
  pauses.stands("p0.t0-0:u0", us(130), us(400));
  pauses.stands("p0.t1-1:d0", us(210), us(400));  // because of the one that it made stand
  const PauseTree tree = pauses.tree();
  CHECK(shape_of(pauses, tree) == "p0.t1-1:d0 0; p0.t0-1:u1 1; p0.t1-0:d1 2; p0.t0-0:u0 3; ");
  CHECK(tree.places.front().times == 2);
  CHECK(tree.places.front().stood == us(290));
  CHECK(tree.places.front().first == us(100));
}

TEST_CASE("a tree of too many places is cut, and what is left keeps its own times") {
  // Of 70 hosts of a T0 one after the other pauses it, and each time all others stand.
  constexpr uint32_t kHosts = 70;
  Pauses pauses(pausing_fabric(1, 0, kHosts));
  static_assert(kHosts * kHosts > PauseTree::kMaxPlaces);
  const FabricTime phase = us(100);
  for (uint32_t root = 0; root < kHosts; ++root) {
    const FabricTime from = phase * (root + 1);
    pauses.stands("p0.t0-0:d" + std::to_string(root), from, from + us(10));
    for (uint32_t host = 0; host < kHosts; ++host) {
      if (host == root) continue;
      pauses.stands("h" + std::to_string(host) + ":p0", from + us(1), from + us(11));
    }
  }
  const FabricTime end = phase * (kHosts + 2);
  const PauseTree tree = pause_tree(pauses.topology, pauses.times(end), pauses.turns, us(0), end);
  CHECK(tree.cut);
  CHECK(tree.places.size() == PauseTree::kMaxPlaces);
  for (const PausedPort& place : tree.places) {
    CHECK(place.stood == us(10));
    CHECK(place.times == 1);
  }
}

TEST_CASE("the story names three roots at most, the worst first, and how far it went") {
  Pauses pauses;
  pauses.stands("h0:p0", us(100), us(110));
  pauses.stands("h2:p0", us(200), us(220));
  pauses.stands("p0.t0-0:d0", us(300), us(330));
  pauses.stands("p0.t0-1:d0", us(400), us(440));
  const auto lines = pause_story(pauses.topology, pauses.tree());
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].text ==
        "h2's NIC asked 1 port to stop, the longest, p0.t0-1:d0, for 40us in all.");
  CHECK(lines[1].text ==
        "h0's NIC asked 1 port to stop, the longest, p0.t0-0:d0, for 30us in all.");
  CHECK(lines[2].text == "p0.t0-1 asked 1 port to stop, the longest, h2:p0, for 20us in all.");
}

TEST_CASE("a root with several ports is told once, from when it began to when it held longest") {
  Pauses pauses;
  pauses.turn("p0.t1-0:d0", "p0.t1-0:d1");
  pauses.stands("h2:p0", us(150), us(180));       // p0.t0-1 asks for 30 us,
  pauses.stands("p0.t1-0:d1", us(100), us(120));  // before that for 20 us,
  pauses.stands("h3:p0", us(170), us(180));       // and last for 10 us
  pauses.stands("p0.t0-0:u0", us(110), us(200));
  const auto lines = pause_story(pauses.topology, pauses.tree());
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].t == us(100));
  CHECK(lines[0].text ==
        "p0.t0-1 asked 3 ports to stop, the longest, h2:p0, for 30us in all. Because of that 1 "
        "more port stood, up to p0.t0-0:u0.");
  CHECK(pause_story(pauses.topology, Pauses{}.tree()).empty());
}
