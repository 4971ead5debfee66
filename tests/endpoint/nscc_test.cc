// Every branch of NSCC against a trace computed by hand. Unless a case says otherwise:
//
//   8 ports, base RTT 12.8 us, PMTU 912 => MTU 1,000 B, largest and first window 225,000 B
//   T 8 us    fi 5,000 B    pi = alpha x T 4,000 B    eta 100 B    fast increase 0.25 B per byte
//   adjust_bytes 8,000 B    adjust_period 12.8 us     clear delay 1 us

#include "endpoint/nscc.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "tests/support/fabrics.h"
#include "tests/support/property.h"

using namespace mrclab;
using namespace mrclab::endpoint;

namespace {

constexpr FabricTime ns(int64_t n) { return FabricTime::from_ns(n); }
constexpr int64_t kBase = 12'800;  // ns

TransportProfile round_numbers() {
  TransportProfile p = make_profile("lab", test::octet());
  p.pmtu = 912;
  p.sack_threshold = 4'000;
  p.nscc_base_rtt = ns(kBase);
  p.nscc_target_delay = ns(8'000);
  p.nscc_max_cwnd = 225'000;
  p.nscc_fi = 5'000;
  p.nscc_pi = 4'000;
  p.nscc_eta = 100;
  p.nscc_fi_scale_permille = 250;
  p.nscc_adjust_bytes = 8'000;
  p.nscc_adjust_period = ns(kBase);
  p.nscc_clear_delay = ns(1'000);
  return p;
}

/// An Nscc with packets of any size in flight. Times in ns.
struct Bench {
  explicit Bench(const std::function<void(TransportProfile&)>& change = {})
      : nscc(changed(change), 8) {}
  static TransportProfile changed(const std::function<void(TransportProfile&)>& change) {
    TransportProfile p = round_numbers();
    if (change) change(p);
    return p;
  }
  /// Brings the window down to `bytes` by losses; nothing but the window changes.
  void shrink_to(uint64_t bytes) {
    const Bytes lost{nscc.window().value - bytes};
    nscc.on_sent(lost);
    nscc.on_lost(lost, ns(0));
    REQUIRE(window() == bytes);
  }
  void sack(int64_t now, uint64_t bytes, int64_t delay, bool marked = false, uint8_t penalty = 0,
            bool restore = false) {
    nscc.on_sent({bytes});
    Acknowledgement news;
    news.arrived = news.left_flight = {bytes};
    news.marked = marked;
    news.rtt = RttSample{nscc.base_rtt() + ns(delay), true};
    news.receiver_penalty = penalty;
    news.restore_cwnd = restore;
    nscc.on_acknowledged(news, ns(now));
  }
  void trim(int64_t now, uint64_t bytes) {
    nscc.on_sent({bytes});
    nscc.on_trimmed({bytes}, ns(now));
  }
  uint64_t window() const { return nscc.window().value; }

  Nscc nscc;
};

constexpr bool kMarked = true;

}  // namespace

TEST_CASE("a window starts at its largest: line rate") {
  const Bench b;
  CHECK(b.window() == 225'000);
  CHECK(b.nscc.max_window().value == 225'000);
  CHECK(b.nscc.in_flight().value == 0);
}

TEST_CASE("no mark, delay below T: proportional increase, the less delay the more") {
  Bench b;
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
    Bench b;
    b.shrink_to(100'000);
    // 5,000 x 1,000 / 100,000 = 50
    b.sack(20'000, 1'000, delay);
    CHECK(b.window() == 100'000 + 50 + 100);
  }
}

TEST_CASE("a mark without delay takes nothing, and gives nothing but eta") {
  Bench b;
  b.shrink_to(100'000);
  b.sack(20'000, 1'000, 7'999, kMarked);
  CHECK(b.window() == 100'100);
  for (int i = 1; i < 12; ++i) b.sack(20'000 + i * 1'000, 9'000, 7'999, kMarked);
  CHECK(b.window() == 100'100);
}

TEST_CASE("a mark and delay: the window is cut by how far the average exceeds T, once per RTT") {
  Bench b([](TransportProfile& p) {
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
  Bench slow([](TransportProfile& p) { p.nscc_delay_alpha = {500'000'000}; });
  slow.shrink_to(100'000);
  slow.sack(1'000, 1'000, 40'000, kMarked);  // average 20 us, but no base RTT since time 0
  slow.sack(20'000, 1'000, 7'999, kMarked);  // average 14 us
  CHECK(slow.nscc.average_delay() > ns(13'900));
  CHECK(slow.window() == 100'100);
}

TEST_CASE("one marked packet with delay cuts nothing while the average is below T") {
  Bench b;
  b.shrink_to(100'000);
  b.sack(20'000, 1'000, 16'000, kMarked);  // average 16 us x 0.0125 = 0.2 us
  CHECK(b.nscc.average_delay() == ns(200));
  CHECK(b.window() == 100'100);
}

TEST_CASE("the average delay: weight 1/80, unmarked delay above T enters as a quarter RTT") {
  Bench b;
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
  Bench fast([](TransportProfile& p) { p.nscc_delay_alpha = {500'000'000}; });
  fast.sack(20'000, 1'000, 64'000, kMarked);
  CHECK(fast.nscc.average_delay() == ns(32'000));
  fast.sack(21'000, 1'000, 72'000, kMarked);  // 32 + 40 / 80
  CHECK(fast.nscc.average_delay() == ns(32'500));
}

TEST_CASE("fast increase: after a window without delay every byte adds a quarter, until delay") {
  Bench b([](TransportProfile& p) { p.nscc_pi = p.nscc_eta = 0; });
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
  Bench steep([](TransportProfile& p) {
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
  Bench b;
  b.trim(1'000, 1'000);
  CHECK(b.window() == 224'000);
  CHECK(b.nscc.in_flight().value == 0);
  CHECK(b.nscc.average_delay() == ns(160));  // 12.8 us / 80
}

TEST_CASE("an inferred loss takes its packet from the window, but never below one MTU") {
  Bench b;
  b.nscc.on_sent({1'000});
  b.nscc.on_lost({1'000}, ns(1'000));
  CHECK(b.window() == 224'000);
  b.nscc.on_sent({300'000});
  b.nscc.on_lost({300'000}, ns(1'000));
  CHECK(b.window() == 1'000);
  CHECK(b.nscc.in_flight().value == 0);
}

TEST_CASE("a packet that is withdrawn leaves the window alone") {
  Bench b;
  b.nscc.on_sent({1'000});
  b.nscc.on_withdrawn({1'000});
  CHECK(b.window() == 225'000);
  CHECK(b.nscc.in_flight().value == 0);
}

TEST_CASE("quick adapt: trims, and little arriving in a period, set the window to what arrives") {
  Bench b;
  b.nscc.on_sent({150'000});
  b.sack(20'000, 1'000, 8'000);  // the first period begins: until 20 + 12.8 + 8 = 40.8 us
  b.trim(30'000, 1'000);
  CHECK(b.window() == 224'000);
  b.sack(35'000, 4'000, 8'000);
  b.sack(40'800, 3'000, 8'000);  // not over yet: as ever
  CHECK(b.window() > 224'000);
  b.sack(40'801, 2'000, 8'000);  // 4,000 + 3,000 + 2,000 arrived, < 225,000 >> 3 = 28,125
  CHECK(b.window() == 9'000);

  // What was in flight then (150,000) tells the same story again and is ignored.
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
  Bench b;
  b.sack(20'000, 1'000, 8'000);
  b.sack(30'000, 5'000, 8'000);
  b.trim(41'000, 1'000);
  CHECK(b.window() == 5'000);
}

TEST_CASE("quick adapt: not when enough arrives, and the period starts anew") {
  Bench b([](TransportProfile& p) { p.nscc_eta = p.nscc_fi = 0; });
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
  Bench idle([](TransportProfile& p) { p.nscc_eta = p.nscc_fi = 0; });
  idle.sack(20'000, 1'000, 8'000);
  idle.sack(41'000, 1'000, 200'000);  // with trimming no delay is a reason: trims would tell
  CHECK(idle.window() == 225'000);

  Bench small([](TransportProfile& p) { p.nscc_eta = p.nscc_fi = 0; });
  small.shrink_to(6'000);
  small.sack(20'000, 1'000, 8'000);
  small.sack(30'000, 9'000, 8'000);
  small.trim(41'000, 1'000);  // 9,000 arrived in 21 us: more than the window
  CHECK(small.window() == 6'000);

  Bench starved;
  starved.sack(20'000, 1'000, 8'000);
  starved.trim(41'000, 1'000);  // nothing arrived
  CHECK(starved.window() == 1'000);
}

TEST_CASE("quick adapt: a delay above its threshold is a reason") {
  for (const int64_t delay : {32'000, 32'001}) {
    Bench b([](TransportProfile& p) {
      p.nscc_qa_threshold = ns(32'000);
      p.nscc_eta = p.nscc_fi = 0;
    });
    b.sack(20'000, 1'000, 8'000);
    b.sack(41'000, 7'000, delay);
    CHECK(b.window() == (delay > 32'000 ? 7'000 : 225'000));
  }
}

TEST_CASE("quick adapt can be disabled: trims only take their packets") {
  Bench b([](TransportProfile& p) { p.nscc_disable_qa = true; });
  b.sack(20'000, 1'000, 8'000);
  b.trim(41'000, 1'000);
  b.trim(42'000, 1'000);
  CHECK(b.window() == 223'000);
}

TEST_CASE("a shorter round trip is the new base RTT, and the largest window follows it") {
  Bench b;
  b.nscc.on_sent({3'000});
  Acknowledgement news;
  news.arrived = news.left_flight = {1'000};
  // A short packet is faster than the path: it says nothing about a full one, and has no delay.
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
  Bench b([](TransportProfile& p) {
    p.nscc_delay_alpha = {1'000'000'000};
    p.nscc_eta = 0;
  });
  b.shrink_to(100'000);
  b.sack(20'000, 1'000, 4'000);  // average 4 us; 4,000 x 1,000 x 4/8 / 100,000 = 20
  CHECK(b.window() == 100'020);
  b.nscc.on_sent({9'000});
  Acknowledgement news;
  news.arrived = news.left_flight = {9'000};
  // 4,000 x 9,000 x 4/8 / 100,020 = 179.9
  b.nscc.on_acknowledged(news, ns(21'000));
  CHECK(b.window() == 100'020 + 179);
  CHECK(b.nscc.average_delay() == ns(4'000));
}

TEST_CASE("an acknowledgement of nothing changes nothing") {
  Bench b;
  b.shrink_to(100'000);
  b.nscc.on_acknowledged({}, ns(50'000));
  CHECK(b.window() == 100'000);
}

TEST_CASE("what was held for lost counts as arrived, but leaves flight only once") {
  Bench b([](TransportProfile& p) { p.nscc_eta = 0; });
  b.nscc.on_sent({125'000});
  b.nscc.on_lost({125'000}, ns(0));
  b.nscc.on_sent({50'000});
  Acknowledgement news;
  news.arrived = {10'000};
  news.rtt = RttSample{ns(kBase + 8'000), true};
  b.nscc.on_acknowledged(news, ns(20'000));
  CHECK(b.nscc.in_flight().value == 50'000);
  CHECK(b.window() == 100'000 + 500);  // fair increase: 5,000 x 10,000 / 100,000
}

TEST_CASE("the receiver's penalty takes its 128ths of what is acknowledged, and stops growth") {
  Bench b([](TransportProfile& p) { p.nscc_eta = 0; });
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
  Bench b([](TransportProfile& p) { p.nscc_eta = p.nscc_pi = 0; });
  b.shrink_to(100'000);
  for (int i = 0; i < 4; ++i) b.sack(20'000 + i, 10'000, 4'000, false, 64, true);
  CHECK(b.window() == 80'000);
  b.sack(21'000, 1'000, 4'000);
  CHECK(b.window() == 100'000);
  // Once, not again.
  b.nscc.on_sent({10'000});
  b.nscc.on_lost({10'000}, ns(21'500));
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
  Bench b([](TransportProfile& p) { p.receiver_penalty = false; });
  b.sack(1'000, 10'000, 0, false, 127, true);
  CHECK(b.window() == 225'000);
}

TEST_CASE("the window follows the live ports, and none leaves a single packet") {
  // 8 ports of an eighth of the rate: the same BDP.
  Bench b;
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
  Bench b;
  b.nscc.on_sent({224'999});
  CHECK(b.nscc.may_send({1'000}));
  b.nscc.on_sent({1});
  CHECK_FALSE(b.nscc.may_send({1}));
}

TEST_CASE("fits: another packet may go if it fits, and an empty window takes any") {
  Bench b([](TransportProfile& p) { p.window_rule = WindowRule::kFits; });
  b.nscc.on_sent({224'000});
  CHECK(b.nscc.may_send({1'000}));
  CHECK_FALSE(b.nscc.may_send({1'001}));
  b.nscc.on_withdrawn({224'000});
  CHECK(b.nscc.may_send({225'001}));
}

TEST_CASE("an acknowledgement is asked for when no packet fits, and in small windows always") {
  Bench b;
  b.nscc.on_sent({224'000});
  CHECK_FALSE(b.nscc.wants_acknowledgement());
  b.nscc.on_sent({1});
  CHECK(b.nscc.wants_acknowledgement());
  b.nscc.on_withdrawn({224'001});
  b.shrink_to(4'000);
  CHECK_FALSE(b.nscc.wants_acknowledgement());
  b.shrink_to(3'999);
  CHECK(b.nscc.wants_acknowledgement());
}

// ---- Properties: any order of events, any sizes.

namespace {

/// One event of a random history.
struct Step {
  int kind;        ///< 0-5 SACK, 6 trim, 7 loss, 8 withdrawal, 9 ports
  uint64_t bytes;  ///< sent before it, and told by it
  int64_t delay;   ///< ns
  int64_t gap;     ///< ns since the step before
  bool marked;
  uint8_t penalty;
};

std::vector<Step> steps() {
  const auto bytes = [] { return *rc::gen::inRange<uint64_t>(1, 60'000); };
  std::vector<Step> all;
  const int count = *rc::gen::inRange(1, 200);
  for (int i = 0; i < count; ++i) {
    all.push_back({*rc::gen::inRange(0, 10), bytes(), *rc::gen::inRange<int64_t>(-6'000, 90'000),
                   *rc::gen::inRange<int64_t>(0, 30'000), *rc::gen::arbitrary<bool>(),
                   *rc::gen::element<uint8_t>(0, 0, 0, 5, 127)});
  }
  return all;
}

void play(Bench& b, const Step& step, FabricTime now) {
  if (step.kind == 9) return b.nscc.on_live_ports(static_cast<uint32_t>(step.bytes % 9));
  b.nscc.on_sent({step.bytes});
  if (step.kind == 6) return b.nscc.on_trimmed({step.bytes}, now);
  if (step.kind == 7) return b.nscc.on_lost({step.bytes}, now);
  if (step.kind == 8) return b.nscc.on_withdrawn({step.bytes});
  Acknowledgement news;
  news.arrived = news.left_flight = {step.bytes};
  news.marked = step.marked;
  news.receiver_penalty = step.penalty;
  news.restore_cwnd = step.bytes % 2 == 0;
  if (step.kind != 0) news.rtt = RttSample{ns(kBase + step.delay), step.bytes > 1'000};
  b.nscc.on_acknowledged(news, now);
}

}  // namespace

TEST_CASE("whatever happens the window stays between one MTU and the largest") {
  CHECK(test::counterexample([] {
          Bench b;
          FabricTime now;
          uint64_t in_flight = 0;
          for (const Step& step : steps()) {
            now += ns(step.gap);
            const uint64_t standing = step.bytes % 7 * 100;
            b.nscc.on_sent({standing});
            in_flight += standing;
            play(b, step, now);
            RC_ASSERT(b.nscc.window() >= b.nscc.parameters().mtu);
            RC_ASSERT(b.nscc.window() <= b.nscc.max_window());
            RC_ASSERT(b.nscc.in_flight().value == in_flight);
            RC_ASSERT(b.nscc.base_rtt() <= ns(kBase));
            RC_ASSERT(b.nscc.average_delay() >= ns(0));
          }
        }) == "");
}

TEST_CASE("marks without delay never cut, and unmarked delay alone never does") {
  CHECK(test::counterexample([] {
          Bench b;
          b.shrink_to(100'000);
          FabricTime now;
          uint64_t before = b.window();
          const bool marked = *rc::gen::arbitrary<bool>();
          for (Step step : steps()) {
            now += ns(step.gap);
            step.kind = 1;
            step.penalty = 0;
            step.marked = marked;
            step.delay = marked ? step.delay % 8'000 : step.delay;
            step.delay = std::max<int64_t>(step.delay, 0);
            play(b, step, now);
            RC_ASSERT(b.window() >= before);
            before = b.window();
          }
        }) == "");
}

TEST_CASE("SACKs alone cut at most once per base RTT, and leave at least half") {
  CHECK(test::counterexample([] {
          Bench b([](TransportProfile& p) { p.nscc_delay_alpha = {1'000'000'000}; });
          FabricTime now, last_cut = ns(-1'000'000);
          for (Step step : steps()) {
            now += ns(step.gap);
            step.kind = 1;
            step.penalty = 0;
            step.delay = std::max<int64_t>(step.delay, 0);
            const uint64_t before = b.window();
            play(b, step, now);
            if (b.window() >= before) continue;
            RC_ASSERT(b.window() >= before / 2);
            RC_ASSERT(now - last_cut > b.nscc.base_rtt());
            last_cut = now;
          }
        }) == "");
}

TEST_CASE(
    "trims and losses never raise the window, and cost at most their size or go to arrivals") {
  CHECK(test::counterexample([] {
          Bench b([](TransportProfile& p) { p.nscc_disable_qa = true; });
          FabricTime now;
          for (const Step& step : steps()) {
            now += ns(step.gap);
            const uint64_t before = b.window();
            play(b, step, now);
            if (step.kind != 6 && step.kind != 7) continue;
            RC_ASSERT(b.window() <= before);
            RC_ASSERT(b.window() + step.bytes >= before);
          }
        }) == "");
}
