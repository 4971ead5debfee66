// SIGKILL at every kernel-visible step: whatever dies, `down --all` leaves nothing of ours and
// touches nothing else. By default every k-th step with an offset that changes from day to day, so
// that all are covered over time; MRCLAB_NIGHTLY=1 takes every one.

#include <doctest/doctest.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "live/bringup/lab_record.h"
#include "netio/kernel/namespace.h"
#include "tests/lab/support/kill_at_step.h"
#include "tests/lab/support/sandbox.h"
#include "tests/support/nightly.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

/// How many kills the ordinary test does per command.
constexpr uint64_t kSample = 12;

std::vector<uint64_t> chosen_steps(uint64_t count) {
  const bool all = test::nightly();
  const uint64_t stride = all ? 1 : std::max<uint64_t>(1, count / kSample);
  const uint64_t day = static_cast<uint64_t>(::time(nullptr)) / 86'400;
  std::vector<uint64_t> steps;
  for (uint64_t step = 1 + day % stride; step <= count; step += stride) steps.push_back(step);
  return steps;
}

/// Things that are not the lab's, and the state of the machine with them.
class Foreign {
 public:
  Foreign() : ns_(netio::NetworkNamespace::create("foreign-" + std::to_string(::getpid()), {})) {
    std::ofstream("/run/foreign") << "not ours";
    before = kernel_snapshot();
  }
  ~Foreign() { fs::remove("/run/foreign"); }
  std::vector<std::string> before;

 private:
  netio::NetworkNamespace ns_;
};

/// For what the commands print, and for run folders, which are the user's and stay.
struct TemporaryFolder {
  TemporaryFolder() {
    std::string name = fs::temp_directory_path() / "mrclab-kill-runs-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~TemporaryFolder() { fs::remove_all(path); }
  fs::path path;
};

/// Kills `command` at its steps, `prepare` having been run before each, and looks what is left.
void kill_everywhere(
    const std::vector<std::string>& command, const std::function<void()>& prepare = [] {}) {
  const Foreign foreign;
  const TemporaryFolder folder;
  const std::string output_file = folder.path / "printed";
  const auto printed = [&] {
    std::ifstream in(output_file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::vector<std::string> down_all{program("mrclab-cli"), "down", "--all"};
  const auto run = [&](uint64_t kill_at) {
    prepare();
    fs::remove(output_file);
    return run_traced(command, kill_at, down_all, output_file);
  };
  const TracedRun whole = run(0);
  {
    CAPTURE(printed());
    REQUIRE(whole.code == 0);
    REQUIRE(whole.steps > 20);
    REQUIRE(whole.all_ended);
    CHECK(difference(foreign.before, kernel_snapshot()) == "");
  }
  MESSAGE("steps: " << whole.steps << ", killed at " << chosen_steps(whole.steps).size());
  for (const uint64_t step : chosen_steps(whole.steps)) {
    const TracedRun killed = run(step);
    CAPTURE(step);
    CAPTURE(killed.killed_at);
    CAPTURE(printed());
    CHECK(killed.after_code == 0);
    CHECK(killed.all_ended);
    REQUIRE(difference(foreign.before, kernel_snapshot()) == "");
  }
}

/// A lab whose daemon has died: everything is left to `down`.
void leave_crashed_lab() {
  REQUIRE(run_command_line({program("mrclab-cli"), "up", "pair"}).code == 0);
  const std::optional<LabRecord> record = read_record({}, "pair");
  REQUIRE(record);
  ::kill(record->owner.pid, SIGKILL);
}

constexpr const char* kShort = R"(
name: short
fabric: pair
workload:
  - all_reduce: {hosts: all, size: 64KiB, until: end}
faults:
  - {at: 10us, link_down: {link: "p0.t0-0:u0", for: 20us}}
end: 60us
expect:
  - no_qp_error
)";

TEST_SUITE_BEGIN("root: killed at a step");

TEST_CASE("up, killed at its steps, leaves nothing that down --all does not take") {
  enter_sandbox();
  kill_everywhere({program("mrclab-cli"), "up", "pair"});
}

TEST_CASE("down of a crashed lab, killed at its steps, can be repeated") {
  enter_sandbox();
  kill_everywhere({program("mrclab-cli"), "down", "pair"}, leave_crashed_lab);
}

TEST_CASE("a run, killed at its steps, leaves nothing that down --all does not take") {
  enter_sandbox();
  const TemporaryFolder folder;
  std::ofstream(folder.path / "short.yaml") << kShort;
  kill_everywhere(
      {program("mrclab-cli"), "run", folder.path / "short.yaml", "--out", folder.path / "runs"});
}

TEST_SUITE_END();

}  // namespace
}  // namespace mrclab::lab
