#include "analysis/history/coverage.h"

#include <doctest/doctest.h>

#include <fstream>
#include <set>
#include <variant>

#include "fabric/text/line_file.h"
#include "tests/support/one_of_each.h"
#include "tests/support/synthetic_traffic.h"

namespace mrclab::analysis {
namespace {

using test::ScriptedTraffic;
using test::SyntheticRun;
using test::TrafficStory;
using test::us;

/// Steady traffic; the link h2:p0 loses what is sent over it from 700us on.
struct LateLoss : TrafficStory {
  explicit LateLoss(const char* name) : TrafficStory(name) {
    traffic.lost = [](const SyntheticRun::Sent& s) {
      return test::over_h2_p0(s) && s.start >= us(700);
    };
  }
};

ExpectLosses no_losses(FabricTime until = FabricTime::never()) {
  ExpectLosses losses;
  losses.at_most = 0;
  losses.until = until;
  return losses;
}

TEST_CASE("the earliest gap of a source counts; what never was is no gap") {
  Coverage coverage;
  CHECK(coverage.whole(Witness::kPackets));
  coverage.ends(Witness::kPackets, us(30), "b.pcapng ran full");
  coverage.ends(Witness::kPackets, us(20), "a.pcapng ran full");
  coverage.ends(Witness::kPackets, us(40), "c.pcapng ran full");
  CHECK(coverage.until(Witness::kPackets) == us(20));
  CHECK(coverage.why(Witness::kPackets) == "a.pcapng ran full");
  CHECK(coverage.gaps().size() == 3);
  CHECK(coverage.whole(Witness::kEvents));
  coverage.absent(Witness::kEvents, "there are no events");
  CHECK(coverage.until(Witness::kEvents) == FabricTime::zero());
  CHECK(coverage.gaps().size() == 3);
}

TEST_CASE("a capture that ran full has not seen that nothing was lost") {
  LateLoss story("full-capture");
  CHECK(story.result(no_losses()) == Result::kFail);
  LateLoss full("full-capture");  // the same run, but all that shows the loss found no room
  full.traffic.until = us(600);
  full.run.seal.until = us(600);
  const CheckResult check = full.check(no_losses());
  CHECK(check.result == Result::kInconclusive);
  CHECK_FALSE(check.measured);
  CHECK(check.note.find("full-capture.pcapng") != std::string::npos);
  CHECK(check.note.find("complete until 600us") != std::string::npos);
  // What it saw to the end, it saw.
  CHECK(full.result(no_losses(us(500))) == Result::kPass);
  CHECK(full.result(no_losses(us(600))) == Result::kInconclusive);  // some are still on their way
  ExpectGoodput goodput;
  goodput.at_least = Probability{1'000'000};
  goodput.of = GoodputReference::kLineRate;
  CHECK(full.result(goodput) == Result::kInconclusive);
  goodput.until = us(500);
  CHECK(full.result(goodput) == Result::kPass);
}

TEST_CASE("a loss that was seen stays a failure, whatever was not") {
  LateLoss story("seen-loss");
  story.run.seal.until = us(900);
  CHECK(story.result(no_losses()) == Result::kFail);
  LateLoss unsure("unsure-loss");  // beyond what is sealed, nothing is proof
  unsure.run.seal.until = us(650);
  CHECK(unsure.result(no_losses()) == Result::kInconclusive);
}

TEST_CASE("without captures no goodput is measured, be it none") {
  LateLoss story("no-captures");
  story.check(ExpectNoQpError{});
  story.run.inputs.captures.clear();
  ExpectGoodput goodput;
  goodput.at_least = Probability{1'000'000};
  goodput.of = GoodputReference::kLineRate;
  story.run.inputs.expectations = {goodput};
  const Verdict verdict = analyze(story.run.inputs).verdict;
  CHECK(verdict.result == Result::kInconclusive);
  CHECK_FALSE(verdict.checks.at(0).measured);
  CHECK(verdict.checks.at(0).note == "there are no captures");
}

TEST_CASE("on part of the evidence nobody is blamed, and no fault is measured") {
  const auto verdict_until = [](FabricTime until, const char* name) {
    LateLoss story(name);
    story.run.add_link_fault("h2:p0", us(700), us(900));
    story.run.seal.until = until;
    return story.check(ExpectHealed{}), story.run.analyze().verdict;
  };
  const Verdict whole = verdict_until(FabricTime::never(), "all-told");
  REQUIRE(whole.faults.size() == 1);
  CHECK_FALSE(whole.blame.empty());
  CHECK(whole.no_blame.empty());
  CHECK_FALSE(whole.faults[0].note.empty());  // no host left the link
  const Verdict part = verdict_until(us(800), "half-told");
  const std::string gap = "half-told.pcapng ends early, and no other has the packets of h0";
  CHECK(part.blame.empty());
  CHECK(part.no_blame.find(gap) != std::string::npos);
  CHECK(part.faults[0].note == part.no_blame);
  CHECK(part.faults[0].healed);  // by the schedule
  CHECK_FALSE(part.faults[0].still_used);
  CHECK_FALSE(part.faults[0].recovered);
}

TEST_CASE("nobody is blamed for frames that the machine itself lost between two nodes") {
  for (const uint64_t gaps : {0, 1, 7}) {
    LateLoss story(("gaps-" + std::to_string(gaps)).c_str());
    story.run.add_link_fault("h2:p0", us(700), us(900));
    story.run.inputs.timing.gaps = gaps;
    story.check(ExpectHealed{});
    const Verdict verdict = story.run.analyze().verdict;
    CHECK(verdict.blame.empty() == (gaps > 0));
    const std::string frames = gaps == 1 ? "1 frame " : std::to_string(gaps) + " frames ";
    CHECK((verdict.no_blame.find("the kernel lost " + frames) != std::string::npos) == (gaps > 0));
  }
}

TEST_CASE("a node without a file is missed by its name") {
  LateLoss story("no-file");
  story.run.seal.nodes.erase(story.run.seal.nodes.begin() + 5);
  const CheckResult check = story.check(no_losses(us(100)));
  CHECK(check.result == Result::kInconclusive);
  CHECK(check.note == "no file has the packets of " + story.topology.nodes[5].name);
}

TEST_CASE("an event that lacks what it must say, or says it by another name, was not read") {
  using nlohmann::json;
  const Topology topology = test::quad();
  const auto malformed = [&](const json& line) {
    const test::ScratchFile file("spoilt.jsonl");
    std::ofstream(file.path()) << line << '\n';
    EventHistory events(topology);
    events.add_file(file.path());
    CHECK(events.paths().size() + events.failures().size() + events.malformed() == 1);
    return events.malformed();
  };
  const json state{{"t_ps", 1}, {"node", "h0"}, {"port", "p0"},   {"kind", "ev_state"},
                   {"qp", 1},   {"ev", 49152},  {"cause", "good"}};
  const json failure{{"t_ps", 1}, {"node", "h0"},   {"kind", "qp_error"},
                     {"qp", 1},   {"cause", "why"}, {"detail", "to h1"}};
  for (const json& whole : {state, failure}) {
    CHECK(malformed(whole) == 0);
    for (const auto& item : whole.items()) {
      CAPTURE(item.key());
      json removed = whole;
      removed.erase(item.key());
      json renamed = removed;
      renamed[item.key() + "_"] = item.value();
      json other = whole;
      other[item.key()] = item.value().is_string() ? json(7) : json("x");
      if (item.key() != "detail") CHECK(malformed(removed) == 1);
      CHECK(malformed(renamed) == 1);
      CHECK(malformed(other) == 1);
    }
  }
}

TEST_CASE("events behind a line without end were not read, whatever they say") {
  LateLoss story("endless-line");
  CHECK(story.result(ExpectNoQpErrorWhileAPathLives{}) == Result::kPass);
  const test::ScratchFile events("endless-line.jsonl");
  std::ofstream(events.path()) << std::string(LineFile::kMaxLineBytes + 1, ' ') << '\n';
  story.run.inputs.events = events.path();
  const CheckResult check = story.check(ExpectNoQpErrorWhileAPathLives{});
  CHECK(check.result == Result::kInconclusive);
  CHECK(check.note.find("found a line of more than") != std::string::npos);
}

TEST_CASE("a host without a report has not said that it has no error") {
  LateLoss story("silent-host");
  CHECK(story.result(ExpectNoQpError{}) == Result::kPass);
  story.run.inputs.hosts.hosts.erase(story.run.inputs.hosts.hosts.begin() + 2);
  const CheckResult check = story.check(ExpectNoQpError{});
  CHECK(check.result == Result::kInconclusive);
  CHECK(check.note == "h2 left no report");
  story.run.inputs.hosts.hosts[0].qps_in_error = 1;  // another has reported one
  CHECK(story.result(ExpectNoQpError{}) == Result::kFail);
}

TEST_CASE("with nothing to go by, no check passes or fails") {
  const Topology topology = test::quad();
  RunInputs inputs{topology, {}};
  inputs.end = us(1000);
  inputs.expectations = test::one_of_each();
  std::set<size_t> kinds;
  for (const Expectation& expectation : inputs.expectations) kinds.insert(expectation.index());
  REQUIRE(kinds.size() == std::variant_size_v<ExpectationKind> - 2);  // all but the two bundles
  for (const CheckResult& check : analyze(inputs).verdict.checks) {
    INFO(check.name, ": ", check.note);
    CHECK(check.result == Result::kInconclusive);
    CHECK_FALSE(check.note.empty());
  }
}

}  // namespace
}  // namespace mrclab::analysis
