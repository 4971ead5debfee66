// Our switch, the kernel, Open vSwitch and our program in the kernel make the same of every carrier, and of wrong frames
// what is documented for each: real namespaces, single frames, what arrives at each port.

#include "live/conform/conformance.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "live/conform/probe_frames.h"
#include "netio/system/file_descriptor.h"
#include "scenario/spec/shipped_files.h"
#include "tests/lab/support/sandbox.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/nightly.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

/// Everything is as computed and documented, by four forwarders, and nothing is left on the machine.
void check_same(const std::string& fabric, bool wrong_frames) {
  enter_sandbox();
  const auto before = kernel_snapshot();
  const auto report = mrclab_json({"conform", fabric, "--json"}, std::chrono::minutes(10));
  REQUIRE(report.at("forwarders").size() == 4);
  for (const auto& f : report.at("forwarders")) {
    CHECK(f.at("paths").get<size_t>() > 0);
    CHECK(f.at("as_computed") == f.at("paths"));
    CHECK(f.at("wrong_frames").empty() != wrong_frames);
  }
  CHECK(difference(before, kernel_snapshot()) == "");
}

}  // namespace

TEST_SUITE("root: conformance") {
  TEST_CASE(
      "four forwarders send every carrier of a fabric the same way, and wrong ones as known") {
    check_same("pair", true);
  }

  TEST_CASE("a comparison that is interrupted leaves nothing behind") {
    enter_sandbox();
    const auto before = kernel_snapshot();
    const CommandResult result = run_command_line(
        {"timeout", "--signal=INT", "3", program("mrclab-cli"), "conform", "octet"},
        std::chrono::minutes(2));
    CHECK(result.code == 124);  // timeout's own: the signal was needed
    CHECK(result.output.find("interrupted") != std::string::npos);
    CHECK(difference(before, kernel_snapshot()) == "");
  }

  TEST_CASE("so with the draft's fabric, and with carriers that name links") {
    FabricShape shape = parse_fabric(read_yaml_file(lab::find_fabric("ai-backend")));
    shape.decap = Decap::kNic;
    const test::TemporaryRuns folder;
    for (const Segments segments : {Segments::kNode, Segments::kAdjacency}) {
      shape.segments = segments;
      const auto file = folder.path() / "draft.yaml";
      netio::write_file(file, to_yaml(shape));
      check_same(file, segments == Segments::kNode);
    }
  }

  TEST_CASE("so on every path of the octet, 1,216 of them" *
            doctest::skip(!mrclab::test::nightly())) {
    check_same("octet", true);
  }
}

TEST_CASE("a frame for each path is found again by its label, and none is left out") {
  const Topology topology = read_fabric_file(lab::find_fabric("octet"));
  const auto probes = path_probes(topology);
  CHECK(probes.size() == 8 * 3 * 8 + 8 * 4 * 8 * 4);  // on one T0: a path in each plane
  for (const PathProbe& probe : probes) {
    CHECK(probe.expected.size() == (probe.destination / 4 == probe.frame.source / 4 ? 2 : 4));
  }
}
