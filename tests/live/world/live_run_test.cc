// Whole runs on real packets: the live world gives the history that the simulated world gives, or
// reports that it does not and why.

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "fabric/topology/fabric_file.h"
#include "lab/run/scenario_run.h"
#include "live/world/live_lab.h"
#include "netio/kernel/link.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/system_error.h"
#include "scenario/spec/shipped_files.h"
#include "tests/lab/support/sandbox.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/nightly.h"
#include "tests/support/texts.h"

using namespace mrclab;
using namespace mrclab::lab;
using mrclab::test::mentions;
using mrclab::test::nightly;

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

std::string lab_name(const char* test) {
  return std::string("t_") + test + "_" + std::to_string(::getpid());
}

/// A process that burns a processor, or fills and refills memory, until this object goes. It dies
/// with the test.
class Hog {
 public:
  explicit Hog(size_t bytes) : pid_(::fork()) {
    REQUIRE(pid_ >= 0);
    if (pid_ > 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (std::atomic<uint64_t> burned{0};; burned.fetch_add(1)) {  // and only system calls besides
      if (bytes == 0) continue;
      void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
      if (memory == MAP_FAILED) ::_exit(1);
      ::munmap(memory, bytes);
    }
  }
  ~Hog() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Hog(const Hog&) = delete;
  Hog& operator=(const Hog&) = delete;

 private:
  pid_t pid_;
};

/// 60 % of what is available, but at most 1 GiB (8 GiB at night): others use this machine too.
size_t hog_bytes() {
  std::ifstream meminfo("/proc/meminfo");
  std::string key;
  size_t kib = 0;
  while (meminfo >> key >> kib && key != "MemAvailable:") meminfo.ignore(64, '\n');
  REQUIRE(key == "MemAvailable:");
  return std::min(kib * 1024 / 10 * 6, size_t{nightly() ? 8u : 1u} << 30);
}

}  // namespace

TEST_CASE("the same seed gives the same simulated history, another seed another") {
  const test::TemporaryRuns folder;
  Scenario scenario = small_scenario();
  const RunOptions options = folder.options(World::kSim);
  const analysis::Verdict first = run_scenario(scenario, options).verdict;
  CHECK(first.result == analysis::Result::kPass);
  CHECK(first.metrics.delivered > 0);
  CHECK(run_scenario(scenario, options).verdict.metrics.history_sha256 ==
        first.metrics.history_sha256);
  scenario.seed = 6;
  CHECK(run_scenario(scenario, options).verdict.metrics.history_sha256 !=
        first.metrics.history_sha256);
}

TEST_CASE("a lab of more processes than fit is refused before anything is brought up") {
  const Topology metro = read_fabric_file(lab::find_fabric("metro"));
  LiveLabOptions isolated;
  isolated.name = lab_name("many");
  isolated.isolate = true;
  const auto bring_up = [&] {
    const LiveLab lab(metro, isolated, [](const BringUpStep&) { FAIL("the fabric comes up"); });
  };
  CHECK_THROWS_WITH_AS(bring_up(),
                       doctest::Contains("processes are too many; at most 128 fit in one lab"),
                       InputError);
}

TEST_CASE("a run that is ended early judges only what it saw, and a whole one is not touched") {
  const test::TemporaryRuns folder;
  Scenario scenario = small_scenario();
  const RunOptions options = folder.options(World::kSim);
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
    const test::TemporaryRuns folder;
    Scenario scenario = small_scenario();
    scenario.until = FabricTime::from_us(100);
    const RunResult live = run_scenario(scenario, folder.options(World::kLive));
    CHECK(live.verdict.timing.faithful);
    CHECK(live.verdict.metrics.history_sha256 ==
          run_scenario(scenario, folder.options(World::kSim)).verdict.metrics.history_sha256);
  }

  TEST_CASE("a live run is FAITHFUL and has the history of the simulator") {
    const test::TemporaryRuns folder;
    const Scenario scenario = small_scenario();
    const RunResult live = run_scenario(scenario, folder.options(World::kLive));
    CAPTURE(analysis::to_table(live.verdict));
    CHECK(live.verdict.timing.faithful);
    CHECK(live.verdict.result == analysis::Result::kPass);
    CHECK(live.verdict.metrics.history_sha256 ==
          run_scenario(scenario, folder.options(World::kSim)).verdict.metrics.history_sha256);
    CHECK(std::filesystem::exists(live.folder.path / "verdict.json"));
    CHECK(std::filesystem::exists(live.folder.path / "events.jsonl"));
  }

  TEST_CASE("frames lost on a wire are void frames: no gap, and the simulator's history") {
    const test::TemporaryRuns folder;
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
    const RunResult live = run_scenario(scenario, folder.options(World::kLive));
    CAPTURE(analysis::to_table(live.verdict));
    CHECK(live.verdict.timing.faithful);
    CHECK(live.verdict.metrics.lost > 0);
    CHECK(live.verdict.metrics.history_sha256 ==
          run_scenario(scenario, folder.options(World::kSim)).verdict.metrics.history_sha256);
  }

  TEST_CASE(
      "MRC crosses switches that are not ours, and planes of several kinds, by the wall clock") {
    for (const std::string name : {"kernel", "ovs", "mixed"}) {
      CAPTURE(name);
      const test::TemporaryRuns folder;
      const Scenario scenario =
          load_scenario(MRCLAB_SOURCE_DIR "/tests/scenarios/" + name + "-forwarding.yaml");
      const RunResult run = run_scenario(scenario, folder.options(World::kLive));
      CAPTURE(analysis::to_table(run.verdict));
      CHECK(run.verdict.result == analysis::Result::kPass);
      CHECK(run.verdict.timing.mode == analysis::TimingMode::kWall);
      CHECK(run.verdict.metrics.delivered > 100);
      CHECK(run.verdict.metrics.lost == 0);
    }
  }

  TEST_CASE("a disk that fills up underway ends the run without a verdict and says until when") {
    enter_sandbox();
    const test::TemporaryRuns folder;
    REQUIRE(::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=512k,mode=700") == 0);
    Scenario scenario = small_scenario();
    scenario.captures = CaptureScope::kAll;
    try {
      run_scenario(scenario, folder.options(World::kLive));
      FAIL("512 KiB were enough");
    } catch (const netio::SystemError& error) {
      CAPTURE(std::string(error.what()));
      CHECK(error.kind() == netio::ErrorKind::kDiskFull);
      CHECK(error.attempted().starts_with("record the run beyond"));
    }
    REQUIRE(::umount2(folder.path().c_str(), MNT_DETACH) == 0);
  }

  TEST_CASE("one process per node changes nothing in the history") {
    const test::TemporaryRuns folder;
    const Scenario scenario = small_scenario();
    RunOptions options = folder.options(World::kLive);
    options.isolate = true;
    const RunResult isolated = run_scenario(scenario, options);
    CHECK(isolated.verdict.timing.faithful);
    CHECK(isolated.verdict.metrics.history_sha256 ==
          run_scenario(scenario, folder.options(World::kSim)).verdict.metrics.history_sha256);
  }

  TEST_CASE("the kernel's own links go down and come up with the modelled ones") {
    const test::TemporaryRuns folder;
    Scenario scenario = small_scenario();
    scenario.dilation = 5'000;  // 200 ms for the kernel to follow; `auto` could leave it too few
    RunOptions options = folder.options(World::kLive);
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
      if (!leaf) return false;  // it is still coming up
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
    const test::TemporaryRuns folder;
    const Scenario scenario = small_scenario();
    RunOptions options = folder.options(World::kLive);
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
    const test::TemporaryRuns folder;
    const Scenario scenario = small_scenario();
    RunOptions options = folder.options(World::kLive);
    options.lab_name = lab_name("link");
    bool is_up = false;
    options.on_process = [&](const std::string&, int) { is_up = true; };
    int calls = 0;
    options.interrupted = [&] {  // is asked while the lab comes up, too
      if (is_up && ++calls == 10) {
        netio::NamespaceNetlink(
            netio::NetworkNamespace::open("mrclab-" + *options.lab_name + "-p1.t0-1"))
            .set_down("d0");
      }
      return false;
    };
    const RunResult run = run_scenario(scenario, options);
    CAPTURE(analysis::to_table(run.verdict));
    CHECK_FALSE(run.verdict.timing.faithful);
    CHECK(mentions(run.verdict.timing.reasons, "somebody set down p1.t0-1:d0 at "));
    CHECK(run.verdict.result == analysis::Result::kInconclusive);
  }

  TEST_CASE("over an idle stretch the clock jumps, and the history is the simulator's") {
    const test::TemporaryRuns folder;
    Scenario scenario = parse_scenario(read_yaml_text(R"(
name: idle
fabric: pair
seed: 5
workload:
  - write: {from: h0, to: h1, size: 64KiB, count: 4, at: 10us}
  - write: {from: h0, to: h1, size: 64KiB, count: 4, at: 20ms}
end: 20200us
expect:
  - no_qp_error
)",
                                                      "idle.yaml"));
    const RunResult run = run_scenario(scenario, folder.options(World::kLive));
    CAPTURE(analysis::to_table(run.verdict));
    const analysis::TimingReport& timing = run.verdict.timing;
    CHECK(timing.faithful);
    CHECK(timing.jumps > 0);
    // At the pace that was chosen it would have taken this long; a median is not moved by holds.
    std::vector<double> chosen;
    for (const analysis::PacePoint& point : timing.pace) {
      if (point.dilation > 0) chosen.push_back(point.dilation);
    }
    REQUIRE_FALSE(chosen.empty());
    std::nth_element(chosen.begin(), chosen.begin() + chosen.size() / 2, chosen.end());
    CHECK(timing.dilation_mean < chosen[chosen.size() / 2] / 2);
    CHECK(run.verdict.metrics.history_sha256 ==
          run_scenario(scenario, folder.options(World::kSim)).verdict.metrics.history_sha256);
  }

  TEST_CASE("processes stopped for 200 ms again and again make the run slower, not wrong") {
    const test::TemporaryRuns folder;
    const Scenario scenario = small_scenario();
    RunOptions options = folder.options(World::kLive);
    std::vector<pid_t> pids;
    options.on_process = [&](const std::string&, int pid) { pids.push_back(pid); };
    // The runner asks every 2 ms at the earliest: 100 calls are at least 200 ms.
    const int stops = nightly() ? 40 : 4;
    int calls = 0, stopped = 0;
    options.interrupted = [&] {
      if (pids.empty() || stopped >= stops)
        return false;  // it is asked while the lab comes up, too
      const int at = calls++ % 120;
      const pid_t victim = pids[static_cast<size_t>(stopped) % pids.size()];
      if (at == 10) ::kill(victim, SIGSTOP);
      if (at == 110) {
        ::kill(victim, SIGCONT);
        ++stopped;
      }
      return false;
    };
    const RunResult run = run_scenario(scenario, options);
    CAPTURE(analysis::to_table(run.verdict));
    CHECK(stopped >= 2);  // a host process and another
    CHECK(run.verdict.timing.faithful);
    CHECK(run.verdict.timing.holds > 0);
    CHECK(run.verdict.metrics.history_sha256 ==
          run_scenario(scenario, folder.options(World::kSim)).verdict.metrics.history_sha256);
  }

  TEST_CASE("with processors and memory taken by others the run is slower, not wrong") {
    const test::TemporaryRuns folder;
    const Scenario scenario = small_scenario();
    const std::string expected =
        run_scenario(scenario, folder.options(World::kSim)).verdict.metrics.history_sha256;
    for (int repeat = 0; repeat < (nightly() ? 10 : 1); ++repeat) {
      std::vector<std::unique_ptr<Hog>> hogs;
      for (int i = 0; i < 3; ++i) hogs.push_back(std::make_unique<Hog>(0));
      hogs.push_back(std::make_unique<Hog>(hog_bytes()));
      const RunResult run = run_scenario(scenario, folder.options(World::kLive));
      CAPTURE(analysis::to_table(run.verdict));
      CHECK(run.verdict.timing.faithful);
      CHECK(run.verdict.metrics.history_sha256 == expected);
    }
  }

  TEST_CASE(
      "a killed switch process is an outside fault: the run ends, NOT FAITHFUL, and says who") {
    const test::TemporaryRuns folder;
    const Scenario scenario = small_scenario();
    RunOptions options = folder.options(World::kLive);
    pid_t plane = 0;
    options.on_process = [&](const std::string& name, int pid) {
      if (name == "plane-1") plane = pid;
    };
    int calls = 0;
    options.interrupted = [&] {
      if (plane != 0 && ++calls == 10) ::kill(plane, SIGKILL);
      return false;
    };
    const RunResult run = run_scenario(scenario, options);
    CHECK_FALSE(run.verdict.timing.faithful);
    CHECK(mentions(run.verdict.timing.reasons, "plane-1 ended with signal 9"));
    CHECK(run.verdict.result == analysis::Result::kInconclusive);
  }
}
