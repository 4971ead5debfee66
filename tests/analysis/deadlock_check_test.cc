// `deadlock_free`: no circle of ports that each stand for the next one lasts longer than its bound.

#include <doctest/doctest.h>

#include "analysis/measure/pause_circle.h"
#include "tests/support/roce_run.h"

using namespace mrclab;
using namespace mrclab::analysis;
using test::ns;
using test::pausing_fabric;
using test::ps;
using test::RoceRun;
using test::us;

namespace {

ExpectDeadlockFree longer_than(FabricTime bound) {
  ExpectDeadlockFree e;
  e.longer_than = bound;
  return e;
}

/// A run in which the four ports stand in a circle from 130 us to 350 us.
RoceRun in_a_circle() {
  RoceRun run;
  run.flow();
  stand_in_a_circle(run);
  turn_in_a_circle(run);
  return run;
}

/// A ring over so many T0s and T1s: up from T0 i by its uplink i, and down to T0 i + 1.
RoceRun ring_of(uint32_t t0s, FabricTime from, FabricTime until) {
  RoceRun run(pausing_fabric(t0s, t0s, 1));
  run.flow();
  const auto name = [](const char* tier, uint32_t number, const char* port, uint32_t place) {
    return std::string("p0.") + tier + "-" + std::to_string(number) + ":" + port +
           std::to_string(place);
  };
  for (uint32_t i = 0; i < t0s; ++i) {
    const uint32_t next = (i + 1) % t0s;
    run.stands(name("t0", i, "u", i), from, until);
    run.stands(name("t1", i, "d", next), from, until);
    run.turn(name("t1", i, "d", i), name("t1", i, "d", next));
    run.turn(name("t0", next, "u", i), name("t0", next, "u", next));
  }
  return run;
}

}  // namespace

TEST_CASE("a circle fails `deadlock_free` once it stands longer than the bound") {
  RoceRun run = in_a_circle();
  CHECK(run.result(longer_than(us(220))) == Result::kPass);
  const CheckResult check = run.check(longer_than(us(220) - ps(1)));
  CHECK(check.result == Result::kFail);
  CHECK(check.measured == 1.0);
  CHECK(check.bound == 0.0);
  REQUIRE(check.where);
  CHECK(check.where->from == us(130));
  CHECK(check.where->until == us(350));
  CHECK(check.where->who == "p0.t1-1:d0");
}

TEST_CASE("the ports of a circle are named in the order in which each waits for the next") {
  RoceRun run = in_a_circle();
  // T1 1 may not send down to T0 0, which may not send up to T1 0, and so on.
  CHECK(run.check(longer_than(us(100))).note ==
        "4 ports stood, each for the next, for 220us: p0.t1-1:d0, p0.t0-0:u0, p0.t1-0:d1, "
        "p0.t0-1:u1");
}

TEST_CASE("of a long circle the first six ports are named") {
  const CheckResult six = ring_of(3, us(100), us(500)).check(longer_than(us(10)));
  CHECK(six.note.starts_with("6 ports stood"));
  CHECK(std::count(six.note.begin(), six.note.end(), ':') == 7);  // one for each port, one before
  CHECK(six.note.find("...") == std::string::npos);
  const CheckResult eight = ring_of(4, us(100), us(500)).check(longer_than(us(10)));
  CHECK(eight.note.starts_with("8 ports stood"));
  CHECK(std::count(eight.note.begin(), eight.note.end(), ':') == 7);
  CHECK(eight.note.ends_with(", ..."));
}

TEST_CASE("without a bound of its own a circle may stand for 32 base RTTs") {
  const FabricTime bound = pausing_fabric().base_rtt * kDeadlockRtts;
  REQUIRE(kDeadlockRtts == 32);
  CHECK(ring_of(2, us(100), us(100) + bound).result(ExpectDeadlockFree{}) == Result::kPass);
  CHECK(ring_of(2, us(100), us(100) + bound + ps(1)).result(ExpectDeadlockFree{}) == Result::kFail);
}

TEST_CASE("a circle that dissolves in time passes, however long single ports of it stood") {
  RoceRun run = in_a_circle();
  run.asks("p0.t1-1:d0", us(200), 0);
  const CheckResult check = run.check(longer_than(us(70)));
  CHECK(check.result == Result::kPass);
  CHECK(check.measured == 0.0);
}

TEST_CASE("a tree is no circle, nor are ports that wait for two others") {
  RoceRun run;
  run.flow();
  run.turn("p0.t0-1:u0", "p0.t0-1:d1");
  run.turn("p0.t1-0:d0", "p0.t1-0:d1");
  run.turn("p0.t1-0:d0", "p0.t1-0:d0");
  run.turn("p0.t0-0:d0", "p0.t0-0:u0");
  run.turn("p0.t0-0:d0", "p0.t0-0:u1");
  for (const char* port :
       {"p0.t0-1:d1", "p0.t1-0:d1", "p0.t0-0:u0", "p0.t0-0:u1", "h0:p0", "h1:p0"}) {
    run.stands(port, us(100), us(900));
  }
  CHECK(run.result(longer_than(us(10))) == Result::kPass);
}

TEST_CASE("a circle is found from the instant on at which its last port began to stand") {
  RoceRun run = in_a_circle();
  const auto circles = pause_circles(run.topology, run.times(), run.turns, us(100));
  REQUIRE(circles.size() == 1);
  CHECK(circles[0].from == us(130));
  CHECK(circles[0].until == us(350));
}

TEST_CASE("circles of other ports count each, those of the same ports once") {
  RoceRun run(pausing_fabric(2, 2, 2, 2));
  run.flow();
  for (const char* plane : {"p0", "p1"}) {
    const auto in = [&](const char* port) { return std::string(plane) + port; };
    for (const int64_t from : {100, 500}) {
      for (const char* port : {".t0-0:u0", ".t1-0:d1", ".t0-1:u1", ".t1-1:d0"}) {
        run.stands(in(port), us(from), us(from + 200));
      }
    }
    run.turn(in(".t1-0:d0"), in(".t1-0:d1"));
    run.turn(in(".t0-1:u0"), in(".t0-1:u1"));
    run.turn(in(".t1-1:d1"), in(".t1-1:d0"));
    run.turn(in(".t0-0:u1"), in(".t0-0:u0"));
  }
  const CheckResult check = run.check(longer_than(us(100)));
  CHECK(check.measured == 2.0);
  CHECK(check.where->from == us(100));
}

TEST_CASE("two ports of one cable that stand for each other are a circle") {
  RoceRun run;
  run.flow();
  run.stands("p0.t0-0:u0", us(100), us(300));
  run.stands("p0.t1-0:d0", us(150), us(250));
  run.turn("p0.t1-0:d0", "p0.t1-0:d0");
  run.turn("p0.t0-0:u0", "p0.t0-0:u0");
  CHECK(run.check(longer_than(us(50))).note ==
        "2 ports stood, each for the next, for 100us: p0.t1-0:d0, p0.t0-0:u0");
}

TEST_CASE("no more than 64 circles are looked for") {
  constexpr uint32_t kSide = 9;  // 81 cables
  RoceRun run(pausing_fabric(kSide, kSide, 1));
  run.flow();
  for (uint32_t t0 = 0; t0 < kSide; ++t0) {
    for (uint32_t t1 = 0; t1 < kSide; ++t1) {
      const std::string up = "p0.t0-" + std::to_string(t0) + ":u" + std::to_string(t1);
      const std::string down = "p0.t1-" + std::to_string(t1) + ":d" + std::to_string(t0);
      run.stands(up, us(100), us(200));
      run.stands(down, us(100), us(200));
      run.turn(up, up);
      run.turn(down, down);
    }
  }
  REQUIRE(kMaxCircles == 64);
  CHECK(run.check(longer_than(us(50))).measured == 64.0);
}

TEST_CASE("`deadlock_free` cannot be judged without RoCE's data, or without all records") {
  RoceRun silent;
  stand_in_a_circle(silent);
  turn_in_a_circle(silent);
  CHECK(silent.check(longer_than(us(10))).note == "no RoCE data was sent");
  for (const Witness witness : {Witness::kRecords, Witness::kPackets}) {
    RoceRun run = in_a_circle();
    run.coverage.ends(witness, us(999), "a file ran full");
    CHECK(run.result(longer_than(us(10))) == Result::kInconclusive);
    CHECK(run.result(longer_than(us(900))) == Result::kInconclusive);
  }
}
