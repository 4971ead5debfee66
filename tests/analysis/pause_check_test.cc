// `pause`: the share of the time for which RoCE's data stood paused at a port, and its bounds.

#include <doctest/doctest.h>

#include "tests/support/roce_run.h"

using namespace mrclab;
using namespace mrclab::analysis;
using test::ns;
using test::percent;
using test::ps;
using test::RoceRun;
using test::us;

namespace {

ExpectPause at_most(Probability share, const char* port = "") {
  ExpectPause e;
  e.at_most = share;
  e.port = port;
  return e;
}

ExpectPause at_least(Probability share, const char* port = "") {
  ExpectPause e;
  e.at_least = share;
  e.port = port;
  return e;
}

ExpectPause between(FabricTime from, FabricTime until, Probability share) {
  ExpectPause e = at_most(share);
  e.from = from;
  e.until = until;
  return e;
}

}  // namespace

TEST_CASE("a port may stand for as long as the bound says, and not a picosecond longer") {
  for (const bool longer : {false, true}) {
    RoceRun run;
    run.stands("h1:p0", us(100), us(150) + (longer ? ps(1) : ps(0)));  // of 1000 us
    const CheckResult check = run.check(at_most(percent(5)));
    CHECK(check.result == (longer ? Result::kFail : Result::kPass));
    CHECK(check.bound == 5.0);
    CHECK(*check.measured == doctest::Approx(5.0));
    CHECK(check.unit == "% of the time");
    REQUIRE(check.where);
    CHECK(check.where->who == "h1:p0");
    CHECK(check.where->from == us(0));
    CHECK(check.where->until == us(1'000));
  }
}

TEST_CASE("a port has to stand for as long as the lower bound says, and no picosecond less") {
  for (const bool shorter : {false, true}) {
    RoceRun run;
    run.stands("h1:p0", us(100), us(150) - (shorter ? ps(1) : ps(0)));
    const CheckResult check = run.check(at_least(percent(5)));
    CHECK(check.result == (shorter ? Result::kFail : Result::kPass));
    CHECK(check.bound == 5.0);  // of the two bounds the one that was given
  }
}

TEST_CASE("where no port stood, nothing is too much, and any lower bound is missed") {
  RoceRun run;
  CHECK(run.result(at_most({})) == Result::kInconclusive);  // nothing was sent that could stand
  run.sent(run.flow(), us(100));
  const CheckResult none = run.check(at_most({}));
  CHECK(none.result == Result::kPass);
  CHECK(none.measured == 0.0);
  CHECK(none.note == "none stood");
  REQUIRE(none.where);
  CHECK(none.where->who.empty());
  const CheckResult some = run.check(at_least({1}));
  CHECK(some.result == Result::kFail);
  CHECK(some.note == "none stood");
}

TEST_CASE("each port counts for itself, and the one that stood longest is held against the bound") {
  RoceRun run;
  run.stands("h1:p0", us(100), us(130));
  run.stands("p0.t0-0:u0", us(100), us(140));
  run.stands("p0.t0-0:u1", us(200), us(230));
  CHECK(run.result(at_most(percent(4))) == Result::kPass);
  const CheckResult over = run.check(at_most(percent(3)));
  CHECK(over.result == Result::kFail);
  CHECK(over.note == "p0.t0-0:u0 stood for 40us");
  CHECK(run.result(at_most(percent(3), "h*:*")) == Result::kPass);
  CHECK(run.check(at_most({}, "p0.t0-0:u1")).note == "p0.t0-0:u1 stood for 30us");
  CHECK(run.result(at_most({}, "h0:p0")) == Result::kPass);
}

TEST_CASE("of ports that stood equally long the first is named") {
  RoceRun run;
  run.stands("p0.t0-0:u0", us(100), us(140));
  run.stands("h1:p0", us(100), us(140));
  CHECK(run.check(at_most({})).note == "h1:p0 stood for 40us");
}

TEST_CASE("what reaches over the ends of the interval counts as far as it is inside") {
  RoceRun run;
  run.stands("h1:p0", us(90), us(110));
  run.stands("h1:p0", us(195), us(300));
  const ExpectPause bound = between(us(100), us(200), percent(15));
  const CheckResult inside = run.check(bound);
  CHECK(inside.result == Result::kPass);
  CHECK(*inside.measured == doctest::Approx(15.0));
  CHECK(run.result(between(us(100), us(200), {percent(15).ppb - 1})) == Result::kFail);
  // Those that only touch it are not inside.
  CHECK(run.result(between(us(110), us(195), {})) == Result::kPass);
  CHECK(run.result(between(us(110), us(195) + ps(1), {})) == Result::kFail);
  CHECK(run.result(between(us(110) - ps(1), us(195), {})) == Result::kFail);
}

TEST_CASE("a pause counts from the run's start to its end, however long it was asked for") {
  RoceRun run;
  run.asks("h1:p0", us(0), kPauseQuanta);  // 335 us
  run.asks("h1:p0", us(50), 0);
  run.asks("h1:p0", us(900), kPauseQuanta);
  CHECK(run.result(at_most(percent(15))) == Result::kPass);
  CHECK(run.result(at_most({percent(15).ppb - 1})) == Result::kFail);
  // An interval that goes on behind the end is the time until the end.
  CHECK(run.result(between(us(800), us(5'000), percent(50))) == Result::kPass);
  CHECK(run.result(between(us(800), us(5'000), {percent(50).ppb - 1})) == Result::kFail);
}

TEST_CASE("pauses that overlap count once") {
  RoceRun run;
  run.asks("h1:p0", us(100), kPauseQuanta);
  run.asks("h1:p0", us(150), kPauseQuanta);
  run.asks("h1:p0", us(200), 0);
  CHECK(run.result(at_most(percent(10))) == Result::kPass);
  CHECK(run.result(at_least(percent(10))) == Result::kPass);
}

TEST_CASE("an interval of no time, or of no port, cannot be judged") {
  RoceRun run;
  run.stands("h1:p0", us(100), us(150));
  const CheckResult late = run.check(between(us(1'000), us(2'000), percent(1)));
  CHECK(late.result == Result::kInconclusive);
  CHECK(late.note == "the run ended before");
  run.sent(run.flow(), us(1'000));
  CHECK(run.result(between(us(1'000) - ps(1), us(2'000), percent(1))) == Result::kPass);
  const CheckResult strange = run.check(at_most(percent(1), "h9:p0"));
  CHECK(strange.result == Result::kInconclusive);
  CHECK(strange.note == "no port is called h9:p0");
}

TEST_CASE("`pause` needs packets and records of its interval, and of no more") {
  const auto with_gap = [](Witness witness, FabricTime until, FabricTime of_interval) {
    RoceRun run;
    run.stands("h1:p0", us(100), us(150));
    run.coverage.ends(witness, until, "a file ran full");
    return run.check(between(us(0), of_interval, percent(1)));
  };
  const FabricTime rtt = test::pausing_fabric().base_rtt;
  CHECK(with_gap(Witness::kRecords, us(500), us(500)).result == Result::kFail);
  CHECK(with_gap(Witness::kRecords, us(500), us(500) + ps(1)).result == Result::kInconclusive);
  CHECK(with_gap(Witness::kPackets, us(500) + rtt, us(500)).result == Result::kFail);
  CHECK(with_gap(Witness::kPackets, us(500) + rtt - ps(1), us(500)).result ==
        Result::kInconclusive);
  const CheckResult blind = with_gap(Witness::kRecords, us(0), us(500));
  CHECK(blind.note == "a file ran full");
  CHECK_FALSE(blind.measured);
  // To the end of the run all of it is needed.
  CHECK(with_gap(Witness::kRecords, us(1'000), us(1'000)).result == Result::kInconclusive);
  CHECK(with_gap(Witness::kEvents, us(0), us(1'000)).result == Result::kFail);
}
