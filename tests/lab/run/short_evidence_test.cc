// Runs whose evidence ends before they do: a capture that reaches its bound, a daemon that is
// killed. What happened later was not seen, and so did neither happen nor not happen.

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "analysis/judge/analyze.h"
#include "lab/run/scenario_run.h"
#include "lab/run/simulated_run.h"
#include "scenario/judging/run_inputs.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/texts.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;
using analysis::CheckResult;
using analysis::Result;
using analysis::Verdict;
using test::mentions;

/// From `at` on these uplinks swallow all packets. Checks: all losses, those of the first 20us, and
/// what the hosts report.
Scenario black_hole(const std::string& at, const std::string& uplinks) {
  return parse_scenario(read_yaml_text(
      "name: hole\nfabric: pair\nseed: 5\ndilation: 20000\nworkload:\n"
      "  - permutation: {hosts: all, load: 30%, message: 16KiB, shift: 1}\nfaults:\n  - {at: " +
          at + ", wire_loss: {link: \"" + uplinks +
          "\", direction: up, loss: 100%}}\n"
          "end: 90us\nexpect:\n  - losses: {at_most: 0}\n"
          "  - losses: {at_most: 0, until: 20us}\n  - memory_intact\n",
      "hole.yaml"));
}

constexpr const char* kOfARack = "p*.t0-0:u*";
constexpr const char* kOfAPlane = "p0.t0-0:u*";  // the other plane goes on

enum Check : size_t { kLosses, kEarlyLosses, kMemory };

/// Half of what the first process's capture takes, if it may take anything.
uint64_t half_a_capture(const RunFolder& folder) {
  return fs::file_size(analysis::captures_in(folder.captures()).front()) / 2;
}

/// A run whose captures have that bound, and the verdict on its files alone.
struct BoundedRun {
  RunResult result;
  Verdict of_files;

  BoundedRun(const test::TemporaryRuns& runs, const Scenario& scenario, World world,
             uint64_t capture_bytes) {
    RunOptions options = runs.options(world);
    options.lab_name = "t_hole_" + std::to_string(::getpid());
    options.capture_bytes = capture_bytes;
    result = run_scenario(scenario, options);
    of_files = world == World::kLive ? result.verdict : judge_folder(scenario);
  }

 private:
  /// The hosts' reports of a simulated run are in no file: they are those of another such run.
  Verdict judge_folder(const Scenario& scenario) const {
    const test::TemporaryRuns again;
    analysis::RunInputs inputs = run_inputs(
        scenario, "sim", run_simulated(scenario, make_run_folder(again.path(), "x"), {}));
    inputs.captures = analysis::captures_in(result.folder.captures());
    inputs.records = analysis::records_in(result.folder.history());
    inputs.events = result.folder.path / "events.jsonl";
    return analysis::analyze(inputs).verdict;
  }
};

/// Runs in `world` with whole captures and with half of them. `seen`: packets are lost before those
/// end.
void check_half_captures(World world, bool seen) {
  const test::TemporaryRuns runs;
  const Scenario scenario = seen ? black_hole("22us", kOfAPlane) : black_hole("70us", kOfARack);
  const BoundedRun whole(runs, scenario, world, RunOptions().capture_bytes);
  CAPTURE(analysis::to_table(whole.of_files));
  REQUIRE(whole.result.verdict.timing.faithful);
  REQUIRE(whole.of_files.result == Result::kFail);
  REQUIRE(whole.of_files.checks[kLosses].result == Result::kFail);
  REQUIRE(whole.of_files.checks[kEarlyLosses].result == Result::kPass);

  const BoundedRun half(runs, scenario, world, half_a_capture(whole.result.folder));
  CAPTURE(analysis::to_table(half.of_files));
  const std::vector<CheckResult>& checks = half.of_files.checks;
  CHECK(half.result.verdict.timing.faithful);
  CHECK(half.of_files.result == (seen ? Result::kFail : Result::kInconclusive));
  CHECK(checks[kLosses].result == (seen ? Result::kFail : Result::kInconclusive));
  CHECK(checks[kEarlyLosses].result == Result::kPass);
  CHECK(checks[kMemory].result != Result::kFail);
  CHECK(mentions(half.of_files.notes, ".pcapng ends early, and no other has the packets of "));
  CHECK(mentions(half.of_files.notes, "(complete until "));
  if (!seen) CHECK(checks[kLosses].note.find(" is complete until ") != std::string::npos);
  // In the simulator the judge looks on itself, whatever finds room in a file.
  if (world == World::kSim) CHECK(half.result.verdict.result == Result::kFail);
}

TEST_CASE("a rack that is cut off after the captures are full has not lost nothing") {
  check_half_captures(World::kSim, false);
}

TEST_CASE("what full captures have seen stays seen") { check_half_captures(World::kSim, true); }

/// Kills one process when the lab has been going for a while.
RunResult run_and_kill(const test::TemporaryRuns& runs, const Scenario& scenario,
                       const std::string& victim) {
  constexpr int kCallsBefore = 100;  // of at least 2 ms each, while 90us take 1.8 s
  RunOptions options = runs.options(World::kLive);
  options.lab_name = "t_victim_" + std::to_string(::getpid());
  pid_t pid = 0;
  options.on_process = [&](const std::string& name, int started) {
    if (name == victim) pid = started;
  };
  int calls = 0;
  options.interrupted = [&] {  // is asked while the lab comes up, too
    if (pid != 0 && ++calls == kCallsBefore) REQUIRE(::kill(pid, SIGKILL) == 0);
    return false;
  };
  RunResult result = run_scenario(scenario, options);
  REQUIRE(calls > kCallsBefore);
  return result;
}

TEST_SUITE_BEGIN("root: short evidence");

TEST_CASE("live, a rack that is cut off after the captures are full has not lost nothing") {
  check_half_captures(World::kLive, false);
}

TEST_CASE("live, what full captures have seen stays seen") {
  check_half_captures(World::kLive, true);
}

TEST_CASE("a daemon that is killed leaves no verdict, is named, and nobody else is accused") {
  struct Killed {
    const char* victim;
    bool hosts;  ///< whose reports are gone with it
  };
  for (const Killed& row : {Killed{"plane-1", false}, Killed{"hosts-1", true}}) {
    CAPTURE(row.victim);
    const test::TemporaryRuns runs;
    Scenario scenario = black_hole("5us", kOfARack);
    scenario.faults.clear();
    scenario.schedule.clear();
    const RunResult run = run_and_kill(runs, scenario, row.victim);
    CAPTURE(analysis::to_table(run.verdict));
    const std::string name = row.victim;
    CHECK(run.verdict.result == Result::kInconclusive);
    CHECK(mentions(run.verdict.timing.disturbances, name + " ended with signal 9 (Killed) at "));
    CHECK(mentions(run.verdict.timing.disturbances, "the report of " + name + ": it left none"));
    // Its files were never closed, so they cover nothing; how far it came stands above.
    for (const char* end : {".pcapng", ".bin"}) {
      CHECK(mentions(run.verdict.notes, name + end + " is not as its writer closed it"));
    }
    CHECK(mentions(run.verdict.notes, "no file has the events of "));
    for (const CheckResult& check : run.verdict.checks) {
      CAPTURE(check.about);
      CAPTURE(check.note);
      const bool of_reports = check.name == "memory_intact" && !row.hosts;
      CHECK(check.result != Result::kFail);
      if (!of_reports) CHECK(check.result == Result::kInconclusive);
      if (check.name == "losses") CHECK(check.note.find(name + ".pcapng") != std::string::npos);
    }
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace mrclab::lab
