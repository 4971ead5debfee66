// DCQCN by hand: the paper's order and the firmware's, at 100 Gb/s without the byte counter.

#include "endpoint/congestion/dcqcn.h"

#include <doctest/doctest.h>

#include <random>

#include "endpoint/congestion/dcqcn_choice.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::us;

namespace {

constexpr BitRate kPortRate{100'000'000'000};

FabricTime half_us(int64_t halves) { return FabricTime::from_ns(halves * 500); }

double mbps(BitRate rate) { return static_cast<double>(rate.bps) / 1e6; }

DcqcnParameters by_timers_alone(DcqcnParameters parameters) {
  parameters.increase_bytes = {0};
  return parameters;
}

}  // namespace

TEST_CASE(
    "in the paper's order: cuts at each CNP, five recoveries to the target, then 40 Mb/s each") {
  DcqcnLimiter limiter(by_timers_alone(dcqcn_paper()), kPortRate);
  const auto alpha = [&](int64_t at) {
    return static_cast<double>(limiter.alpha(us(at))) / (uint64_t{1} << 30);
  };
  const auto check = [&](int64_t at, double current, double target) {
    CAPTURE(at);
    CHECK(mbps(limiter.rate(us(at))) == doctest::Approx(current).epsilon(1e-8));
    CHECK(mbps(limiter.target(us(at))) == doctest::Approx(target).epsilon(1e-8));
  };
  check(0, 100'000, 100'000);
  limiter.on_cnp(us(0));
  check(0, 50'000, 100'000);
  CHECK(alpha(0) == 1);
  limiter.on_cnp(us(50));
  check(50, 25'000, 50'000);
  check(104, 25'000, 50'000);
  check(105, 37'500, 50'000);
  CHECK(alpha(105) == 0.99609375);
  check(160, 43'750, 50'000);
  check(215, 46'875, 50'000);
  check(270, 48'437.5, 50'000);
  check(325, 49'238.75, 50'040);
  CHECK(alpha(325) == doctest::Approx(0.98062074).epsilon(1e-8));
  check(380, 49'659.375, 50'080);
  check(435, 49'889.6875, 50'120);
  CHECK(alpha(435) == doctest::Approx(0.97297461).epsilon(1e-8));
  limiter.on_cnp(us(450));
  check(450, 25'618.988, 49'889.6875);
  CHECK(alpha(450) == doctest::Approx(0.97308017).epsilon(1e-8));
}

TEST_CASE(
    "in the firmware's order: looks every 4 us, whole Mb/s, and the target of the first cut") {
  DcqcnLimiter limiter(by_timers_alone(dcqcn_firmware()), kPortRate);
  limiter.on_cnp(us(0));
  CHECK(mbps(limiter.rate(us(3))) == 100'000);
  limiter.on_cnp(half_us(5));
  CHECK(limiter.alpha(us(4)) == 1008);
  CHECK(mbps(limiter.rate(us(4))) == 50'782);
  CHECK(mbps(limiter.target(us(4))) == 100'000);
  limiter.on_cnp(half_us(101));
  CHECK(limiter.alpha(us(52)) == 783);
  CHECK(mbps(limiter.rate(us(52))) == 31'367);
  limiter.on_cnp(half_us(121));
  CHECK(limiter.alpha(us(64)) == 740);
  CHECK(mbps(limiter.rate(us(64))) == 20'034);
  CHECK(mbps(limiter.target(us(64))) == 100'000);
  CHECK(mbps(limiter.rate(us(363))) == 20'034);
  CHECK(limiter.alpha(us(364)) == 106);
  CHECK(mbps(limiter.rate(us(364))) == 60'017);
  CHECK(mbps(limiter.rate(us(664))) == 80'008);
  CHECK(mbps(limiter.rate(us(964))) == 90'004);
  CHECK(mbps(limiter.rate(us(1264))) == 95'002);
}

TEST_CASE("the byte counter steps as the timer does, and past both thresholds the target leaps") {
  DcqcnParameters parameters = dcqcn_paper();
  parameters.increase_bytes = {1'000};
  parameters.fast_recovery = 1;
  parameters.hyper = {1'000'000'000};
  DcqcnLimiter limiter(parameters, kPortRate);
  limiter.on_sent({10'000}, us(0));  // before a CNP nothing is counted
  limiter.on_cnp(us(0));
  CHECK(mbps(limiter.rate(us(0))) == 50'000);
  limiter.on_cnp(us(1));  // RC 25,000, RT 50,000
  limiter.on_sent({999}, us(1));
  CHECK(mbps(limiter.rate(us(1))) == 25'000);
  limiter.on_sent({1}, us(1));
  CHECK(mbps(limiter.target(us(1))) == 50'040);
  CHECK(mbps(limiter.rate(us(1))) == 37'520);
  limiter.on_sent({1'000}, us(2));
  CHECK(mbps(limiter.target(us(2))) == 50'080);  // T is 0 still
  CHECK(mbps(limiter.target(us(56))) == 50'120);
  CHECK(mbps(limiter.target(us(111))) == 51'120);  // T and BC are 2: one beyond F
  limiter.on_sent({600}, us(112));
  limiter.on_cnp(us(112));
  const BitRate cut = limiter.rate(us(112));
  limiter.on_sent({600}, us(113));  // a cut begins the count anew
  CHECK(limiter.rate(us(113)) == cut);
}

TEST_CASE("packets leave by the rate, however late the limiter is asked") {
  DcqcnLimiter limiter(by_timers_alone(dcqcn_paper()), kPortRate);
  limiter.on_cnp(us(0));  // 50 Gb/s
  CHECK(limiter.earliest_start() == us(0));
  limiter.on_sent({6'250}, us(0));
  CHECK(limiter.earliest_start() == us(1));
  limiter.on_sent({6'250}, us(1));
  CHECK(limiter.earliest_start() == us(2));
  limiter.on_sent({6'250}, us(10));  // what was not used is lost
  CHECK(limiter.earliest_start() == us(11));
}

TEST_CASE("when the limiter is asked changes nothing, and its rate stays between least and line") {
  for (const DcqcnParameters& parameters : {dcqcn_paper(), dcqcn_firmware()}) {
    std::mt19937 random(7);
    DcqcnLimiter often(parameters, kPortRate), seldom(parameters, kPortRate);
    FabricTime now;
    for (int i = 0; i < 20'000; ++i) {
      now += FabricTime::from_ns(static_cast<int64_t>(random() % 3'000));
      CHECK(often.rate(now).bps >= parameters.least.bps);
      CHECK(often.rate(now).bps <= kPortRate.bps);
      if (random() % 40 == 0) {
        often.on_cnp(now);
        seldom.on_cnp(now);
      }
      if (random() % 10 == 0) {
        often.on_sent({4'200}, now);
        seldom.on_sent({4'200}, now);
      }
    }
    CHECK(often.rate(now) == seldom.rate(now));
    CHECK(often.target(now) == seldom.target(now));
    CHECK(often.alpha(now) == seldom.alpha(now));
    CHECK(seldom.rate(now + FabricTime::from_ms(60'000)) == kPortRate);  // a minute without a CNP
    CHECK(seldom.alpha(now + FabricTime::from_ms(60'000)) == 0);
  }
}

TEST_CASE("one CNP in a period: a mark within it is answered at its end, and only once") {
  DcqcnNotifier notifier(us(50));
  CHECK(notifier.on_marked(us(10)));
  CHECK(notifier.deadline() == FabricTime::never());
  CHECK(!notifier.on_marked(us(20)));
  CHECK(!notifier.on_marked(us(59)));
  CHECK(notifier.deadline() == us(60));
  CHECK(!notifier.on_timer(us(59)));
  CHECK(notifier.on_timer(us(60)));
  CHECK(notifier.deadline() == FabricTime::never());
  CHECK(!notifier.on_timer(us(110)));
  CHECK(notifier.on_marked(us(110)));
}

TEST_CASE("parameters are made for a port's rate and a fabric's round trip, or are as published") {
  struct Case {
    const char* about;
    DcqcnChoice choice;
    DcqcnScale scale;
    double additive, hyper, least;       // Mb/s
    double alpha, cut, increase, quiet;  // us
    uint64_t bytes;
  };
  const auto place = [](uint64_t gbps, int64_t rtt_us) {
    return DcqcnPlace{{gbps * 1'000'000'000}, us(rtt_us)};
  };
  const Case cases[] = {
      {"paper", DcqcnChoice::kPaper, {}, 40, 0, 1, 55, 0, 55, 50, 10'000'000},
      {"paper at home", DcqcnChoice::kPaper, place(40, 12), 40, 0, 1, 55, 0, 55, 50, 10'000'000},
      {"paper, 10 x", DcqcnChoice::kPaper, place(400, 12), 400, 0, 10, 55, 0, 55, 50, 100'000'000},
      {"paper, 1/4", DcqcnChoice::kPaper, place(10, 24), 10, 0, 0.25, 110, 0, 110, 100, 5'000'000},
      {"firmware", DcqcnChoice::kFirmware, {}, 5, 50, 1, 1, 4, 300, 4, 32'767},
      {"firmware at home", DcqcnChoice::kFirmware, place(100, 12), 5, 50, 1, 1, 4, 300, 4, 32'767},
      {"firmware, 4 x", DcqcnChoice::kFirmware, place(400, 6), 20, 200, 4, 0.5, 2, 150, 2, 65'534},
      {"hpcc, C = 25", DcqcnChoice::kHpcc, place(25, 12), 5, 50, 250, 1, 4, 300, 4, 0},
      {"hpcc, C = 400", DcqcnChoice::kHpcc, place(400, 12), 80, 800, 4'000, 1, 4, 300, 4, 0},
      {"aggressive", DcqcnChoice::kAggressive, {}, 5, 50, 1, 1, 4, 600, 4, 0},
      {"most aggressive", DcqcnChoice::kMostAggressive, place(100, 3), 5, 50, 1, .25, 1, 600, 1, 0},
  };
  const auto in_us = [](FabricTime time) { return static_cast<double>(time.ps()) / 1e6; };
  for (const Case& c : cases) {
    CAPTURE(c.about);
    const std::optional<DcqcnParameters> p = dcqcn_parameters(c.choice, c.scale);
    REQUIRE(p);
    CHECK(mbps(p->additive) == c.additive);
    CHECK(mbps(p->hyper) == c.hyper);
    CHECK(mbps(p->least) == c.least);
    CHECK(in_us(p->alpha_period) == c.alpha);
    CHECK(in_us(p->cut_period) == c.cut);
    CHECK(in_us(p->increase_period) == c.increase);
    CHECK(in_us(cnp_interval_of(c.choice, c.scale)) == c.quiet);
    CHECK(p->increase_bytes == Bytes{c.bytes});
  }
  CHECK_FALSE(dcqcn_parameters(DcqcnChoice::kOff, {}));
}

TEST_CASE(
    "scaled to half the rate and twice the round trip, a limiter does the same in twice the time") {
  const DcqcnPlace home{{100'000'000'000}, us(12)}, away{{50'000'000'000}, us(24)};
  for (const DcqcnChoice choice : {DcqcnChoice::kFirmware, DcqcnChoice::kHpcc,
                                   DcqcnChoice::kAggressive, DcqcnChoice::kMostAggressive}) {
    DcqcnLimiter fast(by_timers_alone(*dcqcn_parameters(choice, home)), home.line);
    DcqcnLimiter slow(by_timers_alone(*dcqcn_parameters(choice, away)), away.line);
    for (int64_t at = 0; at < 3'000; at += 7) {
      if (at % 5 == 0 && at < 1'000) {
        fast.on_cnp(us(at));
        slow.on_cnp(us(2 * at));
      }
      CHECK(mbps(slow.rate(us(2 * at))) * 2 == mbps(fast.rate(us(at))));
      CHECK(slow.alpha(us(2 * at)) == fast.alpha(us(at)));
    }
  }
}

TEST_CASE("the more aggressive the tuning, the longer a rate takes to come back") {
  int64_t last = 0;
  for (const DcqcnChoice choice :
       {DcqcnChoice::kFirmware, DcqcnChoice::kAggressive, DcqcnChoice::kMostAggressive}) {
    DcqcnLimiter limiter(*dcqcn_parameters(choice, {}), kPortRate);
    limiter.on_cnp(us(0));
    int64_t at = 4;
    while (limiter.rate(us(at)).bps < kPortRate.bps * 9 / 10) ++at;
    CHECK(at > last);
    last = at;
  }
}

TEST_CASE("single numbers replace those of a tuning, in this fabric's own units, and no other") {
  TransportProfile profile;
  const DcqcnPlace place{{400'000'000'000}, us(6)};
  const DcqcnParameters plain = *dcqcn_parameters(profile, place);
  CHECK(plain.increase_period == us(150));
  profile.dcqcn_g = 32;
  profile.dcqcn_increase_period = us(40);
  profile.dcqcn_additive = {1'000'000'000};
  const DcqcnParameters p = *dcqcn_parameters(profile, place);
  CHECK(p.alpha_keep == 992);
  CHECK(p.increase_period == us(40));
  CHECK(mbps(p.additive) == 1'000);
  CHECK(p.hyper == plain.hyper);
  CHECK(p.cut_period == plain.cut_period);
  profile.dcqcn = DcqcnChoice::kOff;
  CHECK_FALSE(dcqcn_parameters(profile, place));
}

TEST_CASE("the control loop's time is five increases by timer, or 1/g updates of alpha") {
  CHECK(dcqcn_loop_time(*dcqcn_parameters(DcqcnChoice::kFirmware, {})) == us(1'500));
  CHECK(dcqcn_loop_time(*dcqcn_parameters(DcqcnChoice::kMostAggressive, {})) == us(12'000));
  CHECK(dcqcn_loop_time(*dcqcn_parameters(DcqcnChoice::kPaper, {})) == us(256 * 55));
}
