// The page's verdict is that of the shown world: of one that differs from its simulation there is none.

#include "session/session_verdict.h"

#include <doctest/doctest.h>

#include "lab/serve/recorded_branch.h"
#include "recorded/diff/recorded_run.h"
#include "session/simulated_branch.h"
#include "tests/lab/support/temporary_runs.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

Scenario first_file() { return load_scenario(MRCLAB_SOURCE_DIR "/docs/first.yaml"); }

/// A world that reports itself as live, in which something happened or not that its scenario does not have.
class ShownWorld : public SimulatedBranch {
 public:
  ShownWorld(Scenario scenario, bool changed)
      : SimulatedBranch(std::move(scenario)), changed_(changed) {}
  BranchWorld world() const override { return BranchWorld::kLive; }
  std::string history_sha256() const override {
    return changed_ ? std::string(64, '0') : SimulatedBranch::history_sha256();
  }

 private:
  bool changed_;
};

json judged(bool changed, FabricTime at, const std::string& expect = "") {
  FabricSession session(first_file(), std::make_unique<ShownWorld>(first_file(), changed));
  session.seek(at);
  return verdict_of(session, expect);
}

void check_inconclusive(const json& verdict) {
  CHECK(verdict.at("result") == "inconclusive");
  CHECK(verdict.at("story").empty());
  CHECK_FALSE(verdict.at("why").get<std::string>().empty());
  REQUIRE_FALSE(verdict.at("checks").empty());
  for (const json& check : verdict.at("checks")) {
    CHECK(check.at("result") == "inconclusive");
    CHECK(check.at("measured").is_null());
    CHECK(check.at("note") == verdict.at("why"));
  }
}

}  // namespace

TEST_CASE("a world that is what its simulation is has the verdict of the simulation, and says so") {
  const json verdict = judged(false, first_file().end);
  CHECK(verdict.at("result") == "pass");
  CHECK(verdict.at("world") == "live");
  CHECK(verdict.at("simulated") == true);
  CHECK(verdict.at("why") == "");
  CHECK_FALSE(verdict.at("story").empty());
}

TEST_CASE("a world that parted from its simulation is inconclusive, whatever is asked of it") {
  check_inconclusive(judged(true, first_file().end));
  check_inconclusive(judged(true, first_file().end, "- losses: {at_most: 100000}"));
  const json verdict = judged(true, first_file().end, "- losses: {at_most: 0}");
  check_inconclusive(verdict);  // nor is it accused
  CHECK(verdict.at("why").get<std::string>().find("something that is not in its scenario") !=
        std::string::npos);
}

TEST_CASE("a world that goes on is judged as far as it has come") {
  const json verdict =
      judged(false, FabricTime::from_us(60), "- losses: {at_most: 0}\n- no_qp_error");
  CHECK(verdict.at("until_ps").get<int64_t>() < FabricTime::from_us(100).ps());
  CHECK(verdict.at("result") == "inconclusive");
  CHECK(verdict.at("checks")[0].at("result") == "inconclusive");  // until the end of the scenario
  CHECK(verdict.at("checks")[1].at("result") == "pass");          // so far
  CHECK(
      judged(false, FabricTime::from_us(60), "- losses: {at_most: 0, until: 50us}").at("result") ==
      "pass");
}

TEST_CASE("a finished run that was inconclusive gets no PASS from its simulation") {
  const test::TemporaryRuns runs;
  const RunResult result = runs.run(first_file());
  const RecordedRun whole = read_run(result.folder.path);
  CHECK(whole.result == "pass");
  const auto verdict = [](const RecordedRun& run) {
    FabricSession session(run.scenario, std::make_unique<RecordedBranch>(run));
    return verdict_of(session, "");
  };
  CHECK(verdict(whole).at("result") == "pass");
  CHECK(verdict(whole).at("world") == "run");
  RecordedRun inconclusive = whole;
  inconclusive.result = "inconclusive";
  inconclusive.reasons = {"a process was stopped"};
  check_inconclusive(verdict(inconclusive));
  CHECK(verdict(inconclusive).at("why") ==
        "this run was INCONCLUSIVE when it was judged; a process was stopped");
  RecordedRun late = whole;
  late.faithful = false;
  check_inconclusive(verdict(late));
  RecordedRun other = whole;
  other.history_sha256[0] = other.history_sha256[0] == '0' ? '1' : '0';
  check_inconclusive(verdict(other));
}

TEST_CASE("the page of a run that ends with its work ends there, and a branch with its own") {
  const Scenario scenario = parse_scenario(
      read_yaml_text("name: ends\nfabric: pair\nseed: 5\nend: {jobs: 1ms}\nworkload:\n"
                     "  - job: {ranks: [h1, h0], steps: 2,\n"
                     "          phases: [{c: {compute: 4us}}, {x: {all_reduce: {size: 64KiB}}}]}\n"
                     "expect: [job_alive, steps_done: 2, no_qp_error]\n",
                     "ends"));
  const test::TemporaryRuns runs;
  const RecordedRun run = read_run(runs.run(scenario).folder.path);
  const FabricTime end = run.scenario.stop();
  CHECK(end < FabricTime::from_us(200));
  for (const bool recorded : {false, true}) {
    CAPTURE(recorded);
    std::unique_ptr<Branch> branch = std::make_unique<SimulatedBranch>(played_to_its_end(scenario));
    if (recorded) branch = std::make_unique<RecordedBranch>(run);
    FabricSession session(recorded ? run.scenario : scenario, std::move(branch));
    CHECK(session.end() == end);
    const json verdict = verdict_of(session, "");
    CHECK(verdict.at("result") == "pass");
    CHECK(verdict.at("until_ps") == end.ps());
    session.seek(FabricTime::from_us(6));
    session.break_it({"wire_loss", {{"link", "h1:p*"}, {"loss", "100%"}, {"for", "40us"}}, {}},
                     true);
    CHECK(session.end() >= end + FabricTime::from_us(20));
    CHECK(session.other()->end() == end);
    CHECK(verdict_of(session, "").at("result") == "pass");
    CHECK(session.yaml().find("found") == std::string::npos);
  }
}

}  // namespace mrclab::lab
