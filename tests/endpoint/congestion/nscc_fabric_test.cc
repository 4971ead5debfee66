// NSCC on whole fabrics: who gets what, in shares of the header-limited rate: 4,096 of the 4,262
// bytes that a full packet takes on the wire.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "endpoint/host/host_node.h"
#include "endpoint/options/profile_maker.h"
#include "fabric/packet/headers.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/path.h"
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

/// Eight planes of four T0s and four T1s, sixteen hosts.
Topology hall() { return build_topology(test::shape_of("hall", 8, 4, 4, 4)); }

/// What each host received between two instants, as a share of its header-limited rate.
std::vector<double> received(SimFabric& fabric, FabricTime from, FabricTime to) {
  fabric.stop_when_finished = false;
  const uint32_t hosts = fabric.topology.host_count();
  fabric.run_until(from);
  std::vector<double> share(hosts);
  for (uint32_t h = 0; h < hosts; ++h) {
    share[h] = -static_cast<double>(fabric.stats(h).goodput_bytes());
  }
  fabric.run_until(to);
  const double line = static_cast<double>(fabric.topology.host_rate.bps) * fabric.topology.planes /
                      8 * (to - from).us() * 1e-6 * 4096 / 4262;
  for (uint32_t h = 0; h < hosts; ++h) {
    share[h] = (share[h] + static_cast<double>(fabric.stats(h).goodput_bytes())) / line;
    CHECK(fabric.stats(h).bytes_mismatched == 0);
    CHECK(fabric.stats(h).qps_in_error == 0);
  }
  return share;
}

/// How many writers send to h0 beside a victim, and what becomes of them.
struct Incast {
  double deviation = 0;  ///< standard deviation over mean of the senders' goodput
  double busy = 0;       ///< share of the receiver's header-limited rate
  double trimmed = 0;    ///< share of what was sent to it
  double victim = 0;     ///< the least share of its rate in any 5 RTTs, from the fifth on
  uint64_t lost = 0;     ///< untrimmed packets and control packets that switches dropped
};

/// `senders` hosts behind the first T0 write to h0, one more to h1. Measured over 45 base RTTs after
/// the first 45.
Incast incast(const Topology& topology, uint32_t senders, uint32_t hosts_per_t0,
              const TransportProfile& profile) {
  SimFabric::Options o;
  o.profile = profile;
  for (uint32_t i = 0; i <= senders; ++i) {
    o.workloads.emplace_back(endless(hosts_per_t0 + i, i < senders ? 0 : 1));
  }
  SimFabric fabric(topology, o);
  fabric.stop_when_finished = false;
  std::map<Ipv6Address, double> share;
  std::map<int64_t, double> of_victim;  // by base RTT
  double all = 0, trims = 0;
  const FabricTime rtt = topology.base_rtt;
  for (const uint32_t h : {0u, 1u}) {
    fabric.observer(h).on_packet = [&, h](const PacketRecord& r) {
      MrcPacket packet;
      if (r.direction != Direction::kIngress || r.event != PacketEvent::kPassed ||
          parse_mrc_frame(r.frame.bytes(), packet) != ParseError::kNone ||
          !is_write(packet.bth.opcode)) {
        return;
      }
      const auto bytes = static_cast<double>(packet.payload.size());
      if (h == 1) of_victim[r.t / rtt] += bytes;
      if (h == 1 || r.t < rtt * 45 || r.t >= rtt * 90) return;
      packet.trimmed ? ++trims : ++all;
      share[packet.inner.source] += bytes;
    };
  }
  fabric.run_until(rtt * 90);
  const double line = static_cast<double>(topology.host_rate.bps) * topology.planes / 8 * rtt.us() *
                      1e-6 * 4096 / 4262;
  Incast result;
  double sum = 0, squares = 0;
  for (const auto& [source, bytes] : share) sum += bytes, squares += bytes * bytes;
  const double mean = sum / senders;
  result.deviation = std::sqrt(std::max(0.0, squares / senders - mean * mean)) / mean;
  result.busy = sum / line / 45;
  result.trimmed = trims / (trims + all);
  result.victim = 1;
  for (int64_t i = 5; i + 5 <= 90; ++i) {
    double bytes = 0;
    for (int64_t bin = i; bin < i + 5; ++bin) bytes += of_victim[bin];
    result.victim = std::min(result.victim, bytes / line / 5);
  }
  for (const NodeSite& site : topology.nodes) {
    if (site.role == NodeRole::kHost) continue;
    for (const DropCause cause : {DropCause::kQueueFull, DropCause::kControlQueueFull}) {
      result.lost +=
          fabric.node_observer(site.id).packets[{Direction::kEgress, PacketEvent::kDropped, cause}];
    }
  }
  return result;
}

}  // namespace

TEST_CASE("a permutation of all hosts at full load: every flow has 97 % of its rate" *
          doctest::test_suite(test::kWholeRun)) {
  SimFabric::Options o;
  PermutationSpec spec;
  for (uint32_t h = 0; h < 16; ++h) spec.hosts.push_back(h);
  spec.load = {Probability::kOne};
  spec.message = {256 * 1024};
  spec.shift = 5;  // across T1s for all
  o.workloads = {spec};
  SimFabric fabric(hall(), o);
  for (const double share : received(fabric, us(60), us(160))) CHECK(share > 0.97);
}

TEST_CASE("a ring all-reduce over T1s keeps 95 % of the line") {
  SimFabric::Options o;
  CollectiveSpec spec;
  for (uint32_t h = 0; h < 8; ++h) spec.hosts.push_back(h);
  spec.size = {8 << 20};
  o.workloads = {spec};
  SimFabric fabric(test::octet(), o);
  for (const double share : received(fabric, us(60), us(200))) CHECK(share > 0.95);
}

TEST_CASE("an incast is shared evenly, fills its receiver, trims nothing, and spares a victim" *
          doctest::test_suite(test::kWholeRun)) {
  struct Cell {
    uint32_t senders, planes;
  };
  for (const Cell& cell :
       {Cell{3, 1}, Cell{3, 8}, Cell{7, 1}, Cell{7, 4}, Cell{7, 8}, Cell{15, 2}, Cell{15, 8}}) {
    CAPTURE(cell.senders);
    CAPTURE(cell.planes);
    const Topology topology = build_topology(test::shape_of("racks", cell.planes, 2, 16, 16));
    const Incast even = incast(topology, cell.senders, 16, make_profile("lab", topology));
    CHECK(even.deviation < 0.02);
    CHECK(even.busy > 0.98);
    CHECK(even.trimmed < 0.05);
    CHECK(even.victim > 0.98);
    CHECK(even.lost == 0);
  }
}

TEST_CASE("to the letter of UEC the same incast is neither even nor free of trims" *
          doctest::test_suite(test::kWholeRun)) {
  const Topology topology = build_topology(test::shape_of("racks", 1, 2, 16, 16));
  TransportProfile profile = make_profile("lab", topology);
  profile.nscc_rules = NsccRules::kUec;
  profile.receive_shares = false;
  const Incast uec = incast(topology, 7, 16, profile);
  CHECK(uec.deviation > 0.1);
  CHECK(uec.trimmed > 0.1);
  // The receiver alone does not do it, nor does the sender alone.
  profile.nscc_rules = NsccRules::kEven;
  CHECK(incast(topology, 7, 16, profile).deviation > 0.02);
}

TEST_CASE("where 64 begin at once no control packet is lost, and the victim is back in 5 RTTs" *
          doctest::test_suite(test::kWholeRun)) {
  const Topology topology = build_topology(test::shape_of("racks", 1, 6, 16, 16));
  const Incast even = incast(topology, 64, 16, make_profile("lab", topology));
  CHECK(even.busy > 0.95);
  CHECK(even.trimmed < 0.05);
  CHECK(even.victim > 0.98);
  CHECK(even.lost == 0);
}

TEST_CASE("the queue of 128 senders that have a quarter of a packet each does not swing" *
          doctest::test_suite(test::kWholeRun)) {
  const Topology topology = build_topology(test::shape_of("racks", 1, 10, 16, 16));
  const Incast even = incast(topology, 128, 16, make_profile("lab", topology));
  CHECK(even.busy > 0.95);      // by data alone
  CHECK(even.trimmed < 0.001);  // a tenth, and idle in between, if pace answers delay in full
  CHECK(even.victim > 0.98);
  CHECK(even.lost == 0);
}

TEST_CASE("sixteen queue pairs of a pair of hosts fill one port as one does") {
  for (const uint32_t queue_pairs : {1u, 8u, 16u}) {
    CAPTURE(queue_pairs);
    SimFabric::Options o;
    WriteSpec spec = endless(0, 1);
    spec.qps = queue_pairs;
    o.workloads = {spec};
    SimFabric fabric(build_topology(test::shape_of("one", 1, 1, 0, 2)), o);
    CHECK(received(fabric, us(60), us(200))[1] > 0.98);  // 0.56 with 8, 0.44 with 16 if none asks
  }
}

TEST_CASE("a port that is full of data and of answers to probes is shared evenly" *
          doctest::test_suite(test::kWholeRun)) {
  FabricShape shape = test::shape_of("racks", 1, 6, 16, 16);
  shape.pmtu = 1024;
  const Topology topology = build_topology(shape);
  const Incast even = incast(topology, 64, 16, make_profile("lab", topology));
  CHECK(even.deviation < 0.02);  // 0.055 if only data counts
}

TEST_CASE("ECN moves a flow off a path that another one needs, and takes no rate from either") {
  // One plane, two paths. h1 is given one of them only, and begins at 200 us; h0 has both and
  // needs one (MRC paper, figure 14).
  SimFabric::Options o;
  const Topology fabric_shape = build_topology(test::shape_of("two-paths", 1, 2, 2, 2));
  o.workloads = {endless(0, 2), endless(1, 3)};
  std::get<WriteSpec>(o.workloads[1]).at = us(200);
  o.profile = make_profile("lab", fabric_shape);
  TransportProfile one_path = *o.profile;
  one_path.ev_limit = 1;
  o.host_profiles[1] = one_path;
  SimFabric fabric(fabric_shape, o);
  std::array<std::map<uint32_t, double>, 2> used;
  for (uint32_t h = 0; h < 2; ++h) {
    fabric.observer(h).on_packet = [&used, h](const PacketRecord& r) {
      MrcPacket packet;
      if (r.direction != Direction::kEgress ||
          parse_mrc_frame(r.frame.bytes(), packet) != ParseError::kNone ||
          !is_write(packet.bth.opcode)) {
        return;
      }
      ++used[h][packet.entropy().value];
    };
  }
  received(fabric, us(0), us(500));
  used = {};
  const std::vector<double> share = received(fabric, us(500), us(1000));
  REQUIRE(used[1].size() == 1);
  double all = 0;
  for (const auto& [ev, packets] : used[0]) all += packets;
  CHECK(used[0][used[1].begin()->first] / all < 0.02);
  CHECK(share[2] > 0.97);
  CHECK(share[3] > 0.97);
  CHECK(fabric.stats(0).losses_detected == 0);
  CHECK(fabric.stats(2).trims_seen < 100);  // all from the start of the second flow
}
