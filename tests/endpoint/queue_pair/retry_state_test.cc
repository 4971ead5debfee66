#include "endpoint/queue_pair/retry_state.h"

#include <doctest/doctest.h>

#include "endpoint/queue_pair/path_evidence.h"
#include "endpoint/queue_pair/psn_range.h"
#include "endpoint/queue_pair/tail_probe.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::us;

namespace {

RetryPolicy two_linear_one_exponential() {
  RetryPolicy policy;
  policy.ack_timeout = us(10);
  policy.linear_retries = 2;
  policy.exponential_retries = 1;
  return policy;
}

}  // namespace

TEST_CASE("linear retries wait alike, exponential ones twice as long, and then no more are left") {
  RetryState retry(two_linear_one_exponential());
  CHECK(retry.timeout() == us(10));
  CHECK(retry.count_retry());
  CHECK(retry.count_retry());
  CHECK(retry.timeout() == us(10));
  CHECK(retry.count_retry());
  CHECK(retry.timeout() == us(20));
  CHECK_FALSE(retry.count_retry());
  retry.note_progress(us(100));
  CHECK(retry.timeout() == us(10));
  CHECK(retry.idle_deadline() == us(110));
}

TEST_CASE("packets that expire one after the other are one retry") {
  RetryState retry(two_linear_one_exponential());
  CHECK(retry.begins_retry(us(10), us(50)));
  retry.count_retry();
  CHECK_FALSE(retry.begins_retry(us(10), us(59)));
  CHECK(retry.begins_retry(us(10), us(60)));
}

TEST_CASE("tail probes come more and more slowly, but once per timeout") {
  RetryState retry(two_linear_one_exponential());
  CHECK(retry.tail_interval(us(4)) == us(4));
  retry.count_retry();
  CHECK(retry.tail_interval(us(4)) == us(8));
  retry.count_retry();
  CHECK(retry.tail_interval(us(4)) == us(10));
}

TEST_CASE("refused packets go again together when the interval of their retry is over") {
  RetryState retry(two_linear_one_exponential());
  retry.begin_back_off(us(5));
  CHECK(retry.is_backing_off(us(14)));
  CHECK_FALSE(retry.is_backing_off(us(15)));
  CHECK(retry.hold_refused(3));
  CHECK(retry.hold_refused(1));
  CHECK(retry.refused_due() == us(15));
  CHECK_FALSE(retry.release_refused(us(14)));
  CHECK(retry.release_refused(us(15)) == 3);
  CHECK(retry.release_refused(us(15)) == 1);
  CHECK_FALSE(retry.holds_refused());
  CHECK(retry.refused_due() == FabricTime::never());
}

TEST_CASE("a path is dead after four losses in a row of which nothing later was heard") {
  PathEvidence evidence;
  for (int i = 1; i < 4; ++i) CHECK_FALSE(evidence.is_dead_after_loss(0, us(i)));
  evidence.note_delivery(0, us(10));  // sent after them
  CHECK_FALSE(evidence.is_dead_after_loss(0, us(5)));
  for (int i = 11; i < 14; ++i) CHECK_FALSE(evidence.is_dead_after_loss(0, us(i)));
  CHECK(evidence.is_dead_after_loss(0, us(14)));
  CHECK_FALSE(evidence.is_dead_after_loss(1, us(14)));  // another value
}

TEST_CASE("a loss is held against a value until it is forgotten; a condemned value stays so") {
  PathEvidence evidence;
  evidence.is_dead_after_loss(0, us(7));
  CHECK(evidence.is_newer_loss_known(0, us(6)));
  CHECK_FALSE(evidence.is_newer_loss_known(0, us(7)));
  evidence.condemn(0);
  CHECK(evidence.is_newer_loss_known(0, us(1'000'000)));
  evidence.forget_losses(0);
  CHECK_FALSE(evidence.is_newer_loss_known(0, us(1)));
}

TEST_CASE("a destination is trimming while most of what comes there is trimmed, and lately") {
  PathEvidence evidence;
  for (int i = 0; i < 10; ++i) evidence.note_trim(us(i));
  CHECK_FALSE(evidence.is_trimming(us(9), us(5)));  // 48 % so far
  for (int i = 10; i < 12; ++i) evidence.note_trim(us(i));
  CHECK(evidence.is_trimming(us(11), us(5)));
  CHECK_FALSE(evidence.is_trimming(us(17), us(5)));
  for (int i = 0; i < 4; ++i) evidence.note_arrival();
  CHECK_FALSE(evidence.is_trimming(us(11), us(5)));
}

TEST_CASE("the range is what the newest SACK says, within what was agreed and at least a unit") {
  PsnRange range(1024, SackBase::kTrigger);
  CHECK(range.end(100) == 1124);
  Seth seth;
  seth.mpr = 2;
  seth.received_units = 5;
  range.adopt(seth, 10);
  CHECK(range.end(100) == 100 + 2 * kMprUnit);
  seth.mpr = 4;
  range.adopt(seth, 9);  // older
  CHECK(range.end(100) == 100 + 2 * kMprUnit);
  seth.received_units = 4;
  range.adopt(seth, 10);  // older as well
  CHECK(range.end(100) == 100 + 2 * kMprUnit);
  seth.received_units = 6;
  seth.mpr = 0;
  range.adopt(seth, 10);
  CHECK(range.end(100) == 100 + kMprUnit);
  seth.mpr = 200;
  range.adopt(seth, 11);
  CHECK(range.end(100) == 100 + 1024);
}

TEST_CASE(
    "where SACKs begin behind the cumulative PSN nothing goes that their 64 bits cannot tell") {
  PsnRange cumulative(512, SackBase::kCumulative), newest(512, SackBase::kNewest);
  CHECK(cumulative.end(1000) == 1064);
  CHECK(newest.end(1000) == 1512);
  for (PsnRange* range : {&cumulative, &newest}) {
    Seth seth;
    seth.mpr = 2;
    range->adopt(seth, 5);
  }
  CHECK(cumulative.end(1000) == 1064);
  CHECK(newest.end(1000) == 1256);
}

TEST_CASE("only the newest tail probe is answered, once, and no probe has the number 0") {
  TailProbe tail;
  tail.request(us(3));
  CHECK(tail.is_requested());
  CHECK(tail.take_request());
  CHECK_FALSE(tail.take_request());
  const uint16_t first = tail.send(us(4)), second = tail.send(us(5));
  CHECK(first != second);
  CHECK_FALSE(tail.answered(first));
  CHECK_FALSE(tail.answered(0));
  CHECK(tail.answered(second));
  CHECK_FALSE(tail.answered(second));
  CHECK(tail.sent() == us(5));
  for (int i = 0; i < 70'000; ++i) REQUIRE(tail.new_probe_id() != 0);
}
