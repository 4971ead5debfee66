// A lab whose folder in /run is full: what cannot be written did not happen, is not reported as if it had, and does not end
// the lab; when there is room again it goes on.

#include <doctest/doctest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "fabric/topology/fabric_file.h"
#include "live/world/lab_faults.h"
#include "live/world/live_lab.h"
#include "scenario/spec/shipped_files.h"
#include "tests/lab/support/sandbox.h"
#include "tests/support/texts.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

/// A lab in a /run/mrclab of its own that holds 3 MiB.
class CrampedLab {
 public:
  CrampedLab() {
    enter_sandbox();
    fs::create_directories(kRoot);
    REQUIRE(::mount("tmpfs", kRoot, "tmpfs", 0, "size=3m") == 0);
    LiveLabOptions options;
    options.name = "t_cramped_" + std::to_string(::getpid());
    options.shape = parse_fabric(read_yaml_file(find_fabric("pair")));
    options.dilation = 20000;
    options.programs = MRCLAB_BINARY_DIR;
    lab.emplace(topology, options);
    faults.emplace(*lab, topology, std::vector<faults::Fault>{}, 1,
                   FaultRecord(topology, lab->fabric().run_directory() / "faults.over"));
    lab->start();
  }
  ~CrampedLab() {
    faults.reset();
    lab.reset();
    ::umount2(kRoot, MNT_DETACH);
  }
  void fill() const {
    std::ofstream file(kFill);
    for (int block = 0; block < 10'000 && file; ++block) {
      file << std::string(4096, 'x') << std::flush;
    }
  }
  void make_room() const { fs::remove(kFill); }
  void step_for(std::chrono::milliseconds span) {
    const auto until = std::chrono::steady_clock::now() + span;
    while (std::chrono::steady_clock::now() < until) {
      if (!lab->step()) FAIL("the lab has ended");
      faults->notice();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  FaultStage stage(uint32_t number) const { return faults->book().stage(number, lab->now()); }
  size_t told(const std::string& part) const {
    size_t count = 0;
    for (const std::string& line : lab->outside_faults().newest_lines()) {
      count += test::mentions(line, part) ? 1 : 0;
    }
    return count;
  }

  static constexpr const char *kRoot = "/run/mrclab", *kFill = "/run/mrclab/fill";
  Topology topology = read_fabric_file(find_fabric("pair"));
  std::optional<LiveLab> lab;
  std::optional<LabFaults> faults;
};

FaultOrder link_down(const std::string& link) { return {"link_down", {{"link", link}}, {}}; }

}  // namespace

TEST_SUITE("root: a full /run") {
  TEST_CASE("a fault that the nodes cannot be told of is refused, and not in the book") {
    CrampedLab cramped;
    CHECK(cramped.faults->break_it(link_down("p0.t0-0:u0")) == 0);
    cramped.step_for(std::chrono::milliseconds(100));
    CHECK(cramped.stage(0) == FaultStage::kInForce);
    cramped.fill();
    CHECK_THROWS_WITH_AS(cramped.faults->break_it(link_down("p1.t0-0:u0")),
                         doctest::Contains("nothing is changed"), netio::SystemError);
    CHECK(cramped.faults->book().total() == 1);
    CHECK(cramped.faults->list().at("faults").size() == 1);
    CHECK(cramped.faults->all().size() == 1);
    CHECK_THROWS_WITH_AS(cramped.faults->heal("all"), doctest::Contains("nothing is changed"),
                         netio::SystemError);
    cramped.step_for(std::chrono::milliseconds(100));
    CHECK(cramped.stage(0) == FaultStage::kInForce);
    cramped.make_room();
    CHECK(cramped.faults->break_it(link_down("p1.t0-0:u0")) == 1);
    CHECK(cramped.faults->heal("all").size() == 2);
  }

  TEST_CASE("what others do meanwhile is told once, and takes effect when there is room again") {
    CrampedLab cramped;
    cramped.fill();
    const std::string command =
        "ip -n mrclab-" + cramped.lab->fabric().lab() + "-h0 link set p1 down";
    REQUIRE(std::system(command.c_str()) == 0);
    cramped.step_for(LabFaults::kTryAgain * 2);
    CHECK(cramped.told("somebody set down h0:p1") == 1);
    CHECK(cramped.told("the schedule of the nodes could not be changed") == 1);
    CHECK(cramped.faults->book().total() == 0);
    cramped.make_room();
    cramped.step_for(LabFaults::kTryAgain * 2);
    REQUIRE(cramped.faults->book().total() == 1);
    CHECK(cramped.faults->book().entries().at(0).source == FaultSource::kOutside);
  }
}

}  // namespace mrclab::lab
