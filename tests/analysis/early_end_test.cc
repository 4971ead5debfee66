#include "analysis/checks/early_end.h"

#include <doctest/doctest.h>

#include <optional>

#include "tests/support/checked.h"
#include "tests/support/times.h"

namespace mrclab::analysis {
namespace {

using test::us;
FaultSpan fault(FabricTime start, FabricTime healed_at = FabricTime::never()) {
  FaultSpan span;
  span.start = start;
  span.healed_at = healed_at;
  return span;
}

/// A check of a run that was ended at 500 us of 1000 us, with a fault at 300 us.
CheckResult judged(const Expectation& expectation, Result result,
                   std::optional<double> measured = 0, const EarlyEnd& early = {us(1000), {}}) {
  CheckResult check;
  check = test::with_result(check, result);
  check.measured = measured;
  check.bound = 100;
  const std::vector<FaultSpan> faults{fault(us(300), us(400))};
  return judge_early_end(expectation, check, faults, us(500), early);
}

const EarlyEnd kMoreFaults{us(1000), {fault(us(700), us(800))}};

TEST_CASE("what must never happen holds until the run was ended, and says so") {
  for (const Expectation& safe :
       {Expectation{ExpectNoQpError{}}, Expectation{ExpectMemoryIntact{}}}) {
    const CheckResult held = judged(safe, Result::kPass);
    CHECK(held.result == Result::kPass);
    CHECK(held.note == "until 500us");
    CHECK(judged(safe, Result::kFail).result == Result::kFail);
  }
}

TEST_CASE("a QP that has to fail may do so after the run was ended") {
  CHECK(judged(ExpectQpError{"x"}, Result::kFail, 0).result == Result::kInconclusive);
  CHECK(judged(ExpectQpError{"x"}, Result::kFail, 1).result == Result::kFail);
  CHECK(judged(ExpectQpError{"x"}, Result::kPass, 1).result == Result::kPass);
}

TEST_CASE("goodput over an interval that goes on later is not judged") {
  const ExpectGoodput inside{us(100), us(500), {}, GoodputReference::kLineRate};
  const ExpectGoodput beyond{us(100), us(501), {}, GoodputReference::kLineRate};
  const ExpectGoodput to_the_end{us(100), FabricTime::never(), {}, GoodputReference::kLineRate};
  for (const Result result : {Result::kPass, Result::kFail}) {
    CHECK(judged(inside, result).result == result);
    CHECK(judged(beyond, result).result == Result::kInconclusive);
    CHECK(judged(to_the_end, result).result == Result::kInconclusive);
  }
}

TEST_CASE("healed is never refused early, and holds only if no fault is to come") {
  CHECK(judged(ExpectHealed{}, Result::kPass).result == Result::kPass);
  CHECK(judged(ExpectHealed{}, Result::kFail).result == Result::kInconclusive);
  CHECK(judged(ExpectHealed{}, Result::kPass, 0, kMoreFaults).result == Result::kInconclusive);
}

TEST_CASE("what had time left is inconclusive, what took too long stays a failure") {
  for (const int64_t within : {200, 201}) {
    CAPTURE(within);
    const Result met = within == 200 ? Result::kPass : Result::kInconclusive;
    for (const Expectation& timed :
         {Expectation{ExpectDetect{us(within)}}, Expectation{ExpectLeave{us(within)}},
          Expectation{ExpectRecover{us(within)}}}) {
      CHECK(judged(timed, Result::kPass, 50).result == met);
      CHECK(judged(timed, Result::kFail, 150).result == Result::kFail);
      CHECK(judged(timed, Result::kPass, 50, kMoreFaults).result == Result::kInconclusive);
    }
  }
}

TEST_CASE("faults that a run did not reach are taken out and counted") {
  std::vector<FaultSpan> spans{fault(us(600)), fault(us(500)), fault(us(300))};
  const EarlyEnd early{us(1000), take_not_reached(spans, us(500))};
  REQUIRE(spans.size() == 2);
  CHECK(spans[0].start == us(500));
  CHECK(spans[1].start == us(300));
  CHECK(describe(early, us(500)) == "ended at 500us of the scenario's 1ms, before 1 of its faults");
}

}  // namespace
}  // namespace mrclab::analysis
