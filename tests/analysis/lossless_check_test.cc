// `lossless`: no data of RoCE is dropped by a full queue.

#include <doctest/doctest.h>

#include "tests/support/roce_run.h"

using namespace mrclab;
using namespace mrclab::analysis;
using test::ps;
using test::RoceRun;
using test::us;

namespace {

ExpectLossless between(FabricTime from, FabricTime until) {
  ExpectLossless e;
  e.from = from;
  e.until = until;
  return e;
}

}  // namespace

TEST_CASE("a RoCE packet that a full queue drops fails `lossless`, and is named with its place") {
  RoceRun run;
  run.sent(run.flow(), us(50));
  CHECK(run.result(ExpectLossless{}) == Result::kPass);
  run.dropped(0, us(100), DropCause::kQueueFull, "p0.t1-0:d1");
  const CheckResult check = run.check(ExpectLossless{});
  CHECK(check.result == Result::kFail);
  CHECK(check.measured == 1.0);
  CHECK(check.bound == 0.0);
  CHECK(check.note == "the first at p0.t1-0:d1 at 100us: queue_full");
  REQUIRE(check.where);
  CHECK(check.where->from == us(90));
  CHECK(check.where->until == us(100));
  REQUIRE(check.where->packet);
  CHECK(check.where->packet->psn == Psn{1});
}

TEST_CASE("what flow control promises is room, in switches and in NICs, and nothing else") {
  for (size_t i = 1; i < kDropCauses; ++i) {
    const auto cause = static_cast<DropCause>(i);
    RoceRun run;
    run.dropped(run.flow(), us(100), cause);
    const bool room = cause == DropCause::kQueueFull || cause == DropCause::kPauseStorm ||
                      cause == DropCause::kReceiveBufferFull;
    CAPTURE(name_of(cause));
    CHECK(run.result(ExpectLossless{}) == (room ? Result::kFail : Result::kPass));
  }
}

TEST_CASE("the class of MRC's data may lose what it likes") {
  RoceRun run;
  run.sent(run.flow(), us(50));
  run.dropped(run.flow(false), us(100), DropCause::kQueueFull);
  const CheckResult check = run.check(ExpectLossless{});
  CHECK(check.result == Result::kPass);
  CHECK(check.measured == 0.0);
}

TEST_CASE("`lossless` cannot be judged where no data of RoCE was sent") {
  RoceRun run;
  run.dropped(run.flow(false), us(100), DropCause::kQueueFull);
  const CheckResult check = run.check(ExpectLossless{});
  CHECK(check.result == Result::kInconclusive);
  CHECK(check.note == "no RoCE data was sent");
}

TEST_CASE("a drop counts from the interval's start on, and no more at its end") {
  RoceRun run;
  const uint32_t flow = run.flow();
  run.dropped(flow, us(100), DropCause::kQueueFull);
  CHECK(run.result(between(us(100), us(200))) == Result::kFail);
  CHECK(run.result(between(us(100) + ps(1), us(200))) == Result::kInconclusive);  // nothing is sent
  run.sent(flow, us(150));
  CHECK(run.result(between(us(100) + ps(1), us(200))) == Result::kPass);
  CHECK(run.result(between(us(0), us(100))) == Result::kPass);
  CHECK(run.result(between(us(0), us(100) + ps(1))) == Result::kFail);
}

TEST_CASE("the drop that came first is named, whichever packet was seen first") {
  RoceRun run;
  run.dropped(run.flow(), us(300), DropCause::kPauseStorm);
  run.dropped(0, us(200), DropCause::kReceiveBufferFull, "h2:p0");
  run.dropped(0, us(200), DropCause::kQueueFull);
  const CheckResult check = run.check(ExpectLossless{});
  CHECK(check.measured == 3.0);
  CHECK(check.note == "the first at h2:p0 at 200us: receive_buffer_full");
}

TEST_CASE("without all packets nothing tells that none was lost") {
  RoceRun run;
  run.sent(run.flow(), us(50));
  run.coverage.ends(Witness::kPackets, us(500), "a file ran full");
  const CheckResult check = run.check(ExpectLossless{});
  CHECK(check.result == Result::kInconclusive);
  CHECK_FALSE(check.measured);
  CHECK(check.note.starts_with("a file ran full; what packets show is complete until 500us"));
  const FabricTime rtt = run.topology.base_rtt;
  CHECK(run.result(between(us(0), us(500) - rtt)) == Result::kPass);
  CHECK(run.result(between(us(0), us(500) - rtt + ps(1))) == Result::kInconclusive);
}

TEST_CASE("a drop among packets that are all known stays a failure, whatever is missing later") {
  const FabricTime rtt = test::pausing_fabric().base_rtt;
  for (const bool known : {true, false}) {
    RoceRun run;
    run.dropped(run.flow(), us(500) - rtt - (known ? ps(1) : ps(0)), DropCause::kQueueFull);
    run.coverage.ends(Witness::kPackets, us(500), "a file ran full");
    const CheckResult check = run.check(ExpectLossless{});
    CHECK(check.result == (known ? Result::kFail : Result::kInconclusive));
    CHECK(check.note.starts_with(known ? "the first at " : "a file ran full"));
  }
}
