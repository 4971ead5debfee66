// Workloads on whole fabrics with real hosts and switches: collectives, several queue pairs,
// writes with a depth, incast beside a victim, ping-pong, start times.

#include <doctest/doctest.h>

#include "endpoint/host/host_node.h"
#include "endpoint/workload/collective_layout.h"
#include "endpoint/workload/stream.h"
#include "fabric/topology/build_topology.h"
#include "tests/endpoint/workload/collective_kinds.h"
#include "tests/support/fabrics.h"
#include "tests/support/sim_fabric.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::kCollectiveKinds;
using mrclab::test::SimFabric;
using mrclab::test::us;

namespace {

CollectiveSpec collective(CollectiveKind kind, const Topology& topology, uint64_t size,
                          uint32_t qps) {
  CollectiveSpec spec;
  spec.kind = kind;
  for (uint32_t h = 0; h < topology.host_count(); ++h) spec.hosts.push_back(h);
  spec.size = {size};
  spec.iterations = 3;
  spec.qps = qps;
  return spec;
}

SimFabric::Options ending(WorkloadSpec spec, FabricTime end = FabricTime::never()) {
  SimFabric::Options o;
  o.workloads = {std::move(spec)};
  o.end = end;
  return o;
}

/// Result bytes of one iteration over all hosts, by hand.
uint64_t results(CollectiveKind kind, uint64_t size, uint64_t hosts) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kSendRecv: return size * hosts;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kAllToAll: return size * (hosts - 1);
    case CollectiveKind::kReduceScatter: return size;
  }
  return 0;
}

void check_collective(SimFabric& fabric, const CollectiveSpec& spec) {
  uint64_t verified = 0, wrong = 0, errors = 0;
  const uint64_t hosts = fabric.topology.host_count();
  for (uint32_t h = 0; h < hosts; ++h) {
    const HostStats stats = fabric.stats(h);
    CHECK(stats.collectives_completed == spec.iterations);
    verified += stats.bytes_verified;
    wrong += stats.bytes_mismatched;
    errors += stats.qps_in_error;
    const std::vector<WorkReport> work = fabric.host(h).work();
    REQUIRE(work.size() == 1);
    CHECK(work[0].done == spec.iterations);
    CHECK(work[0].from == h);
  }
  CHECK(verified == spec.iterations * results(spec.kind, spec.size.value, hosts));
  CHECK(wrong == 0);
  CHECK(errors == 0);
}

/// Every wire of a host's first two planes loses one frame in a hundred: loss, and with it far more
/// reordering than spraying makes.
void make_lossy(SimFabric& fabric, uint32_t host) {
  for (const char* port : {":p0", ":p1"}) {
    const LinkId link = fabric.link_of("h" + std::to_string(host) + port);
    fabric.apply(us(0), random_loss(fabric.topology.link(link).a_to_b(), {10'000'000}));
    fabric.apply(us(0), random_loss(fabric.topology.link(link).b_to_a(), {10'000'000}));
  }
}

}  // namespace

TEST_CASE("every collective verifies every byte on the octet while wires lose and reorder") {
  for (const CollectiveKind kind : kCollectiveKinds) {
    for (const uint32_t qps : {1u, 4u}) {
      for (const bool slotted : {false, true}) {
        CAPTURE(name_of(kind));
        CAPTURE(qps);
        CAPTURE(slotted);
        CollectiveSpec spec = collective(kind, test::octet(), 512 << 10, qps);
        if (slotted) spec.slots = SlotSpec{{32 << 10}, 8, 3};
        SimFabric fabric(test::octet(), ending(spec));
        make_lossy(fabric, 2);
        make_lossy(fabric, 5);
        fabric.run_until(us(20'000));
        check_collective(fabric, spec);
      }
    }
  }
}

TEST_CASE("every collective is right over three hosts with sizes that three does not divide") {
  const Topology three = build_topology(test::shape_of("three", 2, 1, 0, 3));
  for (const CollectiveKind kind : kCollectiveKinds) {
    for (const uint64_t elements : {4u, 10'001u, 100'003u}) {
      for (const bool slotted : {false, true}) {
        CAPTURE(name_of(kind));
        CAPTURE(elements);
        CAPTURE(slotted);
        CollectiveSpec spec = collective(kind, three, 4 * elements, 1);
        if (slotted) spec.slots = SlotSpec{{64 << 10}, 4, 2};
        SimFabric fabric(three, ending(spec));
        make_lossy(fabric, 1);
        fabric.run_until(us(20'000));
        check_collective(fabric, spec);
      }
    }
  }
}

TEST_CASE("a vector of one element is padded to one for each host") {
  for (const CollectiveKind kind : kCollectiveKinds) {
    CAPTURE(name_of(kind));
    for (const bool slotted : {false, true}) {
      CAPTURE(slotted);
      CollectiveSpec spec = collective(kind, test::octet(), 4, 4);
      if (slotted) spec.slots = SlotSpec{{32 << 10}, 8, 4};
      SimFabric fabric(test::octet(), ending(spec));
      fabric.run_until(us(2000));
      if (kind != CollectiveKind::kSendRecv) spec.size = {4 * 8};
      check_collective(fabric, spec);
    }
  }
}

TEST_CASE("four queue pairs of a connection share its writes and one window") {
  WriteSpec spec;
  spec.to = 5;
  spec.size = {64 << 10};
  spec.count = 202;
  spec.qps = 4;
  SimFabric fabric(test::octet(), ending(spec));
  fabric.run_until(us(5000));
  CHECK(fabric.stats(0).qps == 4);
  CHECK(fabric.stats(5).bytes_verified == 202u * (64 << 10));
  CHECK(fabric.stats(5).bytes_mismatched == 0);
  const std::vector<WorkReport> work = fabric.host(0).work();
  REQUIRE(work.size() == 4);
  CHECK(work[0].done == 51);
  CHECK(work[1].done == 51);
  CHECK(work[2].done == 50);
  CHECK(work[3].done == 50);
  for (uint32_t q = 0; q < 4; ++q) CHECK(work[q].queue == q);
  // One window for all four: what is in flight fits the switches' buffers, so nothing is trimmed.
  CHECK(fabric.stats(5).trims_seen == 0);
}

TEST_CASE("a depth of one posts the next write when the last one is acknowledged") {
  WriteSpec spec;
  spec.to = 1;
  spec.size = {4096};
  spec.count = 5;
  spec.depth = 1;
  SimFabric fabric(test::octet(), ending(spec));
  fabric.run_until(us(1000));
  const WorkReport work = fabric.host(0).work().at(0);
  REQUIRE(work.samples.size() == 5);
  for (size_t i = 1; i < 5; ++i) CHECK(work.samples[i].from == work.samples[i - 1].to);
  CHECK(work.first == us(0));
  CHECK(work.last == work.samples.back().to);
}

TEST_CASE("a workload starts at its time, with an offered load too") {
  WriteSpec write;
  write.to = 1;
  write.size = {4096};
  write.at = us(7);
  PermutationSpec permutation;
  permutation.hosts = {2, 3};
  permutation.load = {500'000'000};
  permutation.message = {4096};
  permutation.qps = 2;
  permutation.at = us(30);
  SimFabric::Options both = ending(write, us(50));
  both.workloads.emplace_back(permutation);
  PingPongSpec ping;
  ping.from = 4;
  ping.to = 5;
  ping.size = {8};
  ping.at = us(11);
  both.workloads.emplace_back(ping);
  SimFabric fabric(test::octet(), both);
  fabric.stop_when_finished = false;
  fabric.run_until(us(60));
  CHECK(fabric.host(0).work().at(0).first == us(7));
  CHECK(fabric.host(4).work().at(0).first == us(11));
  const std::vector<WorkReport> work = fabric.host(2).work();
  REQUIRE(work.size() == 2);
  CHECK(work[0].first == us(30));
  // The second queue pair begins one message later: together they offer the load.
  const FabricTime interval =
      message_interval({4096}, 4096, fabric.topology.host_rate, 8, permutation.load);
  CHECK(work[1].first == us(30) + interval);
  CHECK(work[0].samples.at(1).from == us(30) + interval * 2);
}

TEST_CASE("a ping-pong takes what the wires, switches and hosts take, twice") {
  PingPongSpec spec;
  spec.to = 1;
  spec.size = {2};
  spec.count = 20;
  const FabricShape shape = test::shape_of("octet", 8, 2, 4, 4);
  const Topology octet = build_topology(shape);
  SimFabric fabric(octet, ending(spec));
  fabric.run_until(us(1000));
  const std::vector<WorkReport> work = fabric.host(0).work();
  REQUIRE(work.size() == 1);
  CHECK(work[0].done == 20);
  CHECK(fabric.host(1).work().empty());
  // Ethernet 14, two IPv6 headers, UDP 8, BTH 12, METH 4, TSETH 4, RETH 16, immediate 4, data 2 and
  // its pad 2, ICRC 4; FCS 4, preamble and gap 20.
  const Bytes wire{14 + 80 + 8 + 12 + 4 + 4 + 16 + 4 + 4 + 4 + 4 + 20};
  const FabricTime one_way = (serialization_time(wire, octet.host_rate) + shape.propagation) * 2 +
                             octet.switch_latency + octet.host_latency;
  CHECK(work[0].samples[0].to - work[0].samples[0].from == one_way * 2);
  CHECK(fabric.stats(0).bytes_verified == 40);
  CHECK(fabric.stats(1).bytes_verified == 40);
  CHECK(fabric.stats(0).bytes_mismatched + fabric.stats(1).bytes_mismatched == 0);
}

TEST_CASE("a ping-pong of many packets survives loss and stays right") {
  PingPongSpec spec;
  spec.to = 6;
  spec.size = {100'001};
  spec.count = 30;
  SimFabric fabric(test::octet(), ending(spec));
  make_lossy(fabric, 0);
  fabric.run_until(us(20'000));
  CHECK(fabric.host(0).work().at(0).done == 30);
  CHECK(fabric.stats(0).bytes_verified == 30u * 100'001);
  CHECK(fabric.stats(6).bytes_verified == 30u * 100'001);
  CHECK(fabric.stats(0).bytes_mismatched + fabric.stats(6).bytes_mismatched == 0);
  CHECK(fabric.stats(0).retransmissions + fabric.stats(6).retransmissions > 0);
}

TEST_CASE("an incast has a flow from every sender, and one of the victim") {
  IncastSpec spec;
  spec.from = {1, 2, 3};
  spec.to = 0;
  spec.victim = IncastSpec::Flow{5, 1};
  spec.load = {200'000'000};
  spec.message = {16 << 10};
  SimFabric fabric(test::octet(), ending(spec, us(100)));
  fabric.stop_when_finished = false;
  fabric.run_until(us(130));
  for (const uint32_t from : {1u, 2u, 3u, 5u}) {
    const std::vector<WorkReport> work = fabric.host(from).work();
    REQUIRE(work.size() == 1);
    CHECK(work[0].from == from);
    CHECK(work[0].to == (from == 5 ? 1u : 0u));
    // 20 % of 800 Gb/s for 100 us, less headers: 122 messages of 16 KiB are offered at most.
    CHECK(work[0].done > 110);
    CHECK(work[0].done <= 122);
  }
  CHECK(fabric.stats(0).bytes_mismatched + fabric.stats(1).bytes_mismatched == 0);
}
