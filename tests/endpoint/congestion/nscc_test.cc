// The four reactions of NSCC, trims and losses against traces computed by hand.

#include <doctest/doctest.h>

#include "tests/endpoint/congestion/nscc_bench.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using namespace mrclab::endpoint::test_nscc;

TEST_CASE("a window starts at its largest: line rate") {
  const NsccBench b;
  CHECK(b.window() == 225'000);
  CHECK(b.nscc.max_window().value == 225'000);
  CHECK(b.nscc.in_flight().value == 0);
}

TEST_CASE("no mark, delay below T: proportional increase, the less delay the more") {
  NsccBench b;
  b.shrink_to(100'000);
  // Half of T is left: 4,000 x 1,000 x 4/8 = 2,000,000; more than a period has passed since time 0:
  // 2,000,000 / 100,000 = 20, and eta.
  b.sack(20'000, 1'000, 4'000);
  CHECK(b.window() == 100'000 + 20 + 100);
  // Neither 8,000 bytes nor a period: collected only.
  b.sack(21'000, 1'000, 4'000);
  CHECK(b.window() == 100'120);
  b.sack(22'000, 7'000, 4'000);
  CHECK(b.window() == 100'120);
  // 8,001 bytes: 4,000 x 8,001 x 4/8 = 16,002,000; / 100,120 = 159.8
  b.sack(22'500, 1, 4'000);
  CHECK(b.window() == 100'120 + 159);
  b.sack(23'000, 1'000, 4'000);
  CHECK(b.window() == 100'279);
  // One period after the last eta, 32.8 us, the next: 4,000 x 1,000 x (4/8 + 2/8) / 100,279 = 29.9
  b.sack(32'801, 1'000, 6'000);
  CHECK(b.window() == 100'279 + 29 + 100);
}

TEST_CASE("no mark, delay at T or above: fair increase, the same however long the delay is") {
  for (const int64_t delay : {8'000, 8'001, 40'000}) {
    NsccBench b;
    b.shrink_to(100'000);
    // 5,000 x 1,000 / 100,000 = 50
    b.sack(20'000, 1'000, delay);
    CHECK(b.window() == 100'000 + 50 + 100);
  }
}

TEST_CASE("a mark without delay takes nothing, and gives nothing but eta") {
  NsccBench b;
  b.shrink_to(100'000);
  b.sack(20'000, 1'000, 7'999, kMarked);
  CHECK(b.window() == 100'100);
  for (int i = 1; i < 12; ++i) b.sack(20'000 + i * 1'000, 9'000, 7'999, kMarked);
  CHECK(b.window() == 100'100);
}

TEST_CASE("a mark and delay: the window is cut by how far the average exceeds T, once per RTT") {
  NsccBench b([](TransportProfile& p) {
    p.nscc_delay_alpha = {1'000'000'000};  // the average is the newest sample
    p.nscc_eta = 0;
  });
  b.shrink_to(100'000);
  // 1 - 0.8 x (16 - 8) / 16 = 0.6
  b.sack(20'000, 1'000, 16'000, kMarked);
  CHECK(b.window() == 60'000);
  // Again only after more than a base RTT (of 12.8 us).
  b.sack(32'800, 1'000, 16'000, kMarked);
  CHECK(b.window() == 60'000);
  // 1 - 0.8 x (10 - 8) / 10 = 0.84
  b.sack(32'801, 1'000, 10'000, kMarked);
  CHECK(b.window() == 50'400);
  // 1 - 0.8 x (40 - 8) / 40 = 0.36: not below max_md_jump 0.5
  b.sack(45'602, 1'000, 40'000, kMarked);
  CHECK(b.window() == 25'200);
  // The average must exceed T, and at T it does not: nothing is cut, nothing begins.
  b.sack(60'000, 1'000, 8'000, kMarked);
  CHECK(b.window() == 25'200);
  b.sack(61'000, 1'000, 16'000, kMarked);
  CHECK(b.window() == 15'120);

  // A mark without delay does not cut even if the average is high.
  NsccBench slow([](TransportProfile& p) { p.nscc_delay_alpha = {500'000'000}; });
  slow.shrink_to(100'000);
  slow.sack(1'000, 1'000, 40'000, kMarked);  // average 20 us, but no base RTT since time 0
  slow.sack(20'000, 1'000, 7'999, kMarked);  // average 14 us
  CHECK(slow.nscc.average_delay() > ns(13'900));
  CHECK(slow.window() == 100'100);
}

TEST_CASE("one marked packet with delay cuts nothing while the average is below T") {
  NsccBench b;
  b.shrink_to(100'000);
  b.sack(20'000, 1'000, 16'000, kMarked);  // average 16 us x 0.0125 = 0.2 us
  CHECK(b.nscc.average_delay() == ns(200));
  CHECK(b.window() == 100'100);
}

TEST_CASE("the average delay: weight 1/80, unmarked delay above T enters as a quarter RTT") {
  NsccBench b;
  const auto average_ps = [&] { return b.nscc.average_delay().ps(); };
  b.sack(20'000, 1'000, 8'000);  // 8 us / 80
  CHECK(average_ps() == 100'000);
  b.sack(21'000, 1'000, 8'000);  // 0.1 + 7.9 / 80
  CHECK(average_ps() == 198'750);
  b.sack(22'000, 1'000, 16'000);  // 0.19875 + (12.8 / 4 - 0.19875) / 80 = 0.236265625
  CHECK(average_ps() == 236'265);
  b.sack(23'000, 1'000, 16'000, kMarked);  // 0.236265 + 15.763735 / 80 = 0.4333116875
  CHECK(average_ps() == 433'311);

  // Above 5 base RTTs, 64 us, the weight is 1/80 whatever delay_alpha is.
  NsccBench fast([](TransportProfile& p) { p.nscc_delay_alpha = {500'000'000}; });
  fast.sack(20'000, 1'000, 64'000, kMarked);
  CHECK(fast.nscc.average_delay() == ns(32'000));
  fast.sack(21'000, 1'000, 72'000, kMarked);  // 32 + 40 / 80
  CHECK(fast.nscc.average_delay() == ns(32'500));
}

TEST_CASE("fast increase: after a window without delay every byte adds a quarter, until delay") {
  NsccBench b([](TransportProfile& p) { p.nscc_pi = p.nscc_eta = 0; });
  b.shrink_to(100'000);
  b.sack(20'000, 60'000, 999);
  b.sack(21'000, 40'000, 0);  // 100,000: not more than a window
  CHECK(b.window() == 100'000);
  b.sack(22'000, 1'000, 999);  // 101,000: + 1,000 / 4
  CHECK(b.window() == 100'250);
  b.sack(23'000, 4'000, 0);
  CHECK(b.window() == 101'250);
  b.sack(24'000, 4'000, 1'000);  // not below 1 us: over
  CHECK(b.window() == 101'250);
  b.sack(25'000, 101'250, 0);  // from the start again
  CHECK(b.window() == 101'250);
  b.sack(26'000, 4'000, 0);
  CHECK(b.window() == 102'250);
  b.sack(27'000, 1'000, 8'000, kMarked);  // a marked delay ends it as well
  b.sack(28'000, 4'000, 0);
  CHECK(b.window() == 102'250);
  // It goes on even if the window outgrows what arrived.
  NsccBench steep([](TransportProfile& p) {
    p.nscc_pi = p.nscc_eta = 0;
    p.nscc_fi_scale_permille = 2'000;
  });
  steep.shrink_to(100'000);
  steep.sack(20'000, 101'000, 0);  // 101,000 > 100,000
  steep.sack(21'000, 1'000, 0);    // 302,000 and more: capped
  CHECK(steep.window() == 225'000);
  steep.shrink_to(150'000);
  steep.sack(22'000, 1'000, 0);  // 103,000 < 150,000
  CHECK(steep.window() == 152'000);
  // Never above the largest.
  for (int i = 0; i < 20; ++i) b.sack(30'000 + i, 100'000, 0);
  CHECK(b.window() == 225'000);
}

TEST_CASE("a trim takes its packet from the window and counts as a marked RTT of delay") {
  NsccBench b;
  b.trim(1'000, 1'000);
  CHECK(b.window() == 224'000);
  CHECK(b.nscc.in_flight().value == 0);
  CHECK(b.nscc.average_delay() == ns(160));  // 12.8 us / 80
}

TEST_CASE("an inferred loss takes its packet from the window, but never below one MTU") {
  NsccBench b;
  b.nscc.on_sent({1'000}, ns(0));
  b.nscc.on_lost({{1'000}}, ns(1'000));
  CHECK(b.window() == 224'000);
  b.nscc.on_sent({300'000}, ns(0));
  b.nscc.on_lost({{300'000}}, ns(1'000));
  CHECK(b.window() == 1'000);
  CHECK(b.nscc.in_flight().value == 0);
}

TEST_CASE("a packet that is withdrawn leaves the window alone") {
  NsccBench b;
  b.nscc.on_sent({1'000}, ns(0));
  b.nscc.on_withdrawn({1'000});
  CHECK(b.window() == 225'000);
  CHECK(b.nscc.in_flight().value == 0);
}
