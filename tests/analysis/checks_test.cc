#include "analysis/checks/checks.h"

#include <doctest/doctest.h>

#include "tests/support/checked.h"
#include "tests/support/synthetic_traffic.h"

namespace mrclab::analysis {
namespace {

using test::AnalyzedRun;
using test::kFault;
using test::kHeal;
using test::over_h2_p0;
using test::ScriptedTraffic;
using test::SyntheticRun;

constexpr Probability kNinetyFive{950'000'000};

struct FailingLink : test::TrafficStory {
  explicit FailingLink(const char* name)
      : TrafficStory(name), events_(std::string(name) + ".jsonl") {}

  /// The link h2:p0 fails from kFault to kHeal; its users notice after `notice`, come back after
  /// `back` from the heal.
  void link_fails(FabricTime notice = FabricTime::from_us(30),
                  FabricTime back = FabricTime::from_us(20)) {
    run.add_link_fault("h2:p0", kFault, kHeal);
    traffic.avoids = [=](const SyntheticRun::Sent& s) {
      return over_h2_p0(s) && s.start >= kFault + notice && s.start < kHeal + back;
    };
    traffic.lost = [](const SyntheticRun::Sent& s) {
      return over_h2_p0(s) && s.start >= kFault && s.start < kHeal;
    };
  }
  /// Hosts at both ends report the paths over the link as unusable, and never as usable again.
  void hold_unusable() {
    for (const uint32_t uplink : {0, 1}) {
      for (const char* host : {"h0", "h2"}) {
        test::write_ev_state(events_.path(), kFault, "assumed_bad", {0, uplink}, host);
      }
    }
    run.inputs.events = events_.path();
  }

 private:
  test::ScratchFile events_;
};

TEST_CASE("no_qp_error holds when no host reports an error and fails when one does") {
  FailingLink story("qp");
  CHECK(story.check(ExpectNoQpError{}).result == Result::kPass);
  story.run.inputs.hosts.hosts[1].qps_in_error = 2;
  story.run.inputs.hosts.hosts[1].error = "retry limit";
  const CheckResult check = story.check(ExpectNoQpError{});
  CHECK(check.result == Result::kFail);
  CHECK(check.measured == 2);
  CHECK(check.note == "h1: retry limit");
}

TEST_CASE("qp_error holds when QPs failed for that reason and no other") {
  FailingLink story("qp-error");
  const ExpectQpError expected{"Retry Counter Exceeded"};
  CHECK(story.check(expected).result == Result::kFail);
  story.run.inputs.hosts.hosts[1].qps_in_error = 1;
  story.run.inputs.hosts.hosts[1].error = "Retry Counter Exceeded";
  CHECK(story.check(expected).result == Result::kPass);
  story.run.inputs.hosts.hosts[2].qps_in_error = 1;
  story.run.inputs.hosts.hosts[2].error = "Remote Access Error";
  const CheckResult check = story.check(expected);
  CHECK(check.result == Result::kFail);
  CHECK(check.note == "h2: Remote Access Error");
}

TEST_CASE("leave holds when every affected path was left in time") {
  FailingLink story("leave");
  story.link_fails();
  CHECK(story.check(ExpectLeave{FabricTime::from_us(35)}).result == Result::kPass);
  CHECK(story.check(ExpectLeave{FabricTime::from_us(10)}).result == Result::kFail);
  FailingLink quiet("leave-nothing");
  CHECK(quiet.check(ExpectLeave{FabricTime::from_us(35)}).result == Result::kInconclusive);
}

TEST_CASE("leave counts from a sender's first loss, not from the start of the fault") {
  FailingLink story("leave-late-loss");
  story.link_fails();
  story.traffic.lost = [](const SyntheticRun::Sent& s) {
    return over_h2_p0(s) && s.start >= kFault + FabricTime::from_us(20) && s.start < kHeal;
  };
  const CheckResult check = story.check(ExpectLeave{FabricTime::from_us(10)});
  CHECK(check.result == Result::kPass);
  REQUIRE(check.measured);
  CHECK(*check.measured <= 10);
}

TEST_CASE("no_qp_error fails when the captures show a fatal NACK that no host reports") {
  FailingLink story("fatal");
  SyntheticRun::Sent s;
  s.destination = 2;
  s.psn = 5;
  story.run.run.nack(s, 0x77, NackReason::kUnexpectedEvent, FabricTime::from_us(100), {0, 0});
  CHECK(story.check(ExpectNoQpError{}).result == Result::kFail);
}

TEST_CASE("no_qp_error cannot be judged without reports") {
  FailingLink story("no-reports");
  story.run.inputs.hosts.hosts.clear();
  CHECK(story.check(ExpectNoQpError{}).result == Result::kInconclusive);
}

TEST_CASE("memory_intact fails on a wrong byte and on a write outside of registered memory") {
  FailingLink story("memory");
  CHECK(story.check(ExpectMemoryIntact{}).result == Result::kPass);
  story.run.inputs.hosts.hosts[2].access_violations = 1;
  CHECK(story.check(ExpectMemoryIntact{}).result == Result::kFail);
  story.run.inputs.hosts.hosts[2].access_violations = 0;
  story.run.inputs.hosts.hosts[2].bytes_wrong = 3;
  const CheckResult check = story.check(ExpectMemoryIntact{});
  CHECK(check.result == Result::kFail);
  CHECK(check.measured == 3);
}

TEST_CASE("memory_intact fails when a host verified bytes that never reached it") {
  FailingLink story("liar");
  story.run.inputs.hosts.hosts[2].bytes_verified = 1'000 * SyntheticRun::kPayload;
  CHECK(story.check(ExpectMemoryIntact{}).result == Result::kPass);
  ++story.run.inputs.hosts.hosts[2].bytes_verified;
  CHECK(story.check(ExpectMemoryIntact{}).result == Result::kFail);
}

TEST_CASE("memory_intact cannot be judged when nothing was verified") {
  FailingLink story("nothing");
  for (HostReport& host : story.run.inputs.hosts.hosts) host.bytes_verified = 0;
  CHECK(story.check(ExpectMemoryIntact{}).result == Result::kInconclusive);
}

TEST_CASE(
    "without captures a host's word that memory is intact proves nothing, and is no failure") {
  FailingLink story("no captures");
  RunInputs& inputs = story.run.inputs;
  inputs.expectations = {ExpectMemoryIntact{}};
  CHECK(analyze(inputs).verdict.checks.at(0).result == Result::kInconclusive);
  inputs.hosts.hosts[2].bytes_wrong = 3;
  CHECK(analyze(inputs).verdict.checks.at(0).result == Result::kFail);
}

TEST_CASE("goodput is compared with the baseline over its interval") {
  FailingLink story("goodput");
  story.link_fails();
  ExpectGoodput after{FabricTime::from_us(700), FabricTime::never(), kNinetyFive,
                      GoodputReference::kBaseline};
  CHECK(story.check(after).result == Result::kPass);
  ExpectGoodput during = after;
  during.from = kFault;
  during.until = kFault + FabricTime::from_us(30);  // a quarter of h0's and h2's packets is lost
  const CheckResult check = story.check(during);
  CHECK(check.result == Result::kFail);
  REQUIRE(check.measured);
  CHECK(*check.measured < 90);
}

TEST_CASE("goodput of the line rate needs no baseline") {
  FailingLink story("line-rate");
  // 4 hosts x 2 planes x 100 Gb/s; offered are 4 x 32.8 Gb/s.
  CHECK(story
            .check(ExpectGoodput{FabricTime::zero(), FabricTime::never(), Probability{160'000'000},
                                 GoodputReference::kLineRate})
            .result == Result::kPass);
  CHECK(story
            .check(ExpectGoodput{FabricTime::zero(), FabricTime::never(), Probability{170'000'000},
                                 GoodputReference::kLineRate})
            .result == Result::kFail);
}

TEST_CASE("goodput of an unusable baseline or of an interval behind the end cannot be judged") {
  FailingLink story("unusable");
  CHECK(
      story.check(ExpectGoodput{FabricTime::zero(), FabricTime::never(), kNinetyFive, {}}).result ==
      Result::kInconclusive);  // no fault
  CHECK(story
            .check(ExpectGoodput{FabricTime::from_us(5000), FabricTime::never(), kNinetyFive,
                                 GoodputReference::kLineRate})
            .result == Result::kInconclusive);
}

TEST_CASE("detect holds within its bound and fails beyond") {
  FailingLink story("detect-check");
  story.link_fails(FabricTime::from_us(30));
  CHECK(story.check(ExpectDetect{FabricTime::from_us(35)}).result == Result::kPass);
  const CheckResult check = story.check(ExpectDetect{FabricTime::from_us(20)});
  CHECK(check.result == Result::kFail);
  REQUIRE(check.measured);
  CHECK(*check.measured > 20);
}

TEST_CASE("detect cannot be judged when no affected sender tried") {
  FailingLink story("detect-idle");
  story.link_fails();
  story.traffic.silent = [](const SyntheticRun::Sent& s) {
    return (s.source == 2 || s.destination == 2) && s.start >= kFault;
  };
  const CheckResult check = story.check(ExpectDetect{FabricTime::from_us(35)});
  CHECK(check.result == Result::kInconclusive);
  CHECK_FALSE(check.measured);
  CHECK(check.note.find("nothing to detect") != std::string::npos);
}

TEST_CASE("detect fails when a path stays in use, however quickly others left it") {
  FailingLink story("detect-one-stays");
  story.link_fails();
  const auto both = story.traffic.avoids;
  story.traffic.avoids = [=](const SyntheticRun::Sent& s) { return s.source != 0 && both(s); };
  CHECK(story.check(ExpectDetect{FabricTime::from_us(35)}).result == Result::kFail);
}

TEST_CASE("recover holds within its bound, fails beyond, and fails when goodput stays low") {
  SUBCASE("a dip that ends") {
    FailingLink story("recover");
    story.link_fails(FabricTime::from_us(150));
    const CheckResult good = story.check(ExpectRecover{FabricTime::from_us(400), kNinetyFive});
    CHECK(good.result == Result::kPass);
    REQUIRE(good.measured);
    CHECK(*good.measured > 200);
    CHECK(story.check(ExpectRecover{FabricTime::from_us(220), kNinetyFive}).result ==
          Result::kFail);
  }
  SUBCASE("a loss that stays") {
    FailingLink story("no-recover");
    story.link_fails();
    story.traffic.silent = [](const SyntheticRun::Sent& s) {
      return s.source == 0 && s.start >= kFault;
    };
    CHECK(story.check(ExpectRecover{FabricTime::from_us(400), kNinetyFive}).result ==
          Result::kFail);
    // The run is too short to show whether it would have recovered within 900 us.
    CHECK(story.check(ExpectRecover{FabricTime::from_us(900), kNinetyFive}).result ==
          Result::kInconclusive);
  }
}

TEST_CASE("healed needs every fault undone and its paths in use again") {
  SUBCASE("undone and used") {
    FailingLink story("healed");
    story.link_fails();
    CHECK(story.check(ExpectHealed{}).result == Result::kPass);
  }
  SUBCASE("not undone") {
    FailingLink story("open");
    story.link_fails();
    story.run.inputs.faults[0].healed_at = FabricTime::never();
    for (Impairment& i : story.run.inputs.faults[0].impairments) i.until = FabricTime::never();
    CHECK(story.check(ExpectHealed{}).result == Result::kFail);
  }
  SUBCASE("meant to last") {
    FailingLink story("permanent");
    story.link_fails();
    story.run.inputs.faults[0].healed_at = FabricTime::never();
    story.run.inputs.faults[0].heals = false;
    CHECK(story.check(ExpectHealed{}).result == Result::kInconclusive);  // none was to heal
  }
  SUBCASE("undone, but nobody came back") {
    FailingLink story("not-back");
    story.link_fails(FabricTime::from_us(30), FabricTime::from_us(5000));
    story.hold_unusable();
    const CheckResult check = story.check(ExpectHealed{});
    CHECK(check.result == Result::kFail);
    CHECK(check.note.find("without traffic after the heal") != std::string::npos);
  }
  SUBCASE("undone, but nobody sent any more") {
    FailingLink story("over");
    story.link_fails();
    story.traffic.until = kHeal;
    story.hold_unusable();
    CHECK(story.check(ExpectHealed{}).result == Result::kInconclusive);
  }
}

TEST_CASE("a wire that carried only SACKs is in use again when SACKs cross it") {
  for (const bool after : {false, true}) {
    FailingLink story("sacks");
    story.traffic.flows = {{0, 2}};
    story.link_fails();
    story.hold_unusable();
    SyntheticRun::Sent s;
    s.destination = 2;
    const auto sack = [&](int64_t us) {
      story.run.run.sack(s, 0x77, Psn{1}, 0, FabricTime::from_us(us), {0, 0});
    };
    sack(200);
    if (after) sack(800);
    CHECK(story.check(ExpectHealed{}).result == (after ? Result::kPass : Result::kInconclusive));
  }
}

TEST_CASE("the result fails with a check, is inconclusive with one, and passes with none") {
  const auto check = [](const char* name, Result result) {
    CheckResult c;
    c.name = name;
    c = test::with_result(c, result);
    return c;
  };
  const TimingReport faithful;
  const std::vector<CheckResult> good{check("detect", Result::kPass)};
  const std::vector<CheckResult> open{check("detect", Result::kInconclusive), good[0]};
  const std::vector<CheckResult> bad{open[0], check("goodput", Result::kFail)};
  CHECK(overall_result(good, faithful) == Result::kPass);
  CHECK(overall_result(open, faithful) == Result::kInconclusive);
  CHECK(overall_result(bad, faithful) == Result::kFail);
}

TEST_CASE(
    "no row of a run that is not sound passes or fails: it says what it came to, and the cause") {
  CheckResult check;
  check.name = "goodput";
  check.measured = 12;
  TimingReport timing;
  timing.faithful = false;
  timing.reasons = {"late frames", "the mtu of h0:p0 was changed"};
  timing.disturbances = {"the mtu of h0:p0 was changed"};
  CheckResult missed = as_sound_as(timing, failed(check, "from h0 to h1"));
  CHECK(missed.result == Result::kInconclusive);
  CHECK(missed.note == "missed, from h0 to h1; but the mtu of h0:p0 was changed");
  CHECK(missed.measured == 12);
  timing.disturbances.clear();
  const CheckResult met = as_sound_as(timing, test::with_result(check, Result::kPass));
  CHECK(met.result == Result::kInconclusive);
  CHECK(met.note.starts_with("met"));
  CHECK(met.note.ends_with("; but late frames"));
  const CheckResult open = as_sound_as(timing, unjudged(check, "no packet was sent"));
  CHECK(open.note == "no packet was sent");
  CHECK(as_sound_as({}, failed(check, "why")).result == Result::kFail);
}

TEST_CASE("a run that is not faithful is inconclusive, unless memory was harmed") {
  CheckResult check;
  check.name = "goodput";
  check = test::with_result(check, Result::kFail);
  TimingReport timing;
  timing.faithful = false;
  CHECK(overall_result(std::span{&check, 1}, timing) == Result::kInconclusive);
  check = test::with_result(check, Result::kPass);
  CHECK(overall_result(std::span{&check, 1}, timing) == Result::kInconclusive);
  check.name = "memory_intact";
  check = test::with_result(check, Result::kFail);
  CHECK(overall_result(std::span{&check, 1}, timing) == Result::kFail);
  CHECK(as_sound_as(timing, check).result == Result::kFail);
  // Wall-clock runs promise no faithfulness.
  check = test::with_result(check, Result::kPass);
  timing.mode = TimingMode::kWall;
  CHECK(overall_result(std::span{&check, 1}, timing) == Result::kPass);
}

}  // namespace
}  // namespace mrclab::analysis
