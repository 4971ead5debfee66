// Planes that are slow and not dead, and fabrics that are too small for their hosts.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "endpoint/host/host_node.h"
#include "endpoint/options/profile_maker.h"
#include "fabric/topology/build_topology.h"
#include "tests/support/fabrics.h"
#include "tests/support/nightly.h"
#include "tests/support/sim_fabric.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::endless;
using mrclab::test::SimFabric;
using mrclab::test::us;

namespace {

/// Payload bytes that each host received between two instants.
std::vector<double> received_bytes(SimFabric& fabric, FabricTime from, FabricTime to) {
  fabric.stop_when_finished = false;
  std::vector<double> bytes;
  fabric.run_until(from);
  for (uint32_t h = 0; h < fabric.topology.host_count(); ++h) {
    bytes.push_back(-static_cast<double>(fabric.stats(h).goodput_bytes()));
  }
  fabric.run_until(to);
  for (uint32_t h = 0; h < bytes.size(); ++h) {
    bytes[h] += static_cast<double>(fabric.stats(h).goodput_bytes());
    CHECK(fabric.stats(h).bytes_mismatched == 0);
    CHECK(fabric.stats(h).qps_in_error == 0);
  }
  return bytes;
}

using WireFilter = bool (*)(const Topology& topology, const Wire& wire);

/// Four hosts, two on each T0, write to their opposites: the bytes that h2 gets in a millisecond while wires
/// that are `slow` have `rate`.
double goodput_with(uint32_t planes, BitRate rate, WireFilter slow) {
  SimFabric::Options o;
  o.workloads = {endless(0, 2), endless(1, 3), endless(2, 0), endless(3, 1)};
  const Topology topology = build_topology(test::shape_of("two-uplinks", planes, 2, 2, 2));
  o.profile = make_profile("lab", topology);
  o.profile->max_psn_range =
      8192;  // a packet in a slow queue holds up those that were sent 1,024 later
  SimFabric fabric(topology, o);
  for (const Wire& wire : fabric.topology.all_wires()) {
    if (slow(fabric.topology, wire)) fabric.apply(us(5), WireRate{wire.id, rate});
  }
  return received_bytes(fabric, us(1'500), us(2'500))[2];
}

bool is_none(const Topology&, const Wire&) { return false; }

/// Between switches of plane 0.
bool is_uplink(const Topology& topology, const Wire& wire) {
  const NodeSite& from = topology.node(wire.from.node);
  const NodeSite& to = topology.node(wire.to.node);
  return from.plane == 0 && from.role != NodeRole::kHost && to.role != NodeRole::kHost;
}

/// Plane 0's last hop to h2.
bool is_last_hop(const Topology& topology, const Wire& wire) {
  return wire.to.node == topology.host(2) && topology.node(wire.from.node).plane == 0;
}

}  // namespace

TEST_CASE("a plane that is slow costs what it lacks, and hardly more" *
          doctest::test_suite(test::kWholeRun)) {
  struct Row {
    uint32_t planes, percent;
    WireFilter slow;
  };
  for (const Row& row : {Row{8, 25, is_uplink}, Row{2, 25, is_uplink}, Row{2, 25, is_last_hop}}) {
    CAPTURE(row.planes);
    CAPTURE(row.percent);
    const double left = 1 - (1 - row.percent / 100.0) / row.planes;
    const double before = goodput_with(row.planes, {}, is_none);
    CHECK(goodput_with(row.planes, {1'000'000'000ull * row.percent}, row.slow) >
          (left - 0.03) * before);
  }
}

TEST_CASE("eight hosts that share two uplinks get the same, and none starves" *
          doctest::test_suite(test::kWholeRun)) {
  for (const uint32_t planes : {2, 8}) {
    CAPTURE(planes);
    SimFabric::Options o;
    for (uint32_t h = 0; h < 16; ++h) o.workloads.push_back(endless(h, (h + 8) % 16));
    SimFabric fabric(build_topology(test::shape_of("oversubscribed", planes, 2, 2, 8)), o);
    const std::vector<double> bytes = received_bytes(fabric, us(700), us(2'700));
    double sum = 0, squares = 0;
    for (const double each : bytes) sum += each, squares += each * each;
    const double mean = sum / 16;
    CHECK(std::sqrt(squares / 16 - mean * mean) / mean < 0.03);
    CHECK(*std::min_element(bytes.begin(), bytes.end()) > mean * 0.94);
  }
}
