// Pause frames that arrived, as stretches of time, as a tree from its roots, and as circles.

#include <doctest/doctest.h>

#include "analysis/measure/pause_circle.h"
#include "analysis/verdict/pause_report.h"
#include "tests/support/pauses.h"

using namespace mrclab;
using namespace mrclab::analysis;
using test::ns;
using test::Pauses;
using test::stand_in_a_circle;
using test::turn_in_a_circle;
using test::us;

TEST_CASE("a port stands from an ingress latency after a pause arrived until its quanta are over") {
  Pauses pauses;
  pauses.asks("p0.t0-0:u0", us(10), 100);  // 100 x 512 bits at 100 Gb/s: 512 ns
  const PauseTimes times = pauses.times();
  REQUIRE(times.spans().size() == 1);
  CHECK(times.spans()[0] == PausedSpan{pauses.port("p0.t0-0:u0"), us(10), us(10) + ns(512)});
  CHECK(times.paused(pauses.port("p0.t0-0:u0"), us(0), us(1'000)) == ns(512));
  CHECK(times.paused(pauses.port("p0.t0-0:u0"), us(10) + ns(500), us(11)) == ns(12));
  CHECK(times.paused(pauses.port("p0.t0-0:u1"), us(0), us(1'000)) == ns(0));
}

TEST_CASE("pauses that follow one another are one, 0 quanta end them, a shorter one shortens") {
  Pauses pauses;
  pauses.asks("h1:p0", us(10), kPauseQuanta);
  pauses.asks("h1:p0", us(100), kPauseQuanta);
  pauses.asks("h1:p0", us(150), 0);
  pauses.asks("h1:p0", us(200), kPauseQuanta);
  pauses.asks("h1:p0", us(210), 100);
  const PauseTimes times = pauses.times();
  REQUIRE(times.spans().size() == 2);
  CHECK(times.spans()[0] == PausedSpan{pauses.port("h1:p0"), us(10), us(150)});
  CHECK(times.spans()[1] == PausedSpan{pauses.port("h1:p0"), us(200), us(210) + ns(512)});
}

TEST_CASE("a pause ends with the port's carrier, and with the run") {
  Pauses pauses;
  pauses.asks("p0.t0-0:u0", us(10), kPauseQuanta);
  pauses.asks("p0.t0-0:u1", us(900), kPauseQuanta);
  pauses.schedule.push_back({us(30), PortCarrier{pauses.port("p0.t0-0:u0"), false}, 0});
  const PauseTimes times = pauses.times();
  REQUIRE(times.spans().size() == 2);
  CHECK(times.spans()[0].until == us(30));
  CHECK(times.spans()[1].until == us(1'000));
}

TEST_CASE("who pauses without being paused is the root, and below it stands what that made stand") {
  Pauses pauses;
  pauses.turn("p0.t0-1:u0", "p0.t0-1:d1");
  pauses.turn("p0.t1-0:d0", "p0.t1-0:d1");
  pauses.turn("p0.t0-0:d0", "p0.t0-0:u0");
  pauses.stands("p0.t0-1:d1", us(100), us(300));  // h3 asks
  pauses.stands("p0.t1-0:d1", us(110), us(310));  // p0.t0-1 asks
  pauses.stands("p0.t0-0:u0", us(120), us(320));  // p0.t1-0 asks
  pauses.stands("h0:p0", us(130), us(200));       // p0.t0-0 asks, twice
  pauses.stands("h0:p0", us(210), us(330));
  pauses.stands("h1:p0", us(500), us(510));  // p0.t0-0 asks of itself
  const PauseTree tree = pauses.tree();
  REQUIRE(tree.places.size() == 5);
  const char* ports[] = {"p0.t0-1:d1", "p0.t1-0:d1", "p0.t0-0:u0", "h0:p0", "h1:p0"};
  const int64_t stood[] = {200, 200, 200, 190, 10};
  for (uint32_t i = 0; i < 5; ++i) {
    INFO(i);
    const bool root = i == 0 || i == 4;
    CHECK(pauses.name(tree.places[i].port) == ports[i]);
    CHECK(tree.places[i].above == (root ? PausedPort::kRoot : i - 1));
    CHECK(tree.places[i].depth == (i == 4 ? 0 : i));
    CHECK(tree.places[i].stood == us(stood[i]));
    CHECK(tree.places[i].times == (i == 3 ? 2 : 1));
  }
  CHECK(tree.places[3].first == us(130));
  CHECK(pauser_name(pauses.topology, tree.places[0].asked_by) == "h3's NIC");
  CHECK(pauser_name(pauses.topology, tree.places[4].asked_by) == "p0.t0-0");
}

TEST_CASE("a tree is told in a sentence or two for each root") {
  Pauses pauses;
  pauses.turn("p0.t0-1:u0", "p0.t0-1:d1");
  pauses.turn("p0.t1-0:d0", "p0.t1-0:d1");
  pauses.stands("p0.t0-1:d1", us(100), us(300));
  pauses.stands("p0.t1-0:d1", us(110), us(310));
  pauses.stands("p0.t0-0:u0", us(120), us(320));
  pauses.stands("h1:p0", us(500), us(510));
  const PauseTree tree = pauses.tree();
  const auto lines = pause_story(pauses.topology, tree);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].t == us(100));
  CHECK(lines[0].kind == "paused");
  CHECK(
      lines[0].text ==
      "h3's NIC asked 1 port to stop, the longest, p0.t0-1:d1, for 200us in all. Because of that 2 "
      "more ports stood, up to p0.t0-0:u0.");
  CHECK(lines[1].text == "p0.t0-0 asked 1 port to stop, the longest, h1:p0, for 10us in all.");
}

TEST_CASE("a switch is no root for a pause that began within an RTT behind its own, later it is") {
  for (const bool soon : {true, false}) {
    Pauses pauses;
    pauses.turn("p0.t0-1:u0", "p0.t0-1:d1");
    pauses.stands("p0.t0-1:d1", us(100), us(200));
    const FabricTime then = us(200) + pauses.topology.base_rtt + (soon ? ns(0) : ns(1));
    pauses.stands("p0.t1-0:d1", then, then + us(10));
    const PauseTree tree = pauses.tree();
    REQUIRE(tree.places.size() == 2);
    CHECK(tree.places[1].depth == (soon ? 1 : 0));
  }
}

TEST_CASE("a pause is no reason where none of RoCE's data took that way through the switch") {
  Pauses pauses;
  pauses.turn("p0.t0-1:u0", "p0.t0-1:d0");        // to h2, not to h3
  pauses.stands("p0.t0-1:d1", us(100), us(200));  // h3 asks
  pauses.stands("p0.t1-0:d1", us(110), us(200));
  const PauseTree tree = pauses.tree();
  REQUIRE(tree.places.size() == 2);
  CHECK(tree.places[0].depth == 0);
  CHECK(tree.places[1].depth == 0);
}

TEST_CASE("a tree counts its interval alone") {
  Pauses pauses;
  pauses.stands("p0.t0-1:d1", us(100), us(300));
  pauses.stands("p0.t0-1:d0", us(10), us(20));
  const PauseTree tree = pauses.tree(us(150), us(250));
  REQUIRE(tree.places.size() == 1);
  CHECK(tree.places[0].stood == us(100));
  CHECK(tree.places[0].first == us(150));
}

TEST_CASE(
    "ports that stand for each other in a circle are found, for as long as all of them stand") {
  Pauses pauses;
  stand_in_a_circle(pauses);
  turn_in_a_circle(pauses);
  const auto circles = pause_circles(pauses.topology, pauses.times(), pauses.turns, us(220));
  REQUIRE(circles.size() == 1);
  CHECK(circles[0].ports.size() == 4);
  CHECK(circles[0].from == us(130));
  CHECK(circles[0].until == us(350));
  CHECK(pause_circles(pauses.topology, pauses.times(), pauses.turns, us(220) + ns(1)).empty());
  // The tree of the same pauses ends, too.
  CHECK(pauses.tree().places.size() == 4);
}

TEST_CASE("there is no circle where the ways through the switches make none") {
  Pauses pauses;
  stand_in_a_circle(pauses);
  pauses.turn("p0.t1-0:d0", "p0.t1-0:d1");
  pauses.turn("p0.t0-1:u0", "p0.t0-1:d1");  // up-down routing never goes up again
  pauses.turn("p0.t1-1:d1", "p0.t1-1:d0");
  pauses.turn("p0.t0-0:u1", "p0.t0-0:d0");
  CHECK(pause_circles(pauses.topology, pauses.times(), pauses.turns, us(1)).empty());
}

TEST_CASE("a gap at one port breaks a circle") {
  Pauses pauses;
  stand_in_a_circle(pauses);
  pauses.asks("p0.t0-1:u1", us(200), 0);
  pauses.asks("p0.t0-1:u1", us(200) + ns(1), kPauseQuanta);
  turn_in_a_circle(pauses);
  const PauseTimes times = pauses.times();
  CHECK(pause_circles(pauses.topology, times, pauses.turns, us(151)).empty());
  CHECK_FALSE(pause_circles(pauses.topology, times, pauses.turns, us(149)).empty());
}

TEST_CASE("a way through a switch counts when RoCE's data has taken it whole") {
  LosslessTurns turns;
  const NodeId node{9};
  const PortId in{1}, out{2};
  using enum Direction;
  using enum PacketEvent;
  turns.count_record(node, in, kIngress, kPassed, QueueClass::kNone, 5);
  turns.count_record(node, out, kEgress, kPassed, QueueClass::kData, 5);  // MRC's
  turns.count_record(node, in, kIngress, kPassed, QueueClass::kNone, 6);
  turns.count_record(node, out, kEgress, kDropped, QueueClass::kLossless, 6);
  turns.count_record(node, out, kEgress, kPassed, QueueClass::kLossless,
                     6);  // a copy, or another frame
  CHECK(turns.empty());
  turns.count_record(node, in, kIngress, kPassed, QueueClass::kNone, 7);
  turns.count_record(node, out, kEgress, kPassed, QueueClass::kLossless, 7);
  CHECK(turns.used(node, in, out));
  // Two switches that hold a frame of that name at the same time: it was retransmitted.
  const NodeId first{3}, second{4};
  turns.count_record(first, PortId{1}, kIngress, kPassed, QueueClass::kNone, 8);
  turns.count_record(second, PortId{2}, kIngress, kPassed, QueueClass::kNone, 8);
  turns.count_record(first, PortId{3}, kEgress, kPassed, QueueClass::kLossless, 8);
  turns.count_record(second, PortId{4}, kEgress, kPassed, QueueClass::kLossless, 8);
  CHECK(turns.used(first, PortId{1}, PortId{3}));
  CHECK(turns.used(second, PortId{2}, PortId{4}));
  CHECK_FALSE(turns.used(first, PortId{2}, PortId{3}));
  CHECK_FALSE(turns.used(node, out, in));
  CHECK_FALSE(turns.used(NodeId{8}, in, out));
}
