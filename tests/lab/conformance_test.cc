// Our switch, the kernel and Open vSwitch make the same of every carrier, and of wrong frames what is
// known of each: real namespaces, single frames, what arrives at each port.

#include "lab/conformance.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "fabric/build_topology.h"
#include "fabric/fabric_file.h"
#include "lab/probe_frames.h"
#include "tests/lab/sandbox.h"
#include "tests/support/nightly.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

FabricShape shape_of_file(const char* name) {
  return parse_fabric(read_yaml_file(find_fabric(name)));
}

/// Everything is as computed and known, also what is left on the machine.
void check_same(const FabricShape& shape, std::vector<Forwarding> forwarders) {
  enter_sandbox();
  const auto before = kernel_snapshot();
  ConformanceOptions options;
  options.forwarders = std::move(forwarders);
  options.patience = std::chrono::seconds(60);  // nothing is lost, however busy the machine
  const ConformanceReport report = check_conformance(shape, options);
  INFO(conformance_text(report));
  CHECK(report.passed());
  for (const ForwarderReport& f : report.forwarders) {
    CHECK(f.paths > 0);
    CHECK(f.wrong.size() == report.wrong_names.size());
  }
  CHECK(difference(before, kernel_snapshot()) == "");
}

const std::vector<Forwarding> kAll(std::begin(kForwardings), std::end(kForwardings));

}  // namespace

TEST_CASE("three forwarders send every carrier of a fabric the same way, and wrong ones as known") {
  check_same(shape_of_file("pair"), kAll);
}

TEST_CASE("so with the draft's fabric, and with carriers that name links") {
  FabricShape shape = shape_of_file("ai-backend");
  shape.decap = Decap::kNic;
  check_same(shape, kAll);
  shape.segments = Segments::kAdjacency;
  check_same(shape, kAll);
}

TEST_CASE("so on every path of the octet, 1,216 of them" *
          doctest::skip(!mrclab::test::nightly())) {
  check_same(shape_of_file("octet"), kAll);
}

TEST_CASE("a frame for each path is found again by its label, and none is left out") {
  const Topology topology = build_topology(shape_of_file("octet"));
  const auto probes = path_probes(topology);
  CHECK(probes.size() == 8 * 3 * 8 + 8 * 4 * 8 * 4);  // on one T0: a path in each plane
  for (const PathProbe& probe : probes) {
    CHECK(probe.expected.size() == (probe.destination / 4 == probe.frame.source / 4 ? 2 : 4));
  }
}
