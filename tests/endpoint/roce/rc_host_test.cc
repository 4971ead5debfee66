// RC in whole hosts with real switches: several queue pairs and ports, both transports side by side, and what
// a path that dies means to a queue pair that has no other.

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "endpoint/options/profile_maker.h"
#include "fabric/topology/build_topology.h"
#include "tests/support/fabrics.h"
#include "tests/support/sim_fabric.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::SimFabric;
using mrclab::test::us;

namespace {

Topology roce_fabric(uint32_t planes, uint64_t gbps = 100) {
  FabricShape shape = test::shape_of("roce", planes, 2, 4, 2);
  shape.routing.by_default = Routing::kEcmp;
  shape.host_rate = shape.fabric_rate = BitRate::from_gbps(gbps);
  shape.lossless.pfc = true;
  return build_topology(shape);
}

WriteSpec roce_writes(uint32_t from, uint32_t to, uint32_t count, uint32_t qps) {
  WriteSpec spec;
  spec.from = from;
  spec.to = to;
  spec.size = {256 * 1024};
  spec.count = count;
  spec.qps = qps;
  return spec;
}

SimFabric::Options roce_options(const Topology& topology, std::vector<WorkloadSpec> workloads) {
  SimFabric::Options options;
  options.profile = make_profile("roce", topology);
  options.profile->timers = RcTimers::kCompressed;
  options.workloads = std::move(workloads);
  return options;
}

}  // namespace

TEST_CASE(
    "one fat port: sixteen queue pairs are sixteen flows over one NIC port, spread over uplinks") {
  const Topology topology = roce_fabric(1, 800);
  SimFabric fabric(topology, roce_options(topology, {roce_writes(0, 2, 64, 16)}));
  std::set<uint16_t> flows;  // UDP source ports
  fabric.observer(0).on_packet = [&](const PacketRecord& r) {
    MrcPacket packet;
    if (r.direction != Direction::kEgress || r.queue != QueueClass::kLossless) return;
    if (parse_mrc_frame(r.frame.bytes(), packet) != ParseError::kNone) return;
    flows.insert(packet.udp.source_port);
  };
  std::set<uint32_t> uplinks;
  fabric.node_observer(topology.port({topology.host(0), PortId{0}}).peer.node).on_packet =
      [&](const PacketRecord& r) {
        if (r.direction == Direction::kEgress && r.queue == QueueClass::kLossless) {
          uplinks.insert(r.port.value);
        }
      };
  fabric.run_until(us(20'000));
  CHECK(fabric.stats(0).writes_completed == 64);
  CHECK(fabric.stats(0).qps == 16);
  CHECK(fabric.stats(2).bytes_verified == uint64_t{64} * 256 * 1024);
  CHECK(flows.size() == 16);
  CHECK(uplinks.size() == 4);
}

TEST_CASE("one port of several planes: each queue pair has one, and sixteen share eight evenly") {
  const Topology topology = roce_fabric(8);
  uint32_t qps = 16;
  SUBCASE("sixteen use all ports") {}
  SUBCASE("one uses one") { qps = 1; }
  SimFabric fabric(topology, roce_options(topology, {roce_writes(0, 2, 64, qps)}));
  fabric.run_until(us(20'000));
  const HostStats sender = fabric.stats(0);
  CHECK(sender.writes_completed == 64);
  CHECK(fabric.stats(2).bytes_verified == uint64_t{64} * 256 * 1024);
  for (uint32_t plane = 0; plane < 8; ++plane) {
    const uint64_t share = qps == 16    ? uint64_t{8} * 256 * 1024
                           : plane == 0 ? uint64_t{64} * 256 * 1024
                                        : 0;
    CHECK(sender.planes[plane].tx_payload_bytes == share);
  }
}

TEST_CASE("collectives stripe each message over all queue pairs, and verify over RC") {
  const Topology topology = roce_fabric(4);
  CollectiveSpec spec;
  spec.hosts = {0, 1, 2, 3};
  spec.size = {1 << 20};
  spec.iterations = 2;
  spec.qps = 4;
  for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllToAll}) {
    spec.kind = kind;
    SimFabric fabric(topology, roce_options(topology, {spec}));
    fabric.run_until(us(20'000));
    for (uint32_t host = 0; host < 4; ++host) {
      const HostStats stats = fabric.stats(host);
      CHECK(stats.collectives_completed == 2);
      CHECK(stats.bytes_mismatched == 0);
      const auto sent = [&](uint32_t plane) { return stats.planes[plane].tx_payload_bytes; };
      for (uint32_t plane = 1; plane < 4; ++plane) CHECK(sent(plane) == sent(0));
    }
  }
}

TEST_CASE("a path that dies takes its queue pair with it, and no other") {
  const Topology topology = roce_fabric(4);
  SimFabric::Options options = roce_options(topology, {roce_writes(0, 2, 400, 4)});
  SimFabric fabric(topology, options);
  fabric.set_wires(us(50), fabric.link_of("h0:p2"), false);
  fabric.run_until(us(30'000));
  const HostStats sender = fabric.stats(0);
  CHECK(sender.qps_in_error == 1);
  REQUIRE(sender.qp_errors.size() == 1);
  CHECK(sender.qp_errors[0].reason == "Retry Counter Exceeded");
  CHECK(sender.timeouts == 8);
  CHECK(sender.writes_completed >= 300);
  CHECK(sender.writes_completed < 400);
  CHECK(fabric.stats(2).bytes_mismatched == 0);
}

TEST_CASE("a flap that is shorter than the retries costs time, not the queue pair") {
  const Topology topology = roce_fabric(1);
  SimFabric fabric(topology, roce_options(topology, {roce_writes(0, 2, 40, 1)}));
  fabric.set_link(us(50), fabric.link_of("h0:p0"), false);
  fabric.set_link(us(1'000), fabric.link_of("h0:p0"), true);
  fabric.run_until(us(30'000));
  const HostStats sender = fabric.stats(0);
  CHECK(sender.qps_in_error == 0);
  CHECK(sender.timeouts > 0);
  CHECK(sender.writes_completed == 40);
  CHECK(fabric.stats(2).bytes_verified == uint64_t{40} * 256 * 1024);
}

TEST_CASE("marks become CNPs at most once in the interval, of a queue pair, a host or a port") {
  const Topology topology = roce_fabric(1);
  struct Row {
    CnpScope scope;
    size_t limiters;
    uint32_t (*limiter_of)(uint32_t host, uint32_t qp);
  };
  // Two queue pairs of each of two hosts send to one: two to one, by four queue pairs.
  const Row rows[] = {
      {CnpScope::kQueuePair, 4, [](uint32_t host, uint32_t qp) { return host << 24 | qp; }},
      {CnpScope::kDestination, 2, [](uint32_t host, uint32_t) { return host; }},
      {CnpScope::kPort, 1, [](uint32_t, uint32_t) { return 0u; }}};
  uint64_t sent_before = UINT64_MAX;
  for (const Row& row : rows) {
    CAPTURE(row.limiters);
    SimFabric::Options options =
        roce_options(topology, {roce_writes(0, 2, 60, 2), roce_writes(1, 2, 60, 2)});
    options.profile->cnp_scope = row.scope;
    SimFabric fabric(topology, options);
    std::map<uint32_t, std::vector<FabricTime>> cnps;  // by limiter
    fabric.observer(2).on_packet = [&](const PacketRecord& r) {
      MrcPacket packet;
      if (r.direction != Direction::kEgress ||
          parse_mrc_frame(r.frame.bytes(), packet) != ParseError::kNone ||
          packet.bth.opcode != Opcode::kCongestionNotification) {
        return;
      }
      CHECK(r.queue == QueueClass::kControl);
      CHECK(packet.inner.ecn() == kEcnEct0);
      CHECK(packet.bth.psn == Psn{0});
      CHECK(packet.bth.variant_reserved == kBecn);
      const uint32_t host = packet.inner.destination == host_address(topology, 0) ? 0 : 1;
      cnps[row.limiter_of(host, packet.bth.destination_qp.value)].push_back(r.t);
    };
    fabric.run_until(us(30'000));
    CHECK(fabric.stats(2).cnps_sent > 10);
    CHECK(fabric.stats(2).cnps_sent < sent_before);
    sent_before = fabric.stats(2).cnps_sent;
    CHECK(cnps.size() == row.limiters);
    for (const auto& [limiter, times] : cnps) {
      for (size_t i = 1; i < times.size(); ++i) {
        // They may wait for the port behind an ACK.
        CHECK(times[i] - times[i - 1] > options.profile->cnp_interval - test::ns(100));
      }
    }
    CHECK(fabric.stats(0).cnps_received + fabric.stats(1).cnps_received == sent_before);
    CHECK(fabric.stats(2).ce_marks_seen > sent_before);
    CHECK(fabric.stats(0).writes_completed == 60);
    CHECK(fabric.stats(1).writes_completed == 60);
  }
}

TEST_CASE("MRC and RC side by side: each queue pair speaks its own, and all bytes arrive") {
  FabricShape shape = test::shape_of("both", 4, 2, 4, 2);
  shape.lossless.pfc = true;
  const Topology topology = build_topology(shape);
  WriteSpec mrc = roce_writes(0, 2, 40, 2), roce = roce_writes(1, 2, 40, 2);
  mrc.transport = TransportKind::kMrc;
  roce.transport = TransportKind::kRoce;
  SimFabric::Options options;
  options.workloads = {mrc, roce};
  SimFabric fabric(topology, options);
  fabric.run_until(us(30'000));
  CHECK(fabric.stats(0).writes_completed == 40);
  CHECK(fabric.stats(0).sacks_received > 0);
  CHECK(fabric.stats(1).writes_completed == 40);
  CHECK(fabric.stats(1).sacks_received == 0);
  CHECK(fabric.stats(2).bytes_verified == uint64_t{80} * 256 * 1024);
}

TEST_CASE("the order in which the nodes are asked changes nothing in a lossy RC run") {
  const Topology topology = roce_fabric(2);
  uint64_t hashes[2];
  for (uint32_t shuffle = 0; shuffle < 2; ++shuffle) {
    SimFabric::Options options =
        roce_options(topology, {roce_writes(0, 2, 40, 4), roce_writes(3, 0, 40, 4)});
    options.shuffle = shuffle * 7;
    SimFabric fabric(topology, options);
    fabric.stop_when_finished = false;
    for (const Wire& wire : topology.all_wires()) {
      fabric.apply(FabricTime::zero(), random_loss(wire.id, {2'000'000}));
    }
    fabric.run_until(us(5'000));
    CHECK(fabric.stats(0).retransmissions > 0);
    hashes[shuffle] = fabric.hash();
  }
  CHECK(hashes[0] == hashes[1]);
}
