// What a packet costs in a switch: receive, forwarding, queueing, ECN and trimming decisions,
// records, counters, departure. One T0 of the octet, frames of 4 KB or 128 B from all hosts to all uplinks. And what
// the table alone costs where it chooses the uplink: by a hash (ECMP), or in turn or by a hash by weight (FARE).
//   cmake --build build --target bench_switch && build/tests/bench_switch

#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "fabric/packet/headers.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/path.h"
#include "switchd/switch_node.h"

namespace mrclab::switchd {
namespace {

class Silence : public NodeObserver, public FrameSink {
 public:
  void packet(const PacketRecord& record) override { benchmark::DoNotOptimize(&record.frame); }
  void event(const EventRecord&) override {}
  void transmit(Transmission&& transmission) override {
    benchmark::DoNotOptimize(transmission.end);
    ++sent;
  }
  uint64_t sent = 0;
};

constexpr size_t kBigFrame = 14 + 124 + 4096, kSmallFrame = 128;
constexpr uint32_t kHostPorts = 4;

Topology octet() {
  FabricShape shape;
  shape.name = "octet";
  shape.planes = 8;
  shape.t0 = 2;
  shape.t1 = 4;
  shape.hosts_per_t0 = kHostPorts;
  return build_topology(shape);
}

std::vector<uint8_t> frame_to(const Topology& topology, uint32_t uplink, size_t size) {
  std::vector<uint8_t> bytes(size);
  bytes[12] = 0x86, bytes[13] = 0xDD, bytes[14] = 0x60 | kDscpTrimmable >> 2, bytes[15] = 0x20;
  bytes[18] = static_cast<uint8_t>((size - 54) >> 8), bytes[19] = static_cast<uint8_t>(size - 54);
  bytes[20] = 41, bytes[21] = 64;
  const Ipv6Address carrier = make_carrier(topology, 0, kHostPorts, Path{0, uplink});
  std::copy(carrier.begin(), carrier.end(), bytes.begin() + 38);
  return bytes;
}

/// One iteration is 256 packets. `spread` uplinks share the load of four hosts: 4 is no congestion,
/// 2 trims half of everything. The frame is copied in, as it is from a packet ring.
void forward(benchmark::State& state) {
  const auto size = static_cast<size_t>(state.range(0));
  const auto spread = static_cast<uint32_t>(state.range(1));
  const Topology topology = octet();
  FramePool pool;
  Silence silence;
  SwitchNode node({topology, topology.t0(0, 0), 1, pool, silence});
  std::vector<std::vector<uint8_t>> frames;
  for (uint32_t uplink = 0; uplink < spread; ++uplink) {
    frames.push_back(frame_to(topology, uplink, size));
  }
  const FabricTime sending = serialization_time(wire_length({size}), topology.host_rate);
  constexpr uint64_t kRounds = 64;  // frames per port between two run_until
  FabricTime now = FabricTime::from_us(10);
  uint64_t sequence = 0;
  for (auto _ : state) {
    for (uint64_t round = 0; round < kRounds; ++round, now += sending, ++sequence) {
      for (uint32_t port = 0; port < kHostPorts; ++port) {
        Arrival arrival;
        arrival.frame = pool.copy(frames[(port + sequence) % spread]);
        arrival.start = now - sending - FabricTime::from_ns(500);
        arrival.arrival = now;
        arrival.sequence = sequence;
        node.receive(PortId{port}, std::move(arrival));
      }
    }
    node.run_until(now, silence);
  }
  const PortCounters total = node.counters().total();
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kRounds * kHostPorts));
  state.counters["trimmed"] = static_cast<double>(total.trimmed) / static_cast<double>(total.rx);
  state.counters["marked"] = static_cast<double>(total.ecn_marked) / static_cast<double>(total.rx);
}
/// One iteration is one decision, of 0: ECMP, 1: FARE in turn, 2: FARE by flow.
void choose(benchmark::State& state) {
  FabricShape shape{.name = "choosing", .planes = 8, .t0 = 2, .t1 = 4, .hosts_per_t0 = kHostPorts};
  shape.routing.by_default = state.range(0) == 0 ? Routing::kEcmp : Routing::kFare;
  shape.routing.fare.spray = state.range(0) == 1 ? Spray::kPacket : Spray::kFlow;
  const Topology topology = build_topology(shape);
  ForwardingTable table(topology, topology.t0(0, 0));
  if (FareTable* fare = table.fare()) {
    FareTable::Hops hops;
    for (uint32_t i = 0; i < shape.t1; ++i) hops.push_back({PortId{kHostPorts + i}, 3 + i % 2});
    fare->set_hops(kHostPorts, hops);
  }
  const std::vector<uint8_t> whole = [&] {
    std::vector<uint8_t> bytes = frame_to(topology, 0, kSmallFrame);
    const Ipv6Address to = host_address(topology, kHostPorts);
    std::copy(to.begin(), to.end(), bytes.begin() + 38);
    return bytes;
  }();
  std::vector<uint8_t> frame = whole;
  for (auto _ : state) {
    frame[21] = whole[21];
    benchmark::DoNotOptimize(table.forward(frame, {frame.size()}));
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));
}
BENCHMARK(choose)->ArgName("how")->DenseRange(0, 2);

BENCHMARK(forward)
    ->ArgNames({"bytes", "uplinks"})
    ->Args({kBigFrame, 4})
    ->Args({kBigFrame, 2})
    ->Args({kSmallFrame, 4});

}  // namespace
}  // namespace mrclab::switchd

BENCHMARK_MAIN();
