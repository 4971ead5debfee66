// A verdict beside a stored one: what counts as worse, what a person reads, and that no file ends
// the process.

#include "analysis/report/regression.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "fabric/text/json_text.h"
#include "fabric/text/text_wrap.h"
#include "fabric/text/yaml.h"
#include "tests/support/texts.h"

namespace mrclab::analysis {
namespace {

Verdict plain_verdict() {
  Verdict verdict;
  verdict.scenario = "optic-glitch";
  verdict.world = "sim";
  verdict.seed = 1;
  verdict.version = "1.0";
  verdict.result = Result::kPass;
  verdict.timing.mode = TimingMode::kCarried;
  verdict.timing.faithful = true;
  verdict.metrics.goodput_bps = 1e12;
  verdict.metrics.lost = 100;
  verdict.metrics.captures = 1;
  verdict.metrics.completed = FabricTime::from_us(500);
  verdict.metrics.history_sha256 = std::string(64, 'a');
  FaultResult fault;
  fault.fault = "optic";
  fault.detected = FabricTime::from_us(10);
  fault.recovered = FabricTime::from_us(100);
  verdict.faults.push_back(fault);
  return verdict;
}

BaselineCheck against(const Verdict& verdict, std::vector<std::string> tolerances = {}) {
  BaselineCheck check{read_stored_verdict(to_json(verdict), "base.json")};
  for (const std::string& text : tolerances) set_tolerance(text, check.tolerances);
  return check;
}

std::vector<std::string> regressions(const BaselineCheck& check, const Verdict& now) {
  std::vector<std::string> labels;
  for (const ComparedMetric& metric : compare_with(check, now).metrics) {
    if (metric.result == Result::kFail) labels.push_back(metric.label);
  }
  return labels;
}

using Labels = std::vector<std::string>;

TEST_CASE("the same verdict is no regression, not even exactly") {
  const Verdict verdict = plain_verdict();
  CHECK(regressions(against(verdict), verdict).empty());
  CHECK(regressions(against(verdict, {"exact"}), verdict).empty());
}

TEST_CASE("a metric regresses when it is worse by more than its tolerance, and only then") {
  const BaselineCheck check = against(plain_verdict());
  Verdict now = plain_verdict();
  now.metrics.goodput_bps = 0.98e12;
  now.metrics.lost = 110;
  now.metrics.completed = FabricTime::from_us(510);
  now.faults[0].recovered = FabricTime::from_us(110);
  CHECK(regressions(check, now).empty());
  now.metrics.goodput_bps = 0.979e12;
  CHECK(regressions(check, now) == Labels{"goodput"});
  now.metrics.lost = 111;
  now.metrics.completed = FabricTime::from_us(511);
  now.faults[0].recovered = FabricTime::from_us(111);
  now.faults[0].detected = FabricTime::from_us(12);
  CHECK(regressions(check, now) ==
        Labels{"goodput", "completion", "detect 1", "recover 1", "lost"});
}

TEST_CASE("what became better is no regression, unless it is compared exactly") {
  Verdict now = plain_verdict();
  now.metrics.goodput_bps = 1.5e12;
  now.metrics.lost = 1;
  CHECK(regressions(against(plain_verdict()), now).empty());
  CHECK(regressions(against(plain_verdict(), {"exact"}), now) == Labels{"goodput", "lost"});
}

TEST_CASE("where all is compared exactly, the packets are too") {
  Verdict now = plain_verdict();
  now.metrics.history_sha256 = std::string(64, 'b');
  CHECK(regressions(against(plain_verdict()), now).empty());
  CHECK(regressions(against(plain_verdict(), {"exact"}), now) == Labels{"history"});
  CHECK(regressions(against(plain_verdict(), {"exact", "lost=3"}), now).empty());
}

TEST_CASE("digests of different versions are not taken for different packets") {
  Verdict now = plain_verdict();
  now.metrics.history_version = 2;
  Verdict before = now;
  before.metrics.history_version = 1;
  before.metrics.history_sha256 = std::string(64, 'b');
  CHECK(regressions(against(before), now).empty());
  const BaselineComparison exact = compare_with(against(before, {"exact"}), now);
  REQUIRE(exact.metrics.back().result == Result::kFail);
  CHECK(exact.metrics.back().note ==
        "digests of version 1 there, 2 here, so packets cannot be compared: store a new baseline");

  // Verdicts of the first version do not name theirs.
  std::string unstated = to_json(before);
  const std::string stated = ",\n    \"history_version\": 1";
  REQUIRE(unstated.find(stated) != std::string::npos);
  unstated.erase(unstated.find(stated), stated.size());
  CHECK(read_stored_verdict(unstated, "base.json").history_version == 1);
  CHECK(read_stored_verdict(to_json(now), "base.json").history_version == 2);
}

TEST_CASE("tolerances are shares, values in the metric's unit, or exact; of one metric or of all") {
  Verdict now = plain_verdict();
  now.metrics.goodput_bps = 0.9e12;
  now.faults[0].recovered = FabricTime::from_us(120);
  CHECK(regressions(against(plain_verdict(), {"all=20%"}), now).empty());
  CHECK(regressions(against(plain_verdict(), {"goodput=100Gb/s", "recover=20us"}), now).empty());
  CHECK(regressions(against(plain_verdict(), {"goodput=99Gb/s", "recover=19us"}), now) ==
        Labels{"goodput", "recover 1"});
  now = plain_verdict();
  now.metrics.lost = 103;
  CHECK(regressions(against(plain_verdict(), {"lost=3"}), now).empty());
  CHECK(regressions(against(plain_verdict(), {"lost=2"}), now) == Labels{"lost"});
}

TEST_CASE("a run that no longer completes or recovers is worse than any that does") {
  Verdict now = plain_verdict();
  now.metrics.completed.reset();
  now.faults[0].recovered.reset();
  CHECK(regressions(against(plain_verdict(), {"all=10000%"}), now) ==
        Labels{"completion", "recover 1"});
  now.metrics.captures = 0;  // then no packet could show it
  CHECK(regressions(against(plain_verdict()), now).empty());
  const auto compared = compare_with(against(plain_verdict()), now);
  CHECK(std::count_if(compared.metrics.begin(), compared.metrics.end(),
                      [](const auto& m) { return m.result == Result::kInconclusive; }) == 2);
}

TEST_CASE("from nothing to something is a regression of any share") {
  Verdict now = plain_verdict();
  now.metrics.timeouts = 1;
  now.metrics.pauses = PauseUse{1, FabricTime::from_us(5), "h0:p0", "p0.t0-0"};
  CHECK(regressions(against(plain_verdict(), {"all=50%"}), now) == Labels{"timeouts", "paused"});
}

TEST_CASE("a regression is a failed check of the verdict, so JUnit has it") {
  Verdict now = plain_verdict();
  now.metrics.goodput_bps = 0.5e12;
  for (CheckResult& check : checks_of(compare_with(against(plain_verdict()), now))) {
    add_check(now, std::move(check));
  }
  CHECK(now.result == Result::kFail);
  CHECK(to_junit(now).find("failures=\"1\"") != std::string::npos);
  CHECK(to_junit(now).find("against the baseline: goodput ≥ 980.00 Gb/s") != std::string::npos);
}

TEST_CASE("the table fits 80 columns and names what regressed, and what else differs") {
  Verdict now = plain_verdict();
  now.metrics.goodput_bps = 0.5e12;
  now.metrics.deepest = DeepestQueue{Bytes{123'456'789}, "p0.t0-0:u0"};
  now.seed = 999'999'999'999'999'999;
  now.version = std::string(90, 'v');
  const BaselineCheck check = against(plain_verdict());
  const std::string table = to_table(compare_with(check, now), check.baseline);
  for (const std::string& line : test::lines_of(table)) CHECK(columns(line) <= 80);
  CHECK(table.find("goodput") != std::string::npos);
  CHECK(table.find("-50.00 %") != std::string::npos);
  CHECK(table.find("REGRESSION") != std::string::npos);
  CHECK(table.find("seed 1 there, 999999999999999999 here") != std::string::npos);
  CHECK(table.find("1 metric is worse than allowed") != std::string::npos);
}

TEST_CASE("a verdict of another scenario is refused") {
  CHECK_NOTHROW(require_scenario(against(plain_verdict()).baseline, "optic-glitch"));
  CHECK_THROWS_WITH_AS(
      require_scenario(against(plain_verdict()).baseline, "link-flap"),
      "base.json: found a verdict of \"optic-glitch\": expected one of \"link-flap\"", InputError);
}

TEST_CASE("tolerances that mean nothing are refused") {
  Tolerances tolerances = default_tolerances();
  for (const char* text : {"",
                           "goodput",
                           "goodput=",
                           "goodput=two",
                           "goodput=-2%",
                           "goodput=2%%",
                           "goodput=1e400%",
                           "goodput=nan%",
                           "goodput=20000%",
                           "goodput=3us",
                           "lost=1.5",
                           "lost=-1",
                           "recover=3",
                           "all=3us",
                           "=2%",
                           "%",
                           "goodput=2% ",
                           "speed=2%",
                           "lost=\"3\"",
                           "lost=[1]"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(set_tolerance(text, tolerances), InputError);
  }
  CHECK_THROWS_WITH(set_tolerance("goodputt=2%", tolerances),
                    "--tolerance: found \"goodputt\": expected \"goodput\"");
}

TEST_CASE(
    "beside a baseline that is inconclusive or not faithful no metric passes or fails, and the "
    "table says why") {
  struct Case {
    Result result;
    TimingMode mode;
    bool faithful;
    std::string why;
  };
  const std::string inconclusive = "the baseline is inconclusive: nothing can be held against it";
  for (const Case& c : {Case{Result::kInconclusive, TimingMode::kCarried, true, inconclusive},
                        Case{Result::kInconclusive, TimingMode::kWall, false, inconclusive},
                        Case{Result::kPass, TimingMode::kCarried, false,
                             "the baseline is not FAITHFUL: nothing can be held against it"},
                        Case{Result::kPass, TimingMode::kWall, false, ""},
                        Case{Result::kFail, TimingMode::kCarried, true, ""}}) {
    Verdict before = plain_verdict();
    before.result = c.result;
    before.timing.mode = c.mode;
    before.timing.faithful = c.faithful;
    CAPTURE(c.why);
    for (const bool worse : {false, true}) {
      Verdict now = plain_verdict();
      if (worse) now.metrics.goodput_bps = 1;
      const BaselineCheck check = against(before);
      const BaselineComparison comparison = compare_with(check, now);
      CHECK(comparison.unusable == c.why);
      size_t others = 0;
      for (const CheckResult& result : checks_of(comparison)) {
        others += result.result != Result::kInconclusive ? 1 : 0;
      }
      CHECK((others == 0) == !c.why.empty());
      const std::string table = to_table(comparison, check.baseline);
      CHECK((table.find("no metric is worse") == std::string::npos) == (worse || !c.why.empty()));
      if (!c.why.empty()) CHECK(table.find(c.why) != std::string::npos);
    }
  }
  Verdict nothing = plain_verdict();
  nothing.metrics = {};
  nothing.faults.clear();
  nothing.result = Result::kInconclusive;
  CHECK(checks_of(compare_with(against(nothing), nothing)).size() == 1);
}

TEST_CASE("a damaged document is refused in words, and none of the parser's own is shown") {
  for (const auto& row : std::vector<std::pair<std::string, std::string>>{
           {"", "found text that is no JSON at line 1, column 1"},
           {"{\n \"a\": ]}", "found text that is no JSON at line 2, column 7"},
           {"{\"b\": 1}", "found no \"a\""},
           {"{\"a\": 1}", "found number, where string should be"},
           {"[1]", "found array, where an object or a list should be"},
           {"null", "found null, where an object or a list should be"}}) {
    const auto& text = row.first;
    const auto& expected = row.second;
    CAPTURE(text);
    std::string problem = "none";
    try {
      nlohmann::json::parse(text).at("a").get<std::string>();
    } catch (const nlohmann::json::exception& error) {
      problem = json_problem(error);
    }
    CHECK(problem == expected);
  }
}

TEST_CASE("what is no verdict is refused with its place") {
  const auto refusal = [](const std::string& text) {
    try {
      read_stored_verdict(text, "b.json");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  auto json = nlohmann::json::parse(to_json(plain_verdict()));
  CHECK(refusal(json.dump()) == "accepted");
  CHECK(refusal("").starts_with("b.json: found text that is no JSON"));
  CHECK(refusal("[]") == "b.json: found no object: expected the verdict.json of one run");
  CHECK(refusal(std::string(100'000, '[')) ==
        "b.json: found JSON that nests too deep: expected a verdict.json");
  auto wrong = json;
  wrong["metrics"]["goodput_bps"] = "fast";
  CHECK(refusal(wrong.dump()) ==
        "b.json: /metrics/goodput_bps: found \"\"fast\"\": expected a number");
  wrong["metrics"]["goodput_bps"] = -1;
  CHECK(refusal(wrong.dump()) == "b.json: /metrics/goodput_bps: found \"-1\": expected 0 to 1e18");
  wrong = json;
  wrong["metrics"].erase("goodput_bps");
  CHECK(refusal(wrong.dump()).find("/metrics/goodput_bps") != std::string::npos);
  wrong = json;
  wrong["faults"][0] = 7;
  CHECK(refusal(wrong.dump()) == "b.json: /faults/0: found \"7\": expected an object");
  wrong = json;
  wrong["metrics"]["deepest_queue"] = nlohmann::json::array();
  CHECK(refusal(wrong.dump()) ==
        "b.json: /metrics/deepest_queue: found a list: expected an object");
  wrong = json;
  wrong["seed"] = "1";
  CHECK(refusal(wrong.dump()) ==
        "b.json: /seed: found no whole number: expected the seed of the run");
  wrong = json;
  wrong["scenario"] = nullptr;
  CHECK(refusal(wrong.dump()) == "b.json: /scenario: found \"null\": expected text");
}

TEST_CASE("a damaged verdict is refused or read, and nothing else happens") {
  const std::string whole = to_json(plain_verdict());
  std::mt19937_64 random(7);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  constexpr std::string_view kOddText = "{}[]\":,0-9eE.\\x\xff\x00tn";
  size_t refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = whole;
    for (size_t edits = 1 + below(4); edits > 0; --edits) {
      const size_t at = below(text.size());
      if (below(3) == 0) {
        text.erase(at, 1 + below(40));
        if (text.empty()) text = "{";
      } else {
        text[at] = kOddText[below(kOddText.size())];
      }
    }
    try {
      const BaselineCheck check{read_stored_verdict(text, "b.json")};
      to_table(compare_with(check, plain_verdict()), check.baseline);
    } catch (const InputError&) {
      ++refused;
    }
  }
  CHECK(refused > 1000);
  CHECK(refused < 3000);
}

}  // namespace
}  // namespace mrclab::analysis
