// The plan of a mapper's probes: every link once a period, whatever the fabric; carriers as switches take them.

#include "fabric/probes/probe_plan.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "fabric/probes/probe_frame.h"
#include "fabric/probes/probe_route.h"
#include "fabric/topology/path.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::test;

namespace {

/// How often each link between switches of a plane is crossed in a period by probes to T1s, and each wire by cross probes.
struct Crossed {
  uint64_t t0 = 0, t1 = 0, cross = 0;
  std::vector<uint32_t> links, up, down;
};

Crossed crossed_in(const ProbeGrid& grid, uint64_t period) {
  const size_t links = size_t{grid.t0} * grid.t1;
  Crossed crossed{0,
                  0,
                  0,
                  std::vector<uint32_t>(links),
                  std::vector<uint32_t>(links),
                  std::vector<uint32_t>(links)};
  const auto at = [&](uint32_t row, uint32_t uplink) { return size_t{row} * grid.t1 + uplink; };
  for (uint32_t host = 0; host < grid.t0 * grid.hosts_per_t0; ++host) {
    const uint32_t row = host / grid.hosts_per_t0;
    for (const Probe& probe : probes_of(grid, {}, host, 0, period)) {
      if (probe.kind == ProbeKind::kT0) ++crossed.t0;
      if (probe.kind == ProbeKind::kT1) {
        ++crossed.t1;
        ++crossed.links[at(row, probe.uplink)];
      }
      if (probe.kind != ProbeKind::kCross) continue;
      ++crossed.cross;
      REQUIRE((probe.far_row != row && probe.back != probe.uplink));
      ++crossed.up[at(row, probe.uplink)];
      ++crossed.down[at(probe.far_row, probe.uplink)];
      ++crossed.up[at(probe.far_row, probe.back)];
      ++crossed.down[at(row, probe.back)];
    }
  }
  return crossed;
}

bool all_are(const std::vector<uint32_t>& counts, uint32_t wanted) {
  return std::all_of(counts.begin(), counts.end(), [&](uint32_t n) { return n == wanted; });
}

std::string carrier_text(const Topology& topology, uint32_t host, const Probe& probe) {
  return to_string(probe_carrier(topology, host, probe));
}

}  // namespace

TEST_CASE("every link is probed once a period, in fabrics of 8 to 131,072 hosts") {
  struct Row {
    const char* name;
    ProbeGrid grid;
    uint64_t t0, t1, cross;  // of one plane
  };
  for (const Row& row :
       {Row{"octet", {8, 2, 4, 4}, 8, 8, 4}, Row{"campus", {4, 42, 2, 4}, 168, 84, 42},
        Row{"metro", {8, 32, 32, 32}, 1024, 1024, 512},
        Row{"131,072 hosts", {8, 512, 256, 256}, 131'072, 131'072, 65'536}}) {
    CAPTURE(row.name);
    for (const uint64_t period : {0, 1, 2, 3, 255}) {
      CAPTURE(period);
      const Crossed crossed = crossed_in(row.grid, period);
      CHECK(crossed.t0 == row.t0);
      CHECK(crossed.t1 == row.t1);
      CHECK(all_are(crossed.links, 1));
      CHECK(crossed.cross == row.cross);
      CHECK(all_are(crossed.up, 1));
      CHECK(all_are(crossed.down, 1));
    }
  }
}

TEST_CASE("cross probes of odd fabrics cross every wire, at most twice") {
  for (const ProbeGrid grid : {ProbeGrid{1, 3, 3, 2}, {1, 3, 2, 4}, {1, 2, 3, 1}, {1, 5, 7, 3}}) {
    for (uint64_t period = 0; period < 12; ++period) {
      const Crossed crossed = crossed_in(grid, period);
      for (const auto& counts : {crossed.up, crossed.down}) {
        for (const uint32_t count : counts) CHECK((count == 1 || count == 2));
      }
    }
  }
  // Nothing to cross: one T0, one T1, or none.
  for (const ProbeGrid grid : {ProbeGrid{2, 1, 4, 2}, {2, 2, 1, 2}, {2, 1, 0, 2}}) {
    CHECK(crossed_in(grid, 3).cross == 0);
  }
}

TEST_CASE("over as many periods as a T0 has hosts, each of them has probed each link") {
  const ProbeGrid grid{1, 2, 4, 4};
  std::set<std::pair<uint32_t, uint32_t>> pairs;
  for (uint64_t period = 0; period < grid.hosts_per_t0; ++period) {
    for (uint32_t host = 0; host < grid.hosts_per_t0; ++host) {
      for (const Probe& probe : probes_of(grid, {}, host, 0, period)) {
        if (probe.kind == ProbeKind::kT1) pairs.insert({host, probe.uplink});
      }
    }
  }
  CHECK(pairs.size() == 16);
}

TEST_CASE("a probe's carrier names T0, T1 and the port that it comes back to, in both layouts") {
  FabricShape shape = shape_of("wide", 4, 10, 9, 4);
  const Topology lab = build_topology(shape);
  const uint32_t host = 5 * 4 + 2;  // port 2 of T0 5, plane 3
  CHECK(carrier_text(lab, host, {ProbeKind::kT0, 3}) == "5f00:0:2305:e302::");
  CHECK(carrier_text(lab, host, {ProbeKind::kT1, 3, 7}) == "5f00:0:2305:1307:2305:e302::");
  CHECK(carrier_text(lab, host, {ProbeKind::kCross, 3, 7, 9, 8}) ==
        "5f00:0:2305:1307:2309:1308:2305:e302");
  shape.address_plan = AddressPlan::kFull;
  const Topology full = build_topology(shape);
  CHECK(carrier_text(full, host, {ProbeKind::kT0, 3}) == "5f00:0:5805:d802::");
  CHECK(carrier_text(full, host, {ProbeKind::kT1, 3, 7}) == "5f00:0:5805:9807:5805:d802::");
  CHECK(carrier_text(full, host, {ProbeKind::kCross, 3, 7, 9, 8}) ==
        "5f00:0:5805:9807:5809:9808:5805:d802");
  shape.decap = Decap::kLeaf;
  CHECK(carrier_text(build_topology(shape), host, {ProbeKind::kT0, 3}) == "5f00:0:5805::");
}

TEST_CASE("a probe's wires are a closed walk from its port") {
  const Topology topology = octet();
  for (const Probe& probe :
       {Probe{ProbeKind::kT0, 1}, {ProbeKind::kT1, 1, 2}, {ProbeKind::kCross, 1, 2, 1, 3}}) {
    const std::vector<WireId> wires = probe_wires(topology, 1, probe);
    CHECK(wires.size() == (probe.kind == ProbeKind::kT0   ? 2
                           : probe.kind == ProbeKind::kT1 ? 4
                                                          : 6));
    for (size_t i = 0; i < wires.size(); ++i) {
      const Wire& wire = topology.wire(wires[i]);
      CHECK(wire.to.node == topology.wire(wires[(i + 1) % wires.size()]).from.node);
    }
  }
}

TEST_CASE("what probes take of a port follows from their length and the period") {
  Topology topology = octet();
  topology.mapper.on = true;
  topology.mapper.form = ProbeForm::kStamp;
  topology.mapper.cross = false;
  topology.mapper.period = {3, {}};
  // Two probes of 170 bytes on the wire in three base RTTs.
  const double seconds = static_cast<double>(topology.base_rtt.ps()) * 3e-12;
  CHECK(probe_share(topology) == doctest::Approx(2 * 170 * 8 / (seconds * 100e9)));
  CHECK_FALSE(mapper_misfit(topology));
  topology.mapper.period = {1, {}};
  CHECK(mapper_misfit(topology).value_or("").find("of a port") != std::string::npos);
}
