// The end of a run's output: what a person must not miss.

#include "analysis/report/summary.h"

#include <doctest/doctest.h>

#include "analysis/expect/expectation.h"
#include "analysis/report/text_table.h"
#include "fabric/text/text_wrap.h"
#include "tests/support/checked.h"
#include "tests/support/texts.h"

namespace mrclab::analysis {
namespace {

using test::lines_of;

CheckResult check(const std::string& about, Result result, double measured, const char* unit) {
  CheckResult check;
  check.name = about.substr(0, about.find(' '));
  check.about = about;
  check = test::with_result(check, result);
  check.measured = measured;
  check.bound = 95;
  check.unit = unit;
  return check;
}

Verdict verdict(Result result) {
  Verdict v;
  v.scenario = "optic-glitch";
  v.result = result;
  v.timing.faithful = true;
  v.checks = {check("goodput of plane 0 after the heal (from 600us) ≥ 95 % of baseline", result,
                    99.9712, "% of baseline"),
              check("queue pairs in error ≤ 0", Result::kPass, 0, "QPs")};
  return v;
}

}  // namespace

TEST_CASE("a run that passes ends with its result and where the report is") {
  const auto lines = lines_of(to_summary(verdict(Result::kPass), {6.94, "runs/x/report.html"}));
  REQUIRE(lines.size() == 3);
  CHECK(lines[1] == "PASS  optic-glitch: all 2 checks passed; FAITHFUL; 6.9 s");
  CHECK(lines[2] == "report  runs/x/report.html");
}

TEST_CASE("each check that failed has its line, with what it is about, bound and measured") {
  const auto lines = lines_of(to_summary(verdict(Result::kFail), {120.4, "runs/x/report.html"}));
  REQUIRE(lines.size() == 5);
  CHECK(lines[1] == "FAIL  optic-glitch: of 2 checks, 1 failed; FAITHFUL; 120 s");
  CHECK(lines[2] == "  FAIL  goodput of plane 0 after the heal (from 600us) ≥ 95 % of baseline:");
  CHECK(lines[3] == "        99.97 %");
}

TEST_CASE("what could not be judged says why") {
  Verdict v = verdict(Result::kInconclusive);
  v.checks[0].measured.reset();
  v.checks[0].note = "the run ends at 300us, before this interval";
  std::string text = to_summary(v, {1, "r"});
  CHECK(text.find("INCONCLUSIVE  optic-glitch: of 2 checks, 1 inconclusive") != std::string::npos);
  CHECK(text.find("run ends at 300us, before this interval") != std::string::npos);
  v.checks[0] = test::with_result(v.checks[0], Result::kPass);
  v.timing.faithful = false;
  v.timing.reasons = {"the kernel lost frame 7 on wire h0:p0->p0.t0-0:d0"};
  text = to_summary(v, {1, "r"});
  CHECK(text.find("NOT FAITHFUL") != std::string::npos);
  CHECK(text.find("  the kernel lost frame 7") != std::string::npos);
}

TEST_CASE("however much fails, the result does not scroll off a screen of 24 lines") {
  Verdict v = verdict(Result::kFail);
  v.checks.resize(1);
  v.checks.resize(200, v.checks[0]);
  const auto lines = lines_of(to_summary(v, {1, "runs/x/report.html"}));
  CHECK(lines.size() <= 24);
  CHECK(lines[1].starts_with("FAIL  optic-glitch: of 200 checks, 200 failed"));
}

TEST_CASE("a run that expected nothing does not say that everything passed") {
  Verdict v = verdict(Result::kInconclusive);
  v.checks.clear();
  CHECK(to_summary(v, {1, "r"}).find("no checks") != std::string::npos);
}

TEST_CASE("a line breaks between words, but not between a number and its unit") {
  CHECK(wrapped_lines("12 us used up", 7) == std::vector<std::string>{"12 us", "used up"});
  CHECK(wrapped_lines("up to 99.97 % of it", 10) ==
        std::vector<std::string>{"up to", "99.97 % of", "it"});
}

TEST_CASE("measured values stand in the unit of their bound, and only once") {
  CHECK(sentence_of(check("time to detect a fault ≤ 66.1us", Result::kPass, 4.672, "us")) ==
        "time to detect a fault ≤ 66.1us: 4.67 us");
  CHECK(sentence_of(check("queue pairs in error ≤ 0", Result::kPass, 0, "QPs")) ==
        "queue pairs in error ≤ 0: 0");
  CheckResult program = check("grep, by grep -q x", Result::kPass, 0, "exit code");
  program.bound = 0;
  CHECK(sentence_of(program) == "grep, by grep -q x: exit code 0");
  CheckResult queue = check("standing queue at the end", Result::kPass, 0.5, "us of waiting");
  queue.bound = 3;
  CHECK(sentence_of(queue) == "standing queue at the end ≤ 3 us: 0.50 us");
}

}  // namespace mrclab::analysis
