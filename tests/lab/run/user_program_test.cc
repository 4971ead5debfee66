// Programs of the user's: as a check of a run, as a workload in a lab.

#include "lab/run/user_program.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>

#include "lab/run/scenario_run.h"
#include "tests/lab/support/process_end.h"
#include "tests/lab/support/temporary_runs.h"

using namespace mrclab;
using namespace mrclab::lab;
using analysis::Result;
using std::chrono::milliseconds;

namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// Runs it to its end.
std::unique_ptr<UserProgram> run(const UserProgram::Options& options) {
  auto program = std::make_unique<UserProgram>(options);
  while (program->step()) std::this_thread::sleep_for(milliseconds(1));
  return program;
}

/// What one command prints is `log`; it has ten seconds.
UserProgram::Options command(const std::string& text, const std::filesystem::path& folder) {
  UserProgram::Options options;
  options.command = text;
  options.log_file = folder / "log";
  options.timeout = milliseconds(10'000);
  return options;
}

std::string scenario_text(const std::string& expect) {
  return R"(
name: small
fabric: pair
workload:
  - write: {from: h0, to: h1, size: 16KiB, count: 2}
end: 40us
expect:
  - no_qp_error
)" + expect;
}

Scenario scenario(const std::string& expect, const std::filesystem::path& folder = {}) {
  return parse_scenario(read_yaml_text(scenario_text(expect), "s.yaml"), folder);
}

std::string wall(const std::string& workload) {
  return R"(
name: programs
fabric: pair
timing: wall
dilation: 2000
end: 800us
workload:
)" + workload;
}

std::string refusal_of(const std::string& text) {
  try {
    parse_scenario(read_yaml_text(text, "s.yaml"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// A server that answers one connection, and a client that asks until it is there.
constexpr const char* kServer =
    "import os,socket\n"
    "s=socket.socket(socket.AF_INET6)\n"
    "s.bind((os.environ['MRCLAB_ADDRESS'],7000));s.listen()\n"
    "c,a=s.accept();print('from',a[0]);c.sendall(b'hello '+os.environ['MRCLAB_HOST'].encode())\n";
constexpr const char* kClient =
    "import os,socket,time\n"
    "while True:\n"
    "  s=socket.socket(socket.AF_INET6)\n"
    "  try:\n"
    "    s.connect((os.environ['MRCLAB_ADDRESS_h1'],7000));break\n"
    "  except ConnectionRefusedError: time.sleep(0.01)\n"
    "print(s.recv(99).decode())\n";

}  // namespace

TEST_CASE("a program's output is bounded, its last line kept, and its group ends with it") {
  const test::TemporaryRuns runs;
  const auto talker = run(command(
      "yes | head -c 6000000; echo; echo ' the \033 end'; echo ' ---- '; exit 7", runs.path()));
  CHECK(talker->status()->code == 7);
  CHECK(talker->last_line() == " the   end");
  CHECK(std::filesystem::file_size(runs.path() / "log") == kMaxProgramOutput);
  CHECK(talker->output_dropped() > 1'000'000);

  const auto parent = run(command("sleep 1000 & echo $!", runs.path()));
  CHECK(parent->status()->clean());
  const pid_t left_behind = std::stoi(text_of(runs.path() / "log"));
  CHECK(test::process_ends(left_behind));
}

TEST_CASE("a program is ended when its time is up, also one that ignores SIGTERM") {
  const test::TemporaryRuns runs;
  UserProgram::Options options = command("while :; do sleep 0.01; done", runs.path());
  // Ignored from the first instruction on: a shell on a busy machine has not come to a trap of its
  // own when 50 ms are over.
  options.before_exec = [] { std::signal(SIGTERM, SIG_IGN); };
  options.timeout = milliseconds(50);
  const auto program = run(options);
  CHECK(program->timed_out());
  CHECK(program->status()->signal_number == SIGKILL);
}

TEST_CASE("a check by a program passes, fails or does not know, with its last line as the note") {
  const test::TemporaryRuns runs;
  const RunResult result = runs.run(
      scenario("  - program: {command: 'test -s $1/verdict.json && pwd', name: verdict is there}\n"
               "  - program: {command: 'echo no; echo; false', name: fails}\n"
               "  - program: {command: 'echo perhaps; exit 3'}\n"
               "  - program: {command: 'kill -9 $$', name: dies}\n"
               "  - program: {command: 'sleep 100; :', name: hangs, timeout: 20ms}\n",
               runs.path()));
  const auto& checks = result.verdict.checks;
  REQUIRE(checks.size() == 6);
  CHECK(checks[1].name == "verdict is there");
  CHECK(checks[1].result == Result::kPass);
  CHECK(checks[1].note == runs.path().string());
  CHECK(checks[2].result == Result::kFail);
  CHECK(checks[2].note == "no");
  CHECK(checks[3].result == Result::kInconclusive);
  CHECK(checks[3].note == "perhaps");
  CHECK(checks[4].result == Result::kInconclusive);
  CHECK(checks[5].note == "did not end within 20 ms");
  CHECK(result.verdict.result == Result::kFail);
  for (const char* file : {"verdict.json", "junit.xml", "report.html", "scenario.yaml"}) {
    CAPTURE(file);
    CHECK(text_of(result.folder.path / file).find("verdict is there") != std::string::npos);
  }
  // Wherever its resolved scenario lies, a check runs where it did.
  const Scenario again = read_scenario_file(result.folder.path / "scenario.yaml");
  REQUIRE(again.check_programs.size() == 5);
  CHECK(again.check_programs[0].cwd == runs.path());
}

TEST_CASE("what programs a file asks for is checked before anything starts") {
  CHECK(refusal_of(wall("  - exec: {host: h0, command: 'true'}\n")).empty());
  CHECK(refusal_of(wall("  - exec: {host: h0, command: 'true', at: 800us}\n"))
            .find("before the end") != std::string::npos);
  CHECK(refusal_of(wall("  - exec: {host: p0.t0-0, command: 'true'}\n")) != "");
  CHECK(refusal_of(wall("  - exec: {host: h0, command: ' '}\n")).find("a command line") !=
        std::string::npos);
  CHECK(
      refusal_of(wall("  - exec: {host: h0, command: 'true', cwd: nowhere}\n")).find("a folder") !=
      std::string::npos);
  CHECK(refusal_of(wall("  - exec: {host: h0, command: 'true', timeout: 0s}\n")) != "");
  std::string carried = wall("  - exec: {host: h0, command: 'true'}\n");
  carried.replace(carried.find("wall"), 4, "carried");
  CHECK(refusal_of(carried).find("s.yaml:8:5: found exec, beside timing that packets carry") == 0);
  CHECK(refusal_of(scenario_text("  - program: {name: x}\n")).find("command") != std::string::npos);

  const Scenario all = parse_scenario(read_yaml_text(
      wall("  - exec: {host: all, command: \"a \\\"b\\\"\", at: 2us, may_fail: true}\n"),
      "s.yaml"));
  REQUIRE(all.programs.size() == 2);
  CHECK(parse_scenario(read_yaml_text(to_yaml(all), "again.yaml")).programs == all.programs);
  const test::TemporaryRuns runs;
  CHECK_THROWS_AS(runs.run(all), InputError);  // not in the simulator
}

TEST_SUITE("root: programs") {
  TEST_CASE("two programs talk over the fabric, and how they ended is in the verdict") {
    const test::TemporaryRuns runs;
    std::ofstream(runs.path() / "server.py") << kServer;
    std::ofstream(runs.path() / "client.py") << kClient;
    // Ten seconds: on a busy machine an interpreter takes its time to start.
    std::string text = wall(
        "  - exec: {host: h1, command: python3 server.py}\n"
        "  - exec: {host: h0, command: python3 client.py, at: 1us}\n"
        "  - exec: {host: h0, command: sleep 1000}\n"
        "  - exec: {host: h0, command: exit 3, may_fail: true}\n"
        "  - exec: {host: h0, command: sleep 1000, until: end}\n"
        "  - exec: {host: h0, command: 'test $MRCLAB_SEED = 1 && test -d $MRCLAB_RUN/logs'}\n"
        "  - exec: {host: h0, command: sleep 1000, timeout: 10ms}\n");
    text.replace(text.find("800us"), 5, "5ms");
    const RunResult result =
        runs.run(parse_scenario(read_yaml_text(text, "s.yaml"), runs.path()), World::kLive);
    const auto& checks = result.verdict.checks;
    REQUIRE(checks.size() == 7);
    CAPTURE(checks[0].note);
    CHECK(checks[0].result == Result::kPass);
    CHECK(checks[0].note.find("from fd00:") == 0);
    CHECK(checks[1].result == Result::kPass);
    CHECK(checks[1].note == "hello h1");
    CHECK(text_of(result.folder.path / "logs" / "exec-1-h0.log") == "hello h1\n");
    CHECK(checks[2].result == Result::kFail);
    CHECK(checks[2].note == "did not end before the run did");
    CHECK(checks[3].result == Result::kPass);
    CHECK(checks[3].note == "ended with exit code 3");
    CHECK(checks[4].result == Result::kPass);
    CHECK(checks[5].result == Result::kPass);
    CHECK(checks[6].note == "did not end within 10 ms");
    CHECK(result.verdict.result == Result::kFail);
  }
}
