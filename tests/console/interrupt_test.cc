// Real signals to real processes: what they end, how fast, and what is kept.

#include "console/interrupt.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "scenario/spec/scenario.h"
#include "tests/lab/support/waiting_command.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

/// The status of a process that does this.
int status_of(const std::function<void()>& act) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    act();
    ::_exit(7);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

fs::path scenario_until(const fs::path& folder, const std::string& end) {
  const fs::path file = folder / ("until-" + end + ".yaml");
  std::ofstream(file) << "name: writes\nfabric: pair\nseed: 1\nworkload:\n"
                         "  - write: {from: h0, to: h1, size: 64KiB, until: end}\nend: "
                      << end << "\nexpect: [no_qp_error]\n";
  return file;
}
/// It would take the simulator days.
fs::path endless_scenario(const fs::path& folder) { return scenario_until(folder, "1000s"); }

std::vector<fs::path> run_folders(const fs::path& root) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(root)) {
    if (entry.is_directory() && !entry.is_symlink()) folders.push_back(entry.path());
  }
  return folders;
}

}  // namespace

TEST_CASE("the first signal is noted, one that comes later kills") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const int status = status_of([number] {
      InterruptGuard guard;
      ::raise(number);
      if (!guard.interrupted()) return;
      for (;;) ::raise(number);
    });
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == number);
  }
}

TEST_CASE("work that cannot be asked to stop ends with a word on what is left") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const int status = status_of([&] {
    ::dup2(ends[1], STDERR_FILENO);
    const InterruptGuard guard;
    { const EndsAtOnce earlier("earlier"); }
    const EndsAtOnce at_once("runs/x has no verdict");
    ::raise(SIGINT);
  });
  ::close(ends[1]);
  std::string said(200, '\0');
  said.resize(static_cast<size_t>(::read(ends[0], said.data(), said.size())));
  ::close(ends[0]);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3);
  CHECK(said == "runs/x has no verdict\n");
}

TEST_CASE("what is still done after an interrupt ends when its time is over, or when asked again") {
  for (const bool asked_again : {false, true}) {
    CAPTURE(asked_again);
    const int status = status_of([&] {
      std::freopen("/dev/null", "w", stderr);
      InterruptGuard guard;
      ::raise(SIGINT);
      guard.take();
      if (guard.interrupted()) return;
      using std::chrono::milliseconds;
      const EndsAtOnce at_once("no verdict",
                               asked_again ? milliseconds(1'000'000) : milliseconds(0));
      if (asked_again) ::raise(SIGINT);
      for (;;) ::pause();
    });
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 3);
  }
}

TEST_CASE("an interrupted run is judged that far, as if that had been asked for") {
  const test::TemporaryRuns folder;
  const fs::path file = folder.path() / "long.yaml";
  std::ofstream(file) << "name: long\nfabric: pair\nseed: 1\nworkload:\n"
                         "  - write: {from: h0, to: h1, size: 64KiB, until: end}\n"
                         "faults:\n  - {at: 2us, link_down: {link: \"h0:p0\", for: 3us}}\n"
                         "  - {at: 9s, link_down: {link: \"h0:p1\", for: 1us}}\nend: 10s\n"
                         "expect: [no_qp_error, memory_intact, healed]\n";
  const Scenario scenario = load_scenario(file.string());
  RunOptions options = folder.options(World::kSim);
  int asked = 0;
  options.interrupted = [&asked] { return ++asked == 3; };
  const RunResult run = run_scenario(scenario, options);
  CAPTURE(run.interrupted);
  REQUIRE(run.interrupted.starts_with("interrupted at "));
  CHECK(run.interrupted.ends_with("; judged that far"));
  CHECK_FALSE(fs::exists(run.folder.path / "UNJUDGED"));
  CHECK(run.verdict.result == analysis::Result::kInconclusive);
  CHECK(run.verdict.timing.faithful);

  const std::string at = run.interrupted.substr(15, run.interrupted.find(' ', 15) - 15);
  ScenarioOverrides overrides;
  overrides.until = at;
  const RunResult until =
      run_scenario(load_scenario(file.string(), overrides), folder.options(World::kSim));
  CHECK(until.interrupted == "");
  CHECK(until.verdict.metrics.history_sha256 == run.verdict.metrics.history_sha256);
  CHECK(until.verdict.metrics.delivered_bytes == run.verdict.metrics.delivered_bytes);
  REQUIRE(until.verdict.checks.size() == run.verdict.checks.size());
  for (size_t i = 0; i < until.verdict.checks.size(); ++i) {
    CAPTURE(until.verdict.checks[i].name);
    CHECK(until.verdict.checks[i].result == run.verdict.checks[i].result);
    CHECK(until.verdict.checks[i].note == run.verdict.checks[i].note);
  }
  const auto events = [](const RunResult& of) {
    return netio::read_file(of.folder.path / "events.jsonl", size_t{1} << 26);
  };
  const auto without_seal = [](std::string text) {
    const size_t end = text.rfind('\n', text.size() - 2);
    return end == std::string::npos ? "" : text.substr(0, end);
  };
  CHECK(without_seal(events(run)).find("port_down") != std::string::npos);
  CHECK(without_seal(events(run)) == without_seal(events(until)));
}

TEST_CASE("a simulated run that would take hours ends when asked, and keeps what it has") {
  const test::TemporaryRuns folder;
  const fs::path runs = folder.path() / "runs";
  test::WaitingCommand run({"run", endless_scenario(folder.path()), "--world", "sim", "--captures",
                            "none", "--history", "digest", "--out", runs});
  REQUIRE(run.says("simulating: 0 %"));
  run.signal(SIGTERM);
  CHECK(run.ends() == 3);
  CAPTURE(run.err());
  CHECK(run.err().find("interrupted at ") != std::string::npos);
  CHECK(run.err().find("of 1000s; ") != std::string::npos);
  const std::vector<fs::path> folders = run_folders(runs);
  REQUIRE(folders.size() == 1);
  CHECK(fs::exists(folders[0] / "events.jsonl"));
  // Judging what there is has its time, which is short on a busy machine.
  const bool judged = !fs::exists(folders[0] / "UNJUDGED");
  CHECK(fs::exists(fs::symlink_status(runs / "latest")) == judged);
  CHECK(run.out().empty() == !judged);
  if (judged) {
    CHECK(fs::exists(folders[0] / "verdict.json"));
  } else {
    CHECK(netio::read_file(folders[0] / "UNJUDGED").find("It was interrupted at ") !=
          std::string::npos);
  }
}

TEST_CASE("a run with its verdict is the latest, one that is interrupted without one is not") {
  const test::TemporaryRuns folder;
  const fs::path runs = folder.path() / "runs";
  const CommandResult done =
      mrclab({"run", scenario_until(folder.path(), "60us"), "--world", "sim", "--out", runs});
  CAPTURE(done.output);
  REQUIRE(fs::is_symlink(runs / "latest"));
  const fs::path latest = fs::read_symlink(runs / "latest");
  CHECK_FALSE(fs::exists(runs / latest / "UNJUDGED"));
  test::WaitingCommand run({"run", endless_scenario(folder.path()), "--world", "sim", "--captures",
                            "none", "--history", "digest", "--out", runs});
  REQUIRE(run.says("simulating: 0 %"));
  run.signal(SIGINT);
  CHECK(run.ends() == 3);
  CHECK_FALSE(fs::exists(runs / "latest" / "UNJUDGED"));
  for (const fs::path& made : run_folders(runs)) {
    if (fs::exists(made / "UNJUDGED")) CHECK(fs::read_symlink(runs / "latest") == latest);
  }
}

TEST_CASE("a measurement that would take long ends at once when asked, with nothing to undo") {
  test::WaitingCommand perf({"perf", "permutation", "campus"});
  REQUIRE(perf.says("simulating: "));
  perf.signal(SIGINT);
  CHECK(perf.ends() == 3);
  CHECK(perf.err().ends_with("mrclab: interrupted\n"));
  CHECK(perf.out().empty());
}

TEST_CASE("chaos that is interrupted prints the seeds that are done") {
  test::WaitingCommand chaos({"chaos", "pair", "--seeds", "1-1000000", "--jobs", "1", "--json",
                              "--keep", "0", "--out", "/nonexistent"});
  REQUIRE(chaos.says(" of 1000000 seeds, "));
  chaos.signal(SIGINT);
  const int code = chaos.ends();
  CAPTURE(chaos.err());
  CHECK((code == 3 || code == 1));
  CHECK(chaos.err().find("mrclab: interrupted; ") != std::string::npos);
  const auto report = nlohmann::json::parse(chaos.out());
  const size_t done = report.at("results").size();
  CHECK(done > 0);
  CHECK(done < 1'000'000);
  CHECK(chaos.err().find(std::to_string(done) + " of 1000000 seeds done") != std::string::npos);
}

}  // namespace mrclab::lab
