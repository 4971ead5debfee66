// Incidents and production time: each says whether what it shows holds there, and a run, or the same incident in its
// own time (topologies/production), shows that it is right.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "scenario/spec/scenario.h"
#include "scenario/spec/shipped_files.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/nightly.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

/// Is it one of the words of the text?
bool names(const std::string& text, const std::string& word) {
  const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !part(text[at - 1])) && (end == text.size() || !part(text[end]))) return true;
  }
  return false;
}

/// The most that an expectation with `within` allows, by its name; zero for others.
std::map<std::string, FabricTime> bounds_of(const Scenario& scenario) {
  std::map<std::string, FabricTime> bounds;
  for (const analysis::Expectation& expectation : scenario.expect) {
    std::visit(
        [&](const auto& e) {
          FabricTime within;
          if constexpr (requires { e.within; }) within = e.within;
          const auto [found, is_new] = bounds.try_emplace(std::string(e.kWord.name), within);
          if (!is_new) found->second = std::max(found->second, within);
        },
        expectation);
  }
  return bounds;
}

}  // namespace

TEST_CASE("every shipped incident says whether it holds at production") {
  for (const std::string& name : shipped_names("incidents")) {
    CAPTURE(name);
    CHECK_FALSE(load_scenario(name).holds_at_production.empty());
  }
}

TEST_CASE("an incident in its own time is that incident, with timers of products") {
  CHECK(shipped_names("production").size() >= 6);
  for (const std::string& name : shipped_names("production")) {
    CAPTURE(name);
    const Scenario slow = load_scenario(name);
    REQUIRE(name.ends_with("-production"));
    const Scenario base = load_scenario(name.substr(0, name.rfind('-')));
    CHECK(slow.name == name);
    CHECK(slow.holds_at_production == "yes");
    CHECK(slow.transport.profile == "production");
    CHECK(slow.end >= FabricTime::from_ms(1000));
    CHECK(slow.topology.nic.name == base.topology.nic.name);
    REQUIRE(slow.faults.size() <= base.faults.size());
    for (size_t i = 0; i < slow.faults.size(); ++i)
      CHECK(slow.faults[i].kind == base.faults[i].kind);
    // What holds only later, or is not looked at there, the incident's own word admits.
    const auto there = bounds_of(slow);
    for (const auto& [expectation, within] : bounds_of(base)) {
      CAPTURE(expectation);
      if (expectation == "memory_intact") continue;  // payload is elided
      const auto found = there.find(expectation);
      const bool holds = found != there.end() && found->second <= within;
      if (!holds) CHECK(names(base.holds_at_production, expectation));
    }
  }
}

TEST_CASE("an incident under timers of products fails where it says so, and nowhere else" *
          doctest::test_suite(test::kWholeRun)) {
  for (const std::string& name : test::nightly()
                                     ? shipped_names("incidents")
                                     : std::vector<std::string>{"link-flap", "lossy-ev"}) {
    CAPTURE(name);
    Scenario scenario = load_scenario(name);
    if (scenario.transport.profile != "lab") continue;
    scenario.transport.profile = "production";
    const test::TemporaryRuns runs;
    size_t failed = 0;
    for (const analysis::CheckResult& check : runs.run(scenario).verdict.checks) {
      if (check.result == analysis::Result::kPass) continue;
      ++failed;
      CAPTURE(check.name);
      CHECK(names(scenario.holds_at_production, check.name));
    }
    if (scenario.holds_at_production == "yes") CHECK(failed == 0);
  }
}
