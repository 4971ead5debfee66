// What NSCC makes of round trips, the receiver's penalty and live ports, and what it lets go.

#include <doctest/doctest.h>

#include "tests/endpoint/congestion/nscc_bench.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using namespace mrclab::endpoint::test_nscc;

TEST_CASE("a shorter round trip is the new base RTT, and the largest window follows it") {
  NsccBench b;
  b.nscc.on_sent({3'000}, ns(0));
  Acknowledgement news;
  news.arrived = news.left_flight = {1'000};
  // A short packet is faster than the path: it is no sign of a full one, and has no delay.
  news.rtt = RttSample{ns(6'400), false};
  b.nscc.on_acknowledged(news, ns(10'000));
  CHECK(b.nscc.base_rtt() == ns(kBase));
  CHECK(b.nscc.average_delay() == ns(0));
  news.rtt = RttSample{ns(6'400), true};
  b.nscc.on_acknowledged(news, ns(11'000));
  CHECK(b.nscc.base_rtt() == ns(6'400));
  CHECK(b.nscc.max_window().value == 112'500);
  CHECK(b.window() == 112'500);
  // T stays. Delay counts from the new base: 14.4 - 6.4 us is T, so this is fair increase.
  b.shrink_to(100'000);
  news.rtt = RttSample{ns(14'400), true};
  b.nscc.on_acknowledged(news, ns(30'000));
  // And 2 x 4,000 x 1,000 / 100,000 from the two before it.
  CHECK(b.window() == 100'000 + 50 + 80 + 100);
}

TEST_CASE("an acknowledgement without a valid round trip is judged by the average delay") {
  NsccBench b([](TransportProfile& p) {
    p.nscc_delay_alpha = {1'000'000'000};
    p.nscc_eta = 0;
  });
  b.shrink_to(100'000);
  b.sack(20'000, 1'000, 4'000);  // average 4 us; 4,000 x 1,000 x 4/8 / 100,000 = 20
  CHECK(b.window() == 100'020);
  b.nscc.on_sent({9'000}, ns(0));
  Acknowledgement news;
  news.arrived = news.left_flight = {9'000};
  // 4,000 x 9,000 x 4/8 / 100,020 = 179.9
  b.nscc.on_acknowledged(news, ns(21'000));
  CHECK(b.window() == 100'020 + 179);
  CHECK(b.nscc.average_delay() == ns(4'000));
}

TEST_CASE("an acknowledgement of nothing changes nothing") {
  NsccBench b;
  b.shrink_to(100'000);
  b.nscc.on_acknowledged({}, ns(50'000));
  CHECK(b.window() == 100'000);
}

TEST_CASE("what was held for lost counts as arrived, but leaves flight only once") {
  NsccBench b([](TransportProfile& p) { p.nscc_eta = 0; });
  b.nscc.on_sent({125'000}, ns(0));
  b.nscc.on_lost({{125'000}}, ns(0));
  b.nscc.on_sent({50'000}, ns(0));
  Acknowledgement news;
  news.arrived = {10'000};
  news.rtt = RttSample{ns(kBase + 8'000), true};
  b.nscc.on_acknowledged(news, ns(20'000));
  CHECK(b.nscc.in_flight().value == 50'000);
  CHECK(b.window() == 100'000 + 500);  // fair increase: 5,000 x 10,000 / 100,000
}

TEST_CASE("the receiver's penalty takes its 128ths of what is acknowledged, and stops growth") {
  NsccBench b([](TransportProfile& p) { p.nscc_eta = 0; });
  b.shrink_to(100'000);
  b.sack(20'000, 1'000, 0, false, 64);  // 64 x 1,000 / 128
  CHECK(b.window() == 99'500);
  b.sack(21'000, 1'000, 16'000, false, 1);  // 1,000 / 128 = 7.8
  CHECK(b.window() == 99'493);
  // 64 in every SACK of one window's worth halves it: 99,493 - 100 x 500
  for (int i = 0; i < 99; ++i) b.sack(22'000 + i, 1'000, 0, false, 64);
  CHECK(b.window() == 99'493 - 49'500);
  // 127 for long: one packet per RTT.
  for (int i = 0; i < 99; ++i) b.sack(23'000 + i, 1'000, 0, false, 127);
  CHECK(b.window() == 1'000);
}

TEST_CASE("with restore_cwnd the window from before the penalty comes back at its end") {
  NsccBench b([](TransportProfile& p) { p.nscc_eta = p.nscc_pi = 0; });
  b.shrink_to(100'000);
  for (int i = 0; i < 4; ++i) b.sack(20'000 + i, 10'000, 4'000, false, 64, true);
  CHECK(b.window() == 80'000);
  b.sack(21'000, 1'000, 4'000);
  CHECK(b.window() == 100'000);
  // Once, not again.
  b.nscc.on_sent({10'000}, ns(0));
  b.nscc.on_lost({{10'000}}, ns(21'500));
  b.sack(21'600, 1'000, 4'000);
  CHECK(b.window() == 90'000);
  // Without the flag it does not, and a flag withdrawn in mid-penalty forgets.
  b.sack(22'000, 10'000, 4'000, false, 64, true);
  b.sack(22'001, 10'000, 4'000, false, 64, false);
  b.sack(22'002, 1'000, 4'000);
  CHECK(b.window() == 80'000);
  // What comes back is the live ports' share of it.
  b.sack(23'000, 10'000, 4'000, false, 64, true);
  b.nscc.on_live_ports(4);
  b.sack(23'001, 1'000, 4'000);
  CHECK(b.window() == 40'000);
}

TEST_CASE("a sender can be told not to obey the receiver's penalty") {
  NsccBench b([](TransportProfile& p) { p.receiver_penalty = false; });
  b.sack(1'000, 10'000, 0, false, 127, true);
  CHECK(b.window() == 225'000);
}

TEST_CASE("the window follows the live ports, and none leaves a single packet") {
  // 8 ports of an eighth of the rate: the same BDP.
  NsccBench b;
  CHECK(b.window() == 225'000);
  b.shrink_to(160'000);
  b.nscc.on_live_ports(7);
  CHECK(b.window() == 140'000);
  CHECK(b.nscc.max_window().value == 196'875);
  CHECK(b.nscc.parameters().fi.value == 4'375);
  CHECK(b.nscc.parameters().pi.value == 3'500);
  CHECK(b.nscc.parameters().eta.value == 87);
  CHECK(b.nscc.parameters().fi_scale_permille == 218);
  b.nscc.on_live_ports(8);
  CHECK(b.window() == 160'000);
  b.nscc.on_live_ports(0);
  CHECK(b.window() == 1'000);
  CHECK(b.nscc.max_window().value == 1'000);
  b.nscc.on_live_ports(4);
  CHECK(b.window() == 112'500);
}

TEST_CASE("open: another packet may go while the window exceeds what is in flight") {
  NsccBench b;
  b.nscc.on_sent({224'999}, ns(0));
  CHECK(b.nscc.may_send({1'000}, ns(0)));
  b.nscc.on_sent({1}, ns(0));
  CHECK_FALSE(b.nscc.may_send({1}, ns(0)));
}

TEST_CASE("fits: another packet may go if it fits, and an empty window takes any") {
  NsccBench b([](TransportProfile& p) { p.window_rule = WindowRule::kFits; });
  b.nscc.on_sent({224'000}, ns(0));
  CHECK(b.nscc.may_send({1'000}, ns(0)));
  CHECK_FALSE(b.nscc.may_send({1'001}, ns(0)));
  b.nscc.on_withdrawn({224'000});
  CHECK(b.nscc.may_send({225'001}, ns(0)));
}

TEST_CASE("an acknowledgement is asked for when no packet fits, and in small windows always") {
  NsccBench b;
  b.nscc.on_sent({224'000}, ns(0));
  CHECK_FALSE(b.nscc.wants_acknowledgement());
  b.nscc.on_sent({1}, ns(0));
  CHECK(b.nscc.wants_acknowledgement());
  b.nscc.on_withdrawn({224'001});
  b.shrink_to(4'000);
  CHECK_FALSE(b.nscc.wants_acknowledgement());
  b.shrink_to(3'999);
  CHECK(b.nscc.wants_acknowledgement());
}

// ---- Properties: any order of events, any sizes.
