// The sentences of compare, one by one: which are printed, with which words, and from which number on.

#include <doctest/doctest.h>

#include "lab/compare/comparison_story.h"
#include "tests/support/checked.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::lab;
using analysis::CheckResult;
using analysis::Metrics;
using analysis::Result;
using test::us;

namespace {

/// mrc and roce, of which nothing is given but that their packets differ.
Comparison two_runs() {
  Comparison comparison;
  comparison.end = us(1'000);
  comparison.runs.resize(2);
  comparison.runs[0].transport = "mrc";
  comparison.runs[0].verdict.metrics.history_sha256 = "a";
  comparison.runs[1].transport = "roce";
  comparison.runs[1].verdict.metrics.history_sha256 = "b";
  return comparison;
}

struct Told {
  Comparison comparison = two_runs();
  Metrics& first = comparison.runs[0].verdict.metrics;
  Metrics& second = comparison.runs[1].verdict.metrics;

  /// The text about the second run, but for how it ended.
  std::string rest() const {
    std::string text;
    const std::vector<std::string> story = story_of(comparison, comparison.runs[1]);
    for (size_t i = 1; i < story.size(); ++i) text += (i > 1 ? "|" : "") + story[i];
    return text;
  }
  std::string outcome(size_t run = 1) const {
    return story_of(comparison, comparison.runs[run]).at(0);
  }
};

CheckResult checked(const char* about, Result result) {
  CheckResult check;
  check.about = about;
  check = test::with_result(check, result);
  return check;
}

}  // namespace

TEST_CASE("of a workload that goes on, what arrived is held against the first, from 0.05 % on") {
  Told told;
  told.first.goodput_bps = 100e9;
  const auto with = [&](double goodput) {
    told.second.goodput_bps = goodput;
    return told.outcome();
  };
  CHECK(with(60e9) == "60.00 Gb/s arrived, 40.0 % less than under mrc.");
  CHECK(with(125e9) == "125.00 Gb/s arrived, 25.0 % more than under mrc.");
  CHECK(with(99.94e9) == "99.94 Gb/s arrived, 0.1 % less than under mrc.");
  CHECK(with(99.96e9) == "99.96 Gb/s arrived, as under mrc.");
  CHECK(with(100.04e9) == "100.04 Gb/s arrived, as under mrc.");
  CHECK(told.outcome(0) == "100.00 Gb/s arrived.");
  told.first.goodput_bps = 0;
  CHECK(with(60e9) == "60.00 Gb/s arrived.");
  CHECK_FALSE(share_of_first(told.comparison.runs[0], told.comparison.runs[1]));
}

TEST_CASE("of a workload that ends, how long it took, unless one of the two did not finish") {
  Told told;
  told.first.work_ends = told.second.work_ends = true;
  told.first.completed = us(200);
  told.second.completed = us(100);
  CHECK(told.outcome() == "It took 100us, 0.50 times as long as mrc.");
  CHECK(share_of_first(told.comparison.runs[0], told.comparison.runs[1]) == 50.0);
  told.second.completed = us(200);
  CHECK(told.outcome() == "It took 200us, as under mrc.");
  told.second.completed.reset();
  CHECK_FALSE(share_of_first(told.comparison.runs[0], told.comparison.runs[1]));
  told.second.completed = us(200);
  told.first.completed.reset();
  CHECK(told.outcome() == "It took 200us.");
  CHECK(told.outcome(0) == "It did not finish: 0 of 0 packets arrived.");
}

TEST_CASE("the same packets are said to be the same, of another run than the first alone") {
  Told told;
  told.second.history_sha256 = "a";
  CHECK(told.outcome() == "It does the same, packet by packet.");
  CHECK(told.outcome(0) == "0.00 Gb/s arrived.");
}

TEST_CASE("flows that keep to one path are told with how they collide, flows that spray are not") {
  Told told;
  analysis::FlowSpread spread;
  spread.flows = 8;
  spread.uplinks = 8;
  spread.used = 5;
  told.second.spread = spread;
  CHECK(told.rest().empty());
  told.second.spread->one_path = 3;
  told.second.spread->uplinks_by_flows = {5, 3};  // flows that spray used two more
  CHECK(told.rest() ==
        "3 of 8 flows kept to one path each and used 3 of 8 uplinks; no two shared one.");
  told.second.spread->sharing = told.second.spread->most = 2;
  told.second.spread->uplinks_by_flows = {6, 1, 1};
  told.second.spread->busiest = "p0.t0-0:u3";
  told.second.spread->busiest_to_mean = 2.25;
  CHECK(told.rest() ==
        "3 of 8 flows kept to one path each and used 2 of 8 uplinks; 2 of them shared one with "
        "others, 2 the fullest, and p0.t0-0:u3 carried 2.2 times the mean.");
  told.second.spread->flows = told.second.spread->one_path = 1;
  told.second.spread->uplinks_by_flows = {7, 1};
  CHECK(told.rest() == "1 flow kept to one path and used 1 of 8 uplinks.");
}

TEST_CASE("pauses are told with the port that stood longest, as a share of the run") {
  Told told;
  told.second.pauses = analysis::PauseUse{1, us(125), "h0:p0", "p0.t0-0"};
  CHECK(told.rest() ==
        "1 port was paused, h0:p0 longest: 12.5 % of the time; p0.t0-0 paused first.");
  told.second.pauses->ports = 2;
  CHECK(told.rest().starts_with("2 ports were paused, "));
}

TEST_CASE("the deepest queue is told where it paused a port or slowed a flow down, else not") {
  Told told;
  told.second.deepest = analysis::DeepestQueue{{999}, "p0.t0-0:d0"};
  CHECK(told.rest().empty());
  told.second.cnps = 1;
  CHECK(told.rest() ==
        "The deepest queue held 999 B, at p0.t0-0:d0.|1 CNP notified senders of full queues.");
  told.second.cnps = 0;
  told.second.pauses = analysis::PauseUse{1, us(100), "h0:p0", "p0.t0-0"};
  CHECK(told.rest().find("|The deepest queue held 999 B, at p0.t0-0:d0.") != std::string::npos);
  told.second.deepest.reset();
  CHECK(told.rest().find("queue") == std::string::npos);
}

TEST_CASE("losses are told with what was sent again, as a ratio where it is over 1.1") {
  Told told;
  CHECK(told.rest().empty());
  told.second.retransmitted = 3;
  CHECK(told.rest() == "0 packets lost, 3 retransmitted.");
  told.second.retransmitted = 0;
  told.second.trimmed = 4;
  CHECK(told.rest() == "0 packets lost, 4 trimmed, 0 retransmitted.");
  told.second.lost = 6;
  told.second.retransmitted = 11;
  CHECK(told.rest() == "6 packets lost, 4 trimmed, 11 retransmitted.");
  told.second.retransmitted = 12;
  CHECK(told.rest() ==
        "6 packets lost, 4 trimmed, 12 retransmitted: 1.2 for each lost or trimmed.");
  told.second = {};
  told.second.lost = 1;
  CHECK(told.rest() == "1 packet lost, 0 retransmitted.");
}

TEST_CASE(
    "notifications, the flows that they slowed down, and NAKs are told where there were any") {
  Told told;
  told.second.naks = 1;
  CHECK(told.rest() == "1 NAK to go back.");
  told.second.cnps = 2;
  CHECK(told.rest() == "2 CNPs notified senders of full queues, 1 NAK to go back.");
  told.second.flows_cut = 1;
  CHECK(told.rest() ==
        "2 CNPs notified senders of full queues and slowed 1 flow down, 1 NAK to go back.");
  told.second.timeouts = 3;
  told.second.cnps = 0;
  CHECK(told.rest() == "1 NAK to go back, 3 timeouts of a sender.");
  told.second.naks = 0;
  CHECK(told.rest() == "3 timeouts of a sender.");
}

TEST_CASE(
    "why a run has no time of recovery is told: by the end, without a baseline, without evidence") {
  Told told;
  CHECK(told.rest() == "");
  analysis::FaultResult fault;
  fault.fault = "link_down h1:p0";
  fault.recovered = us(3);
  auto& faults = told.comparison.runs[1].verdict.faults;
  faults = {fault, fault};
  CHECK(told.rest() == "");
  faults[1].recovered.reset();
  faults[1].recovery_known = true;
  CHECK(told.rest() == "Not recovered by the end: link_down h1:p0.");
  faults[1].recovery_known = false;
  faults[1].recovery_note = "not known, as there is no baseline: the workload ends";
  CHECK(told.rest() == "Recovery is not known, as there is no baseline: the workload ends.");
  faults[1].measured = false;
  faults[1].note = "captures are missing";
  CHECK(told.rest() == "Recovery is not known: captures are missing.");
}

TEST_CASE("checks are told by what became of them, and those that were met are counted") {
  Told told;
  told.second.qps_failed = 2;
  ComparedRun& run = told.comparison.runs[1];
  run.verdict.checks = {checked("a", Result::kPass), checked("b", Result::kFail),
                        checked("c", Result::kInconclusive), checked("d", Result::kFail)};
  run.not_asked = {"e", "f"};
  run.contrast = {checked("g", Result::kInconclusive), checked("h", Result::kFail),
                  checked("i", Result::kPass), checked("j", Result::kPass)};
  CHECK(checks_met(run) == "1 of 4");
  CHECK(told.rest() ==
        "2 queue pairs failed.|Not met: b; d.|Cannot be judged: c.|Not asked: e; f.|Contrast met: "
        "i; j.|CONTRAST NOT MET: h.|Contrast cannot be judged: g.");
}

TEST_CASE("sizes are in bytes below 1000 of them, and then rounded to kB") {
  CHECK(size_text({0}) == "0 B");
  CHECK(size_text({999}) == "999 B");
  CHECK(size_text({1'000}) == "1 kB");
  CHECK(size_text({1'499}) == "1 kB");
  CHECK(size_text({1'500}) == "2 kB");
}

TEST_CASE("the headline says by what the runs are compared") {
  Told told;
  Headline headline = headline_of(told.comparison);
  CHECK_FALSE(headline.times);
  CHECK(headline.said.find("until the end, at 1ms: goodput is what") != std::string::npos);
  CHECK(headline.unit_of_first == "of mrc");
  told.first.work_ends = true;
  headline = headline_of(told.comparison);
  CHECK(headline.times);
  CHECK(headline.said.starts_with("completion: "));
}

TEST_CASE("what the figures depend on besides the transport is told behind them") {
  Told told;
  told.second.naks = 1;
  told.comparison.runs[1].verdict.depends_on = {"compressed timers", "a window of 1ms"};
  CHECK(told.rest() ==
        "1 NAK to go back.|Depends on compressed timers.|Depends on a window of 1ms.");
}
