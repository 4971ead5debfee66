// NSCC on whole fabrics: who gets what, in shares of the header-limited rate: 4,096 of the 4,262
// bytes that a full packet takes on the wire.

#include <doctest/doctest.h>

#include <map>

#include "endpoint/host_node.h"
#include "fabric/build_topology.h"
#include "fabric/headers.h"
#include "fabric/path.h"
#include "tests/support/fabrics.h"
#include "tests/support/mem_fabric.h"
#include "tests/support/nightly.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::endless;
using mrclab::test::MemFabric;
using mrclab::test::us;

namespace {

/// Eight planes of four T0s and four T1s, sixteen hosts.
Topology hall() { return build_topology(test::shape_of("hall", 8, 4, 4, 4)); }

/// What each host received between two instants, as a share of its header-limited rate.
std::vector<double> received(MemFabric& fabric, FabricTime from, FabricTime to) {
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

/// Jain's index of the first transmissions of these senders: 1 if all had the same.
double fairness(MemFabric& fabric, const std::vector<uint32_t>& senders, FabricTime to) {
  std::vector<double> sent;
  for (const uint32_t h : senders) {
    sent.push_back(-static_cast<double>(fabric.stats(h).data_packets_sent));
  }
  fabric.run_until(to);
  double sum = 0, squares = 0;
  for (size_t i = 0; i < senders.size(); ++i) {
    sent[i] += static_cast<double>(fabric.stats(senders[i]).data_packets_sent);
    sum += sent[i];
    squares += sent[i] * sent[i];
  }
  return sum * sum / static_cast<double>(sent.size()) / squares;
}

}  // namespace

TEST_CASE("a permutation of all hosts at full load: every flow has 97 % of its rate" *
          doctest::test_suite(test::kWholeRun)) {
  MemFabric::Options o;
  PermutationSpec spec;
  for (uint32_t h = 0; h < 16; ++h) spec.hosts.push_back(h);
  spec.load = {Probability::kOne};
  spec.message = {256 * 1024};
  spec.shift = 5;  // across T1s for all
  o.workloads = {spec};
  MemFabric fabric(hall(), o);
  for (const double share : received(fabric, us(60), us(160))) CHECK(share > 0.97);
}

TEST_CASE("a ring all-reduce over T1s keeps 95 % of the line") {
  MemFabric::Options o;
  CollectiveSpec spec;
  for (uint32_t h = 0; h < 8; ++h) spec.hosts.push_back(h);
  spec.size = {8 << 20};
  o.workloads = {spec};
  MemFabric fabric(test::octet(), o);
  for (const double share : received(fabric, us(60), us(200))) CHECK(share > 0.95);
}

TEST_CASE("an incast of seven is fair, fills its receiver, and leaves a victim beside it its rate" *
          doctest::test_suite(test::kWholeRun)) {
  // h5..h11 from two other T0s to h0; h4, on the first sender's T0, to h1, on the receiver's.
  MemFabric::Options o;
  std::vector<uint32_t> senders;
  for (uint32_t h = 5; h < 12; ++h) {
    senders.push_back(h);
    o.workloads.emplace_back(endless(h, 0));
  }
  o.workloads.emplace_back(endless(4, 1));
  MemFabric fabric(hall(), o);
  const std::vector<double> share = received(fabric, us(100), us(300));
  CHECK(share[0] > 0.97);
  CHECK(share[1] > 0.97);
  CHECK(fabric.stats(0).trims_seen > 0);
  // Even over a few hundred RTT; from one to the next quick adapt takes from whoever is behind: its
  // gate, an eighth of the largest window, is three quarters of a seventh of the line.
  CHECK(fairness(fabric, senders, us(1200)) > 0.9);
}

TEST_CASE("ECN moves a flow off a path that another one needs, and takes no rate from it") {
  // One plane, two paths. h1 is given one of them only, and begins at 200 us; h0 has both and
  // needs one. A value that is marked loses one turn, whatever else it is told meanwhile (MRC
  // specification §9.3.1), so with two values h0's share of the marked one can fall from a half to
  // a third and no further: one turn of three.
  MemFabric::Options o;
  const Topology fabric_shape = build_topology(test::shape_of("two-paths", 1, 2, 2, 2));
  o.workloads = {endless(0, 2), endless(1, 3)};
  std::get<WriteSpec>(o.workloads[1]).at = us(200);
  o.profile = make_profile("lab", fabric_shape);
  TransportProfile one_path = *o.profile;
  one_path.ev_limit = 1;
  o.host_profiles[1] = one_path;
  MemFabric fabric(fabric_shape, o);
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
  CHECK(used[0][used[1].begin()->first] / all < 0.36);
  CHECK(share[2] > 0.97);
  CHECK(share[3] > 0.62);
  CHECK(fabric.stats(0).losses_detected == 0);
  CHECK(fabric.stats(2).trims_seen < 50);  // all from the start of the second flow
}

TEST_CASE("a receiver that asks for half takes its senders' windows down") {
  const auto window_after = [](uint32_t penalty, bool obeyed) {
    MemFabric::Options o;
    o.workloads = {endless(0, 4)};
    o.profile = make_profile("lab", test::octet());
    o.profile->receiver_penalty = obeyed;
    o.profile->receiver_penalty_sent = penalty;
    MemFabric fabric(test::octet(), o);
    fabric.stop_when_finished = false;
    fabric.run_until(us(100));
    return fabric.stats(0).window_bytes;
  };
  const uint64_t full = window_after(0, true);
  CHECK(window_after(127, true) < full / 50);
  CHECK(window_after(127, false) == full);
}
