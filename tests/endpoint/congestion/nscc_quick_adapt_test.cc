// NSCC's quick adapt against traces computed by hand.

#include <doctest/doctest.h>

#include "tests/endpoint/congestion/nscc_bench.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using namespace mrclab::endpoint::test_nscc;

TEST_CASE("quick adapt: trims, and little arriving in a period, set the window to what arrives") {
  NsccBench b;
  b.nscc.on_sent({150'000}, ns(0));
  b.sack(20'000, 1'000, 8'000);  // the first period begins: until 20 + 12.8 + 8 = 40.8 us
  b.trim(30'000, 1'000);
  CHECK(b.window() == 224'000);
  b.sack(35'000, 4'000, 8'000);
  b.sack(40'800, 3'000, 8'000);  // not over yet: as ever
  CHECK(b.window() > 224'000);
  b.sack(40'801, 2'000, 8'000);  // 4,000 + 3,000 + 2,000 arrived, < 225,000 >> 3 = 28,125
  CHECK(b.window() == 9'000);

  // What was in flight then (150,000) reports the same congestion again and is ignored.
  b.trim(41'000, 10'000);
  CHECK(b.window() == 9'000);
  for (int i = 0; i < 13; ++i) b.sack(42'000 + i * 1'000, 10'000, 16'000, kMarked);
  CHECK(b.window() == 9'000);
  // 140,000 of it so far. An unmarked one counts for itself: 5,000 x 9,000 / 9,000, and eta.
  b.sack(56'000, 9'000, 8'000);
  CHECK(b.window() == 9'000 + 5'000 + 100);
  b.trim(57'000, 9'999);  // 149,999 with this one
  CHECK(b.window() == 14'100);
  b.trim(58'000, 1'000);  // 150,999: no longer
  CHECK(b.window() == 13'100);
}

TEST_CASE("quick adapt: a trim that comes after the end of a period adapts at once") {
  NsccBench b;
  b.sack(20'000, 1'000, 8'000);
  b.sack(30'000, 5'000, 8'000);
  b.trim(41'000, 1'000);
  CHECK(b.window() == 5'000);
}

TEST_CASE("quick adapt: not when enough arrives, and the period starts anew") {
  NsccBench b([](TransportProfile& p) { p.nscc_eta = p.nscc_fi = 0; });
  b.sack(20'000, 1'000, 8'000);
  b.trim(30'000, 1'000);
  b.sack(41'000, 28'125, 8'000);  // exactly the gate: until 61.8 us
  CHECK(b.window() == 224'000);
  // The trim is still due, and in this period little arrives.
  b.sack(50'000, 10'000, 8'000);
  b.sack(62'000, 18'124, 8'000);
  CHECK(b.window() == 28'124);
  // It was used up: no further adaptation however little arrives.
  b.sack(83'000, 1'000, 8'000);
  CHECK(b.window() == 28'124);
}

TEST_CASE("quick adapt: not without a reason, never upwards, never below one MTU") {
  NsccBench idle([](TransportProfile& p) { p.nscc_eta = p.nscc_fi = 0; });
  idle.sack(20'000, 1'000, 8'000);
  idle.sack(41'000, 1'000, 200'000);  // with trimming no delay is a reason: trims would be the sign
  CHECK(idle.window() == 225'000);

  NsccBench small([](TransportProfile& p) { p.nscc_eta = p.nscc_fi = 0; });
  small.shrink_to(6'000);
  small.sack(20'000, 1'000, 8'000);
  small.sack(30'000, 9'000, 8'000);
  small.trim(41'000, 1'000);  // 9,000 arrived in 21 us: more than the window
  CHECK(small.window() == 6'000);

  NsccBench starved;
  starved.sack(20'000, 1'000, 8'000);
  starved.trim(41'000, 1'000);  // nothing arrived
  CHECK(starved.window() == 1'000);
}

TEST_CASE("quick adapt: a delay above its threshold is a reason") {
  for (const int64_t delay : {32'000, 32'001}) {
    NsccBench b([](TransportProfile& p) {
      p.nscc_qa_threshold = ns(32'000);
      p.nscc_eta = p.nscc_fi = 0;
    });
    b.sack(20'000, 1'000, 8'000);
    b.sack(41'000, 7'000, delay);
    CHECK(b.window() == (delay > 32'000 ? 7'000 : 225'000));
  }
}

TEST_CASE("quick adapt can be disabled: trims only take their packets") {
  NsccBench b([](TransportProfile& p) { p.nscc_disable_qa = true; });
  b.sack(20'000, 1'000, 8'000);
  b.trim(41'000, 1'000);
  b.trim(42'000, 1'000);
  CHECK(b.window() == 223'000);
}
