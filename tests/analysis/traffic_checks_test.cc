// Goodput and what is made of it, losses, paths, counters.

#include <doctest/doctest.h>

#include <fstream>

#include "analysis/checks/checks.h"
#include "tests/support/synthetic_traffic.h"

namespace mrclab::analysis {
namespace {

using test::AnalyzedRun;
using test::kFault;
using test::kHeal;
using test::percent;
using test::ScriptedTraffic;
using test::SyntheticRun;
using test::us;

/// Four flows of a packet of 4,096 bytes per microsecond: 32.77 Gb/s each.
struct SteadyFlows : test::TrafficStory {
  explicit SteadyFlows(const char* name) : TrafficStory(name) {
    run.add_link_fault("h2:p0", kFault, kHeal);
    run.inputs.faults[0].impairments.clear();  // what happens is up to the test
  }
};

bool from_h0(const SyntheticRun::Sent& s) { return s.source == 0; }

TEST_CASE("goodput has an upper bound as well") {
  SteadyFlows story("goodput-at-most");
  ExpectGoodput expect{us(100), us(300), {}, GoodputReference::kLineRate, percent(17)};
  CHECK(story.result(expect) == Result::kPass);  // 131 of 800 Gb/s
  expect.at_most = percent(16);
  const CheckResult check = story.check(expect);
  CHECK(check.result == Result::kFail);
  CHECK(check.bound == 16);
}

TEST_CASE("goodput can be held against a number") {
  SteadyFlows story("goodput-of-rate");
  ExpectGoodput expect{us(100), us(300), percent(95), GoodputReference(BitRate::from_gbps(131))};
  CHECK(story.result(expect) == Result::kPass);
  expect.of = GoodputReference(BitRate::from_gbps(140));
  const CheckResult check = story.check(expect);
  CHECK(check.result == Result::kFail);
  CHECK(check.unit == "% of 140Gb/s");
}

TEST_CASE("goodput of a host, or from one to another, is that of its flows") {
  SteadyFlows story("goodput-of-host");
  story.traffic.silent = [](const SyntheticRun::Sent& s) {
    return from_h0(s) && s.start >= kFault;
  };
  ExpectGoodput expect{us(700), us(900), percent(95)};
  expect.flows.source = "h1";
  CHECK(story.result(expect) == Result::kPass);
  expect.flows = {"h0", "h2", ""};
  CHECK(story.check(expect).measured == 0);
  expect.flows = {"", "", "h[0,2]"};
  const CheckResult half = story.check(expect);  // h0 to h2 is gone, h2 to h0 is not
  REQUIRE(half.measured);
  CHECK(*half.measured == doctest::Approx(50).epsilon(0.01));
  // A share of the line rate: h1 has two ports of 100 Gb/s, and host: counts both directions.
  expect = {us(700), us(900), percent(16), GoodputReference::kLineRate};
  expect.flows.source = "h1";
  CHECK(story.result(expect) == Result::kPass);
  expect.flows = {"", "", "h1"};
  CHECK(*story.check(expect).measured == doctest::Approx(16.4).epsilon(0.01));
}

TEST_CASE("a gap is the longest stretch of intervals with little goodput") {
  SteadyFlows story("gap");
  story.traffic.silent = [](const SyntheticRun::Sent& s) {
    return s.start >= us(500) && s.start < us(560);
  };
  const ExpectGap expect{us(70)};
  const CheckResult check = story.check(expect);
  CHECK(check.result == Result::kPass);
  REQUIRE(check.measured);
  CHECK(*check.measured > 50);
  CHECK(*check.measured < 70);
  CHECK(story.result(ExpectGap{us(40)}) == Result::kFail);
  ExpectGap before{us(5)};
  before.until = us(450);
  CHECK(story.result(before) == Result::kPass);
  // Half of the traffic is no gap below 10 %, but one below 60 %.
  SteadyFlows half("gap-half");
  half.traffic.silent = [](const SyntheticRun::Sent& s) {
    return s.source < 2 && s.start >= us(500) && s.start < us(560);
  };
  ExpectGap low{us(20)};
  low.until = us(950);
  CHECK(half.result(low) == Result::kPass);
  low.below = percent(60);
  CHECK(half.result(low) == Result::kFail);
}

TEST_CASE("the lowest sample is held against the mean of all") {
  SteadyFlows story("samples");
  story.traffic.silent = [](const SyntheticRun::Sent& s) {
    return from_h0(s) && s.start >= us(500) && s.start < us(520);
  };
  ExpectSamples expect{us(300), us(900), us(20), percent(70)};
  const CheckResult check = story.check(expect);
  CHECK(check.result == Result::kPass);
  REQUIRE(check.measured);
  CHECK(*check.measured < 90);
  expect.min_over_mean = percent(92);
  CHECK(story.result(expect) == Result::kFail);
  expect.every = us(400);
  CHECK(story.result(expect) == Result::kInconclusive);  // one sample
}

TEST_CASE("fairness tells equal shares from unequal ones, by Jain or by the extremes") {
  SteadyFlows story("fairness");
  story.traffic.flows = {{0, 2}, {1, 2}, {3, 2}};
  story.traffic.silent = [](const SyntheticRun::Sent& s) {
    return from_h0(s) && s.start.ps() / 1'000'000 % 2 == 1;  // half as much
  };
  ExpectFairness expect{us(100), us(900), percent(91)};
  expect.flows.destination = "h2";
  const CheckResult jain = story.check(expect);  // (0.5 + 1 + 1)^2 / (3 x 2.25) = 92.6 %
  CHECK(jain.result == Result::kPass);
  CHECK(*jain.measured == doctest::Approx(92.6).epsilon(0.01));
  expect.by = FairnessMeasure::kMinOverMax;
  const CheckResult extremes = story.check(expect);
  CHECK(extremes.result == Result::kFail);
  CHECK(*extremes.measured == doctest::Approx(50).epsilon(0.02));
  CHECK(extremes.note.find("h0 to h2") != std::string::npos);
}

TEST_CASE("a pair of which nothing arrived, or that posted and sent nothing, counts for fairness") {
  ExpectFairness expect{us(100), us(900), percent(90)};
  expect.flows.destination = "h2";
  SteadyFlows lost("fairness-of-the-lost");
  lost.traffic.flows = {{0, 2}, {1, 2}, {3, 2}};
  lost.traffic.lost = [](const SyntheticRun::Sent& s) { return s.source == 1; };
  const CheckResult two_of_three = lost.check(expect);
  CHECK(two_of_three.result == Result::kFail);
  CHECK(*two_of_three.measured == doctest::Approx(200.0 / 3));
  REQUIRE(two_of_three.looked);
  CHECK(two_of_three.looked->count() == 3);

  SteadyFlows silent("fairness-of-the-silent");
  silent.traffic.flows = {{0, 2}, {3, 2}};
  CHECK(silent.result(expect) == Result::kPass);
  silent.run.inputs.hosts.hosts[1].queues = {{Qpn{7}, Qpn{8}, 2, 5, 0, 0, 0, false}};
  const CheckResult check = silent.check(expect);
  CHECK(check.result == Result::kFail);
  CHECK(check.note.find("h1 to h2") != std::string::npos);
}

TEST_CASE("what is sent before or behind a window neither passes nor fails in it") {
  SteadyFlows story("nothing-in-the-window");
  story.traffic.until = us(300);
  const auto open = [&](auto expect) {
    expect.from = us(500);
    const CheckResult check = story.check(expect);
    INFO(check.about, ": ", check.note);
    CHECK(check.result == Result::kInconclusive);
    REQUIRE(check.looked);
    CHECK(check.looked->count() == 0);
    CHECK(check.note.find("nothing was looked at: there were no packets") == 0);
  };
  open(ExpectLosses{{0, 0}});
  open(ExpectTrims{{0, 0}});
  open(ExpectRetransmissions{{0, 0}});
  open(ExpectLossesPerQp{0});
  open(ExpectAffectedQps{{}, percent(50)});
  open(ExpectPathUnused{"p0/u1", us(500)});
  open(ExpectGoodput{us(500), FabricTime::never(), {}, GoodputReference::kLineRate, percent(50)});
}

TEST_CASE("a path that no host of a flow has is unused by nothing that was looked at") {
  SteadyFlows local("path-of-others");
  local.traffic.flows = {{0, 1}};  // on one T0
  CHECK(local.result(ExpectPathUnused{"p0/u1", us(100)}) == Result::kInconclusive);
  SteadyFlows story("path-unused");
  story.traffic.flows = {{0, 2}};
  story.traffic.avoids = [](const SyntheticRun::Sent& s) { return s.path == Path{0, 1}; };
  const CheckResult check = story.check(ExpectPathUnused{"p0/u1", us(100)});
  CHECK(check.result == Result::kPass);
  REQUIRE(check.looked);
  CHECK(check.looked->count() >= 899);
  const Noun packets("packet of a host that has p0/u1", "packets of hosts that have p0/u1");
  CHECK(check.looked->what() == packets);
}

TEST_CASE(
    "more intervals than are looked at are no evidence, and neither is a window that fits no gap") {
  SteadyFlows story("too-fine");
  ExpectGap gap{us(70), percent(10), GoodputReference::kLineRate};
  gap.every = FabricTime::from_ps(900);  // of 1 ms: 1.1 million
  CHECK(story.check(gap).note.find("are more than the 1048576 that a check looks at") !=
        std::string::npos);
  ExpectSamples samples{us(100), FabricTime::never(), FabricTime::from_ps(800), percent(1)};
  CHECK(story.check(samples).note.find("are more than the 1048576") != std::string::npos);
  gap.every = {};
  gap.from = us(500);
  gap.until = us(560);
  CHECK(story.result(gap) == Result::kInconclusive);
  gap.at_most = us(50);
  CHECK(story.result(gap) == Result::kPass);
}

TEST_CASE("losses and affected QPs count packets with a drop record in their interval") {
  SteadyFlows story("losses");
  story.traffic.lost = [](const SyntheticRun::Sent& s) {
    return from_h0(s) && s.start >= us(500) && s.start < us(507);
  };
  CHECK(story.result(ExpectLossesPerQp{7}) == Result::kPass);
  const CheckResult most = story.check(ExpectLossesPerQp{6});
  CHECK(most.result == Result::kFail);
  CHECK(most.measured == 7);
  CHECK(story.result(ExpectLossesPerQp{0, {}, us(450)}) == Result::kPass);
  CHECK(story.check(ExpectAffectedQps{percent(25), percent(25)}).result == Result::kPass);
  CHECK(story.result(ExpectAffectedQps{percent(26)}) == Result::kFail);
  CHECK(story.result(ExpectAffectedQps{{}, percent(24)}) == Result::kFail);
}

TEST_CASE(
    "losses, trims and retransmissions have bounds, of some flows, in some time, in a plane") {
  SteadyFlows story("losses");
  story.traffic.lost = [](const SyntheticRun::Sent& s) {
    return s.source == 1 && s.path.plane == 1 && s.start >= us(500) && s.start < us(520);
  };
  ExpectLosses losses;
  losses.at_most = 10;
  const CheckResult all = story.check(losses);
  CHECK(all.result == Result::kPass);
  CHECK(all.measured == 10);
  CHECK(all.bound == 10);
  REQUIRE(all.where);
  CHECK(all.where->who.starts_with("h1 to h3 QP 0x000100 PSN 1500 on p1/u"));
  losses.at_most = 9;
  CHECK(story.result(losses) == Result::kFail);
  losses.until = us(500);
  CHECK(story.result(losses) == Result::kPass);
  losses = {};
  losses.at_least = 1;
  losses.at_most = 10;
  losses.flows.plane = 0;
  CHECK(story.result(losses) == Result::kFail);
  losses.flows = {"h1", "", ""};
  CHECK(story.result(losses) == Result::kPass);
  ExpectTrims trims;
  trims.at_most = 0;
  CHECK(story.result(trims) == Result::kPass);
  trims = {};
  trims.at_least = 1;
  CHECK(story.result(trims) == Result::kFail);
  ExpectRetransmissions again;
  again.at_most = 0;
  CHECK(story.result(again) == Result::kPass);
  SteadyFlows repeated("retransmissions");
  for (uint32_t psn = 5; psn < 8; ++psn) {
    repeated.run.run.delivered({.source = 0,
                                .destination = 2,
                                .psn = psn,
                                .path = {0, 1},
                                .start = us(700),
                                .retransmission = true});
  }
  CHECK(repeated.check(again).measured == 3);
  CHECK(repeated.result(again) == Result::kFail);
}

TEST_CASE("paths have a share of what is sent, and may have to stay unused") {
  SteadyFlows story("share");
  story.traffic.avoids = [](const SyntheticRun::Sent& s) {
    return s.path == Path{0, 1} && s.start >= us(500);
  };
  ExpectShare share{"p0/*", Probability{490'000'000}};
  share.until = us(500);
  CHECK(*story.check(share).measured == doctest::Approx(50).epsilon(0.01));
  CHECK(story.result(share) == Result::kPass);
  share.from = us(500);
  share.until = us(900);
  CHECK(story.result(share) == Result::kFail);  // a third
  share.at_least = {};
  share.at_most = percent(30);
  const CheckResult over = story.check(share);
  CHECK(over.result == Result::kFail);
  CHECK(over.bound == 30);
  ExpectPathUnused unused{"p0/u1", us(500)};
  CHECK(story.result(unused) == Result::kPass);
  unused.from = us(490);
  const CheckResult used = story.check(unused);
  CHECK(used.result == Result::kFail);
  REQUIRE(used.measured);
  CHECK(*used.measured > 0);
  CHECK(used.note.find("p0/u1") != std::string::npos);
  unused.at_most = static_cast<uint64_t>(*used.measured);
  CHECK(story.result(unused) == Result::kPass);
  unused.path = "p7/u1";
  CHECK(story.result(unused) == Result::kInconclusive);
}

TEST_CASE("goodput of a plane is that of what arrives there") {
  SteadyFlows story("goodput-of-plane");
  story.traffic.avoids = [](const SyntheticRun::Sent& s) {
    return s.path.plane == 0 && s.start >= us(500);
  };
  ExpectGoodput expect{us(600), us(900), percent(95)};
  expect.flows.plane = 1;
  CHECK(*story.check(expect).measured == doctest::Approx(200).epsilon(0.01));
  expect.flows.plane = 0;
  const CheckResult gone = story.check(expect);
  CHECK(gone.result == Result::kFail);
  CHECK(gone.measured == 0);
  REQUIRE(gone.where);
  CHECK(gone.where->from == us(600));
}

TEST_CASE("a counter of the captures can be held against bounds") {
  SteadyFlows story("counter");
  CHECK(story.result(ExpectCounter{"sacks", 0, 0}) == Result::kPass);
  CHECK(story.result(ExpectCounter{"sacks", 1}) == Result::kFail);
  CHECK(story.result(ExpectCounter{"nonsense", 1}) == Result::kInconclusive);
}

}  // namespace
}  // namespace mrclab::analysis
