// Whole runs on real packets: the live world gives the history that the simulated world gives, or
// says that it does not and why.

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include "lab/scenario_run.h"
#include "netio/file_descriptor.h"
#include "netio/link.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

constexpr const char* kSmall = R"(
name: small
fabric: pair
seed: 5
workload:
  - all_reduce: {hosts: all, size: 256KiB, until: end}
faults:
  - {at: 80us, link_down: {link: "p0.t0-0:u0", for: 40us}}
end: 400us
expect:
  - no_qp_error
  - memory_intact
  - healed
)";

Scenario small_scenario() { return parse_scenario(read_yaml_text(kSmall, "small.yaml")); }

/// A folder for runs that goes away with the test.
struct TemporaryFolder {
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "mrclab-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

RunOptions options_in(const TemporaryFolder& folder, World world) {
  RunOptions options;
  options.world = world;
  options.runs_root = folder.path;
  options.programs = MRCLAB_BINARY_DIR;
  return options;
}

std::string lab_name(const char* test) {
  return std::string("t_") + test + "_" + std::to_string(::getpid());
}

bool mentions(const std::vector<std::string>& reasons, const std::string& text) {
  for (const std::string& reason : reasons) {
    if (reason.find(text) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("the same seed gives the same simulated history, another seed another") {
  const TemporaryFolder folder;
  Scenario scenario = small_scenario();
  const RunOptions options = options_in(folder, World::kSim);
  const analysis::Verdict first = run_scenario(scenario, options).verdict;
  CHECK(first.result == analysis::Result::kPass);
  CHECK(first.metrics.delivered > 0);
  CHECK(run_scenario(scenario, options).verdict.metrics.history_sha256 ==
        first.metrics.history_sha256);
  scenario.seed = 6;
  CHECK(run_scenario(scenario, options).verdict.metrics.history_sha256 !=
        first.metrics.history_sha256);
}

TEST_CASE("a run that is ended early judges only what it saw, and a whole one is not touched") {
  const TemporaryFolder folder;
  Scenario scenario = small_scenario();
  const RunOptions options = options_in(folder, World::kSim);
  const std::string whole = run_scenario(scenario, options).verdict.metrics.history_sha256;
  scenario.until = FabricTime::from_us(60);  // before the fault at 80 us
  const analysis::Verdict early = run_scenario(scenario, options).verdict;
  CHECK(early.metrics.history_sha256 != whole);
  CHECK(early.faults.empty());
  CHECK(early.result == analysis::Result::kInconclusive);
  CHECK(early.checks.at(0).result == analysis::Result::kPass);          // no_qp_error
  CHECK(early.checks.at(2).result == analysis::Result::kInconclusive);  // healed
  scenario.until = scenario.end;
  CHECK(run_scenario(scenario, options).verdict.metrics.history_sha256 == whole);
}

TEST_SUITE("root: live runs") {
  TEST_CASE("a live run that is ended early has the history of the simulator up to there") {
    const TemporaryFolder folder;
    Scenario scenario = small_scenario();
    scenario.until = FabricTime::from_us(100);
    const RunResult live = run_scenario(scenario, options_in(folder, World::kLive));
    CHECK(live.verdict.timing.faithful);
    CHECK(live.verdict.metrics.history_sha256 ==
          run_scenario(scenario, options_in(folder, World::kSim)).verdict.metrics.history_sha256);
  }

  TEST_CASE("a live run is FAITHFUL and has the history of the simulator") {
    const TemporaryFolder folder;
    const Scenario scenario = small_scenario();
    const RunResult live = run_scenario(scenario, options_in(folder, World::kLive));
    CAPTURE(analysis::to_table(live.verdict));
    CHECK(live.verdict.timing.faithful);
    CHECK(live.verdict.result == analysis::Result::kPass);
    CHECK(live.verdict.metrics.history_sha256 ==
          run_scenario(scenario, options_in(folder, World::kSim)).verdict.metrics.history_sha256);
    CHECK(std::filesystem::exists(live.folder.path / "verdict.json"));
    CHECK(std::filesystem::exists(live.folder.path / "events.jsonl"));
  }

  TEST_CASE("frames lost on a wire are void frames: no gap, and the simulator's history") {
    const TemporaryFolder folder;
    Scenario scenario = parse_scenario(read_yaml_text(R"(
name: lossy
fabric: pair
seed: 9
workload:
  - all_reduce: {hosts: all, size: 256KiB, until: end}
faults:
  - {at: 30us, wire_loss: {wire: "p1.t0-0:u0->p1.t1-0:d0", loss: 20%, for: 100us}}
  - {at: 60us, wire_loss: {wire: "h1:p0->p0.t0-1:d0", carrier: lost, for: 30us}}
end: 400us
expect:
  - no_qp_error
  - memory_intact
)",
                                                      "lossy.yaml"));
    const RunResult live = run_scenario(scenario, options_in(folder, World::kLive));
    CAPTURE(analysis::to_table(live.verdict));
    CHECK(live.verdict.timing.faithful);
    CHECK(live.verdict.metrics.lost > 0);
    CHECK(live.verdict.metrics.history_sha256 ==
          run_scenario(scenario, options_in(folder, World::kSim)).verdict.metrics.history_sha256);
  }

  TEST_CASE("MRC crosses the kernel's own SRv6 switches, on wall-clock timing") {
    const TemporaryFolder folder;
    const Scenario scenario =
        load_scenario(MRCLAB_SOURCE_DIR "/tests/scenarios/kernel-forwarding.yaml");
    const RunResult run = run_scenario(scenario, options_in(folder, World::kLive));
    CAPTURE(analysis::to_table(run.verdict));
    CHECK(run.verdict.result == analysis::Result::kPass);
    CHECK(run.verdict.timing.mode == analysis::TimingMode::kWall);
    CHECK(run.verdict.metrics.delivered > 100);
  }

  TEST_CASE("one process per node changes nothing in the history") {
    const TemporaryFolder folder;
    const Scenario scenario = small_scenario();
    RunOptions options = options_in(folder, World::kLive);
    options.isolate = true;
    const RunResult isolated = run_scenario(scenario, options);
    CHECK(isolated.verdict.timing.faithful);
    CHECK(isolated.verdict.metrics.history_sha256 ==
          run_scenario(scenario, options_in(folder, World::kSim)).verdict.metrics.history_sha256);
  }

  TEST_CASE("the kernel's own links go down and come up with the modelled ones") {
    const TemporaryFolder folder;
    const Scenario scenario = small_scenario();
    RunOptions options = options_in(folder, World::kLive);
    options.lab_name = lab_name("mirror");
    std::unique_ptr<netio::NamespaceNetlink> leaf;
    options.on_process = [&](const std::string&, int) {
      if (leaf) return;
      leaf = std::make_unique<netio::NamespaceNetlink>(
          netio::NetworkNamespace::open("mrclab-" + *options.lab_name + "-p0.t0-0"));
    };
    bool seen_down = false;
    bool up_after = false;
    options.interrupted = [&] {
      const bool up = leaf->link("u0").admin_up;
      seen_down = seen_down || !up;
      up_after = seen_down && up;
      return false;
    };
    const RunResult run = run_scenario(scenario, options);
    CHECK(run.verdict.timing.faithful);
    CHECK(seen_down);
    CHECK(up_after);
    const std::string events = netio::read_file(run.folder.path / "events.jsonl");
    CHECK(events.find("link_mirrored_down") != std::string::npos);
    CHECK(events.find("link_mirrored_up") != std::string::npos);
  }

  TEST_CASE("a frame that nftables drops makes the run NOT FAITHFUL, naming wire and number") {
    const TemporaryFolder folder;
    const Scenario scenario = small_scenario();
    RunOptions options = options_in(folder, World::kLive);
    options.lab_name = lab_name("nft");
    bool installed = false;
    options.on_process = [&](const std::string&, int) {
      if (std::exchange(installed, true)) return;
      // The 58th frame that comes in, of far fewer than 100,000: exactly one is dropped.
      const std::string command =
          "nsenter --net=/run/netns/mrclab-" + *options.lab_name +
          "-h1 nft 'add table netdev t; add chain netdev t c { type filter hook ingress device "
          "\"p0\" priority 0; }; add rule netdev t c numgen inc mod 100000 == 57 drop'";
      REQUIRE(std::system(command.c_str()) == 0);
    };
    const RunResult run = run_scenario(scenario, options);
    CAPTURE(analysis::to_table(run.verdict));
    CHECK_FALSE(run.verdict.timing.faithful);
    CHECK(run.verdict.timing.gaps == 1);
    CHECK(mentions(run.verdict.timing.reasons, "lost frame 57 on wire p0.t0-1:d0->h1:p0"));
    CHECK(run.verdict.result == analysis::Result::kInconclusive);
  }

  TEST_CASE("a link that somebody else sets down is an outside fault with the port's name") {
    const TemporaryFolder folder;
    const Scenario scenario = small_scenario();
    RunOptions options = options_in(folder, World::kLive);
    options.lab_name = lab_name("link");
    int calls = 0;
    options.interrupted = [&] {
      if (++calls == 10) {
        netio::NamespaceNetlink(
            netio::NetworkNamespace::open("mrclab-" + *options.lab_name + "-p1.t0-1"))
            .set_down("d0");
      }
      return false;
    };
    const RunResult run = run_scenario(scenario, options);
    CAPTURE(analysis::to_table(run.verdict));
    CHECK_FALSE(run.verdict.timing.faithful);
    CHECK(mentions(run.verdict.timing.reasons, "somebody set p1.t0-1:d0 down at "));
    CHECK(run.verdict.result == analysis::Result::kInconclusive);
  }

  TEST_CASE("a switch process stopped for 200 ms makes the run slower, not wrong") {
    const TemporaryFolder folder;
    const Scenario scenario = small_scenario();
    RunOptions options = options_in(folder, World::kLive);
    pid_t plane = 0;
    options.on_process = [&](const std::string& name, int pid) {
      if (name == "plane-0") plane = pid;
    };
    int calls = 0;  // the runner asks every 2 ms at the earliest: 100 calls are at least 200 ms
    options.interrupted = [&] {
      ++calls;
      if (calls == 10) ::kill(plane, SIGSTOP);
      if (calls == 110) ::kill(plane, SIGCONT);
      return false;
    };
    const RunResult run = run_scenario(scenario, options);
    CAPTURE(analysis::to_table(run.verdict));
    REQUIRE(calls > 110);
    CHECK(run.verdict.timing.faithful);
    CHECK(run.verdict.metrics.history_sha256 ==
          run_scenario(scenario, options_in(folder, World::kSim)).verdict.metrics.history_sha256);
  }

  TEST_CASE(
      "a killed switch process is an outside fault: the run ends, NOT FAITHFUL, and says who") {
    const TemporaryFolder folder;
    const Scenario scenario = small_scenario();
    RunOptions options = options_in(folder, World::kLive);
    pid_t plane = 0;
    options.on_process = [&](const std::string& name, int pid) {
      if (name == "plane-1") plane = pid;
    };
    int calls = 0;
    options.interrupted = [&] {
      if (++calls == 10) ::kill(plane, SIGKILL);
      return false;
    };
    const RunResult run = run_scenario(scenario, options);
    CHECK_FALSE(run.verdict.timing.faithful);
    CHECK(mentions(run.verdict.timing.reasons, "plane-1 ended with signal 9"));
    CHECK(run.verdict.result == analysis::Result::kInconclusive);
  }
}
