// A live lab whose fixed pace is more than any machine can keep.

#include <doctest/doctest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "fabric/topology/fabric_file.h"
#include "live/world/live_lab.h"
#include "scenario/spec/shipped_files.h"
#include "tests/lab/support/sandbox.h"

using namespace mrclab;
using namespace mrclab::lab;

TEST_SUITE("root: a fixed pace") {
  TEST_CASE("a lab that cannot keep its pace is slower: its clock does not run away from it") {
    enter_sandbox();
    LiveLabOptions options;
    options.name = "t_pace_" + std::to_string(::getpid());
    options.shape = parse_fabric(read_yaml_file(find_fabric("pair")));
    options.dilation = 1;  // fabric time as fast as the wall's
    options.programs = MRCLAB_BINARY_DIR;
    const Topology topology = build_topology(options.shape);
    LiveLab lab(topology, options);
    lab.start();
    const FabricTime leash = leash_of_fixed_pace(*options.dilation, topology);
    CHECK(leash == FabricTime::from_ms(20));
    const auto deadline = std::chrono::steady_clock::now() + kTestPatience;
    FabricTime furthest;
    // The machine takes some hundred times as long for this: a second, which the clock would show, too.
    while (lab.now() < FabricTime::from_ms(4)) {
      REQUIRE(std::chrono::steady_clock::now() < deadline);
      lab.step();
      const FabricTime clock = lab.gate().time_at(netio::LabTime::now());
      const FabricTime slowest = lab.now();
      REQUIRE(clock <= slowest + leash);
      furthest = std::max(furthest, clock - slowest);
      ::sched_yield();
    }
    CHECK(furthest > leash / 2);
    CHECK(lab.pace().report(lab.now()).holds > 0);
    CHECK(lab.outside_faults().total() == 0);
  }
}
