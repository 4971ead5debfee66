// When RC's sending half tries again, and when it gives up: its timer, and receivers that are not ready.

#include "endpoint/roce/rnr_time.h"

#include <doctest/doctest.h>

#include "endpoint/roce/rc_requester.h"
#include "tests/endpoint/roce/rc_sender.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::Psns;
using mrclab::test::psns_between;
using mrclab::test::RcPair;
using mrclab::test::RcSender;
using mrclab::test::us;

TEST_CASE("a timeout goes back to the oldest packet; after so many in a row the queue pair fails") {
  RcParameters parameters = RcPair::parameters();
  parameters.retries = 3;
  RcSender bench(parameters);
  bench.post(7, 2);
  bench.post(8, 2);
  bench.send();
  CHECK(bench.ack(100) == Refusal::kNone);
  for (int retry = 0; retry < 3; ++retry) {
    const FabricTime before = bench.now;
    bench.wait();
    CHECK(bench.now - before == us(100));
    CHECK(bench.send() == psns_between(101, 103));
  }
  SUBCASE("progress begins the count anew, and a NAK that was seen before counts again") {
    CHECK(bench.nak(102) == Refusal::kNone);
    CHECK(bench.send() == psns_between(102, 103));
    CHECK(bench.nak(102) == Refusal::kStaleFeedback);
    bench.wait();
    CHECK(bench.nak(102) == Refusal::kStaleFeedback);  // it waits to be sent anyway
    CHECK(bench.send() == psns_between(102, 103));
    CHECK(bench.nak(102) == Refusal::kNone);
    CHECK(bench.failure.empty());
  }
  SUBCASE("without progress it is over") {
    bench.wait();
    CHECK(bench.failure == "Retry Counter Exceeded");
    using Failed = std::vector<std::pair<uint64_t, std::string>>;
    CHECK(bench.failed_work == Failed{{7, "Retry Counter Exceeded"}, {8, std::string(kFlushed)}});
    CHECK(bench.stats.timeouts == 4);
    CHECK(bench.requester.failed());
    CHECK_FALSE(bench.post(9, 1));
    CHECK(bench.send().empty());
    CHECK(bench.requester.deadline(bench.now) == FabricTime::never());
  }
}

TEST_CASE("a ConnectX's timer: six steps that grow, all for one retry, then the regular time") {
  RcParameters parameters = RcPair::parameters();
  parameters.times = {us(10), us(640)};
  parameters.retries = 3;
  RcSender bench(parameters);
  bench.post(1, 1);
  bench.send();
  for (const int64_t step : {10, 20, 40, 80, 120, 240, 640, 640, 640}) {
    CHECK(bench.failure.empty());
    const FabricTime before = bench.now;
    bench.wait();
    CHECK(bench.now - before == us(step));
    bench.send();
  }
  CHECK(bench.failure == "Retry Counter Exceeded");
}

TEST_CASE(
    "real timers: a ConnectX has a floor of T = 16 and an adaptive phase, others have neither") {
  TransportProfile profile;
  const auto ms = [](FabricTime time) { return static_cast<double>(time.ps()) / 1e9; };
  const auto near = [](double value) { return doctest::Approx(value).epsilon(0.03); };
  SUBCASE("as it was measured: 8.6 16.6 33.7 67 101 201 and 537 ms; T = 20 and 7 retries 59.8 s") {
    for (const uint32_t exponent : {1u, 10u, 16u}) {
      const RcTimes times = rc_times(profile, exponent);
      uint32_t timeouts = 0;
      for (const double step : {8.6, 16.6, 33.7, 67.0, 101.0, 201.0, 537.0, 537.0}) {
        CHECK(ms(times.after(timeouts++)) == near(step));
      }
    }
    CHECK(rc_times(profile).first() == rc_times(profile, 1).first());  // T = 20
    CHECK(ms(rc_times(profile).until_failure(7)) == near(59'800));
    CHECK(ms(rc_times(profile, 17).regular) == near(2 * 537));
  }
  SUBCASE("without its floor, and exactly: 4.096 us x 2^T, each time") {
    for (const RcTimers timers : {RcTimers::kConnectXNoFloor, RcTimers::kExact}) {
      profile.timers = timers;
      const RcTimes times = rc_times(profile, 10);
      CHECK(times.first() == FabricTime::from_ns(4'194'304));
      CHECK(times.until_failure(7) == FabricTime::from_ns(4'194'304) * 8);
    }
  }
  SUBCASE("T = 0 is no timer") {
    CHECK(rc_times(profile, 0).first() == FabricTime::never());
    CHECK(rc_times(profile, 0).until_failure(7) == FabricTime::never());
    RcParameters parameters = RcPair::parameters();
    parameters.times = rc_times(profile, 0);
    RcSender bench(parameters);
    bench.post(1, 1);
    bench.send();
    CHECK(bench.requester.deadline(bench.now) == FabricTime::never());
  }
  SUBCASE("compressed timers are what the profile says") {
    profile.timers = RcTimers::kCompressed;
    profile.rc_ack_timeout = us(80);
    CHECK(rc_times(profile).until_failure(3) == us(320));
    profile.rc_timer = RcTimer::kConnectX;
    CHECK(rc_times(profile).first() == us(10));
    CHECK(rc_times(profile).regular == us(640));
  }
}

TEST_CASE("the timer runs from the oldest packet's last transmission or the last progress") {
  RcSender bench;
  bench.post(1, 3);
  bench.now = us(50);
  CHECK(bench.requester.deadline(bench.now) == FabricTime::never());
  bench.requester.next_packet(us(50));
  bench.requester.next_packet(us(60));
  CHECK(bench.requester.deadline(us(60)) == us(150));
  bench.now = us(80);
  CHECK(bench.ack(100) == Refusal::kNone);
  CHECK(bench.requester.deadline(us(80)) == us(180));
  bench.wait();
  CHECK(bench.losses == std::vector<std::string>{"timeout 101"});
  bench.requester.next_packet(us(200));
  CHECK(bench.requester.deadline(us(200)) == us(300));
}

TEST_CASE("the timer waits while DCQCN lets the oldest packet not go again") {
  RcParameters parameters = RcPair::parameters();
  parameters.dcqcn = dcqcn_paper();
  parameters.dcqcn->increase_period = FabricTime::from_ms(1000);
  parameters.retries = 0;
  RcSender bench(parameters);
  for (int i = 0; i < 40; ++i) bench.requester.on_cnp(us(1));  // as slow as it gets
  bench.post(1, 2);
  CHECK(bench.requester.next_packet(us(1)));
  CHECK_FALSE(bench.requester.next_packet(us(2)));
  CHECK(bench.nak(100) == Refusal::kNone);
  const FabricTime next = bench.requester.deadline(us(2));
  CHECK(next > us(1'000));  // far more than the ACK timeout
  bench.requester.on_timer(next - test::ps(1));
  CHECK_FALSE(bench.requester.failed());
  CHECK(bench.requester.next_packet(next)->psn == Psn{100});
  bench.requester.on_timer(next + us(99));
  CHECK_FALSE(bench.requester.failed());
  bench.requester.on_timer(next + us(100));
  CHECK(bench.requester.failed());
}

TEST_CASE("receiver not ready: the packet and what follows go again after the time of its code") {
  RcParameters parameters = RcPair::parameters();
  parameters.rnr_retries = 2;
  RcSender bench(parameters);
  bench.post(1, 1);
  bench.post(2, 2);
  bench.send();
  CHECK(bench.answer(not_ready_syndrome(3), 101) == Refusal::kNone);  // 30 us
  CHECK(bench.completed == std::vector<uint64_t>{1});
  CHECK(bench.answer(not_ready_syndrome(3), 101) == Refusal::kStaleFeedback);
  CHECK(bench.send().empty());
  CHECK(bench.requester.deadline(bench.now) == bench.now + us(30));
  bench.wait();
  CHECK(bench.send() == psns_between(101, 102));
  CHECK(bench.stats.timeouts == 0);
  CHECK(bench.losses == std::vector<std::string>{"rnr 101"});
  CHECK(bench.requester.deadline(bench.now) == bench.now + us(100));
  CHECK(bench.answer(not_ready_syndrome(1), 101) == Refusal::kNone);
  bench.wait();
  bench.send();
  SUBCASE("progress begins the count anew") {
    CHECK(bench.answer(not_ready_syndrome(1), 102) == Refusal::kNone);
    CHECK(bench.failure.empty());
  }
  SUBCASE("the third one in a row is too many") {
    CHECK(bench.answer(not_ready_syndrome(1), 101) == Refusal::kNone);
    CHECK(bench.failure == "RNR Retry Counter Exceeded");
    CHECK(bench.failed_work.at(0).second == "RNR Retry Counter Exceeded");
  }
}

TEST_CASE("seven retries after receiver not ready stand for any number, as in the verbs") {
  RcSender bench;
  bench.post(1, 1);
  for (int i = 0; i < 50; ++i) {
    CHECK(bench.send() == Psns{100});
    CHECK(bench.answer(not_ready_syndrome(1), 100) == Refusal::kNone);
    bench.wait();
  }
  CHECK(bench.failure.empty());
}

TEST_CASE("the times of receiver not ready are InfiniBand's table") {
  const std::pair<int, int64_t> cases[] = {{0, 655'360}, {1, 10},       {2, 20},
                                           {4, 40},      {5, 60},       {12, 640},
                                           {24, 40'960}, {31, 491'520}, {0xE1, 10}};
  for (const auto& [code, microseconds] : cases)
    CHECK(rnr_time(static_cast<uint8_t>(code)) == us(microseconds));
  for (uint8_t code = 2; code < 32; ++code) CHECK(rnr_time(code) > rnr_time(code - 1));
}
