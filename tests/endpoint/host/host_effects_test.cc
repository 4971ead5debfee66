// A host that is paused, loses its power or sends what is no MRC; and what its wires do to frames.

#include <doctest/doctest.h>

#include <map>

#include "endpoint/host/host_node.h"
#include "endpoint/nic/packet_maker.h"
#include "endpoint/options/profile_maker.h"
#include "fabric/packet/headers.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/path.h"
#include "tests/support/fabrics.h"
#include "tests/support/mrc_frames.h"
#include "tests/support/sim_fabric.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::pair;
using mrclab::test::SimFabric;
using mrclab::test::us;

namespace {

SimFabric::Options reducing(uint64_t size, uint32_t iterations) {
  CollectiveSpec spec;
  spec.hosts = {0, 1};
  spec.size = {size};
  spec.iterations = iterations;
  SimFabric::Options options;
  options.workloads = {spec};
  return options;
}

SimFabric::Options writing(uint64_t size, uint32_t count) {
  WriteSpec spec;
  spec.from = 0;
  spec.to = 1;
  spec.size = {size};
  spec.count = count;
  spec.depth = 2;
  SimFabric::Options options;
  options.workloads = {spec};
  return options;
}

uint64_t dropped(SimFabric& fabric, uint32_t host, DropCause cause) {
  return fabric.observer(host).packets[{Direction::kIngress, PacketEvent::kDropped, cause}];
}

void set_host_links(SimFabric& fabric, FabricTime at, uint32_t host, bool up) {
  const NodeSite& site = fabric.topology.node(fabric.topology.host(host));
  for (const Port& port : site.ports) fabric.set_link(at, port.link, up);
}

}  // namespace

TEST_CASE("a paused host's NIC goes on; its applications are told everything, in order, later") {
  SimFabric fabric(pair(), reducing(64 << 10, 30));
  const NodeId slow = fabric.topology.host(1);
  fabric.apply(us(20), HostState{slow, HostWork::kPaused});
  fabric.apply(us(150), HostState{slow, HostWork::kRunning});
  fabric.run_until(us(40));  // what it had posted has left
  const HostStats then = fabric.stats(1);
  fabric.run_until(us(149));
  CHECK(fabric.stats(1).data_packets_sent == then.data_packets_sent);
  CHECK(fabric.stats(1).collectives_completed == then.collectives_completed);
  CHECK(fabric.stats(0).collectives_completed <= then.collectives_completed + 1);
  CHECK(fabric.stats(0).timeouts == 0);  // it acknowledges what arrives
  fabric.run_until(FabricTime::from_ms(5));
  for (const uint32_t host : {0u, 1u}) {
    CHECK(fabric.host(host).finished());
    CHECK(fabric.stats(host).collectives_completed == 30);
    CHECK(fabric.stats(host).bytes_verified == 30 * (64 << 10));
    CHECK(fabric.stats(host).bytes_mismatched == 0);
  }
  CHECK(fabric.observer(1).count("host_state", "paused") == 1);
  CHECK(fabric.observer(1).count("host_state", "running") == 1);
}

TEST_CASE("one-sided writes to a paused host arrive, and are what was sent") {
  SimFabric fabric(pair(), writing(16 << 10, 400));
  fabric.apply(us(10), HostState{fabric.topology.host(1), HostWork::kPaused});
  fabric.run_until(FabricTime::from_ms(5));
  CHECK(fabric.stats(0).writes_completed == 400);
  CHECK(fabric.stats(1).bytes_verified == 400 * (16 << 10));
  CHECK(fabric.stats(1).bytes_mismatched == 0);
}

TEST_CASE("a host that starts while it is paused starts its applications when it goes on") {
  SimFabric fabric(pair(), writing(16 << 10, 10));
  fabric.apply(us(0), HostState{fabric.topology.host(0), HostWork::kPaused});
  fabric.apply(us(30), HostState{fabric.topology.host(0), HostWork::kRunning});
  fabric.run_until(us(29));
  CHECK(fabric.stats(0).data_packets_sent == 0);
  fabric.run_until(FabricTime::from_ms(1));
  CHECK(fabric.host(0).finished());
  CHECK(fabric.stats(1).bytes_verified == 10 * (16 << 10));
}

TEST_CASE("a host without power is silent, boots with an empty NIC, and holds nobody up") {
  SimFabric fabric(pair(), reducing(256 << 10, 0));
  fabric.stop_when_finished = false;
  const NodeId dead = fabric.topology.host(1);
  uint64_t sent_while_down = 0, sent_after = 0;
  fabric.observer(1).on_packet = [&](const PacketRecord& r) {
    if (r.direction != Direction::kEgress || r.event != PacketEvent::kPassed) return;
    sent_while_down += r.t > us(51) && r.t < us(100);
    sent_after += r.t >= us(100);
  };
  // It is about to repeat its port status until that is answered; nothing of that survives.
  fabric.set_link(us(49), fabric.link_of("h1:p0"), false);
  // The ports get it first; what the host had in hand is gone with its power all the same.
  set_host_links(fabric, us(50), 1, false);
  fabric.apply(us(50), HostState{dead, HostWork::kDown});
  fabric.run_until(us(50) - FabricTime::from_ps(1));
  const HostStats before = fabric.stats(1);
  CHECK(before.bytes_verified > 0);
  CHECK_FALSE(fabric.host(1).finished());
  fabric.run_until(us(99));
  CHECK(fabric.host(1).finished());
  fabric.apply(us(100), HostState{dead, HostWork::kRunning});
  set_host_links(fabric, us(100), 1, true);
  fabric.run_until(FabricTime::from_ms(2));
  CHECK(sent_while_down == 0);
  CHECK(sent_after == 0);
  CHECK(dropped(fabric, 1, DropCause::kHostDown) > 0);
  CHECK(dropped(fabric, 1, DropCause::kWireDown) > 0);
  CHECK(dropped(fabric, 1, DropCause::kNoReceiver) > 0);
  const HostStats after = fabric.stats(1);
  CHECK(after.refused_for(Refusal::kUnknownQp) > 0);
  CHECK(after.qps == 0);
  CHECK(after.bytes_verified == before.bytes_verified);
  CHECK(after.data_packets_sent == before.data_packets_sent);
  CHECK(after.qps_in_error == 0);
  CHECK(fabric.stats(0).qps_in_error == 1);  // the one that it writes on
  CHECK(fabric.host(0).finished());
}

TEST_CASE("what had arrived at a host when its power went is gone, though it is back at once") {
  SimFabric fabric(pair(), reducing(256 << 10, 0));
  const NodeId dead = fabric.topology.host(1);
  fabric.apply(us(50), HostState{dead, HostWork::kDown});
  fabric.apply(us(50) + FabricTime::from_ps(1), HostState{dead, HostWork::kRunning});
  fabric.run_until(us(60));
  const uint64_t in_hand = dropped(fabric, 1, DropCause::kHostDown);
  CHECK(in_hand > 0);
  CHECK(in_hand < 16);  // 700 ns of two ports
  CHECK(dropped(fabric, 1, DropCause::kNoReceiver) > 0);
}

TEST_CASE("a burst is so many datagrams over all ports and paths, and the other NIC drops them") {
  const Topology topology = build_topology(test::shape_of("burst", 2, 2, 3, 1));
  for (const bool alone : {true, false}) {
    CAPTURE(alone);
    SimFabric::Options options = writing(256 << 10, 4);
    if (alone) options.workloads.clear();
    SimFabric fabric(topology, options);
    fabric.stop_when_finished = false;
    std::map<std::pair<uint32_t, std::string>, uint64_t> paths;
    std::map<uint32_t, std::string> order;
    uint64_t payload = 0;
    fabric.observer(0).on_packet = [&](const PacketRecord& r) {
      if (r.direction != Direction::kEgress || r.queue != QueueClass::kData) return;
      const auto carrier = parse_ipv6(r.frame.bytes().subspan(kOuterOffset))->destination;
      const bool ours = r.frame.bytes()[kUdpOffset + 3] == kDiscardPort;
      if (r.t > us(3) && r.t < us(6)) order[r.port.value] += ours ? 'b' : 'm';
      if (!ours) return;
      payload += r.frame.modelled_size().value - kBthOffset;
      ++paths[{r.port.value, to_string(parse_carrier(topology, carrier).value().path)}];
    };
    fabric.apply(us(2), HostBurst{topology.host(0), topology.host(1), {100'000}});
    fabric.run_until(FabricTime::from_ms(1));
    CHECK(payload == 100'000);
    CHECK(fabric.stats(0).datagrams_sent == 25);
    CHECK(fabric.stats(1).refused_for(Refusal::kNotMrc) == 25);
    CHECK(dropped(fabric, 1, DropCause::kNoReceiver) == 25);
    CHECK(paths.size() == 6);
    for (const auto& [path, datagrams] : paths) CHECK(datagrams >= 4);
    if (alone) continue;
    for (const auto& [port, text] : order) {  // fair: one of each in turn
      CHECK(text.find("bb") == std::string::npos);
      CHECK(text.find("mbmbmb") != std::string::npos);
    }
    CHECK(fabric.stats(1).bytes_verified == 4 * (256 << 10));
  }
}

TEST_CASE("a burst avoids ports that the NIC avoids, and ends with the power") {
  SimFabric fabric(pair(), {});
  fabric.stop_when_finished = false;
  const NodeId from = fabric.topology.host(0);
  fabric.set_link(us(1), fabric.link_of("h0:p0"), false);
  fabric.apply(us(2), HostBurst{from, fabric.topology.host(1), {1 << 20}});
  fabric.apply(us(12), HostState{from, HostWork::kDown});
  fabric.run_until(FabricTime::from_ms(1));
  const HostStats stats = fabric.stats(0);
  CHECK(stats.planes[0].tx_packets == 0);
  CHECK(stats.planes[1].tx_packets == stats.datagrams_sent);
  CHECK(stats.datagrams_sent > 28);  // 10 us at 345 ns each
  CHECK(stats.datagrams_sent < 31);
}

TEST_CASE("what a wire duplicates, delays and hits with errors arrives once, whole and in place") {
  SimFabric fabric(pair(), writing(256 << 10, 8));
  const WireId wire = fabric.topology.port({fabric.topology.host(0), PortId{0}}).out;
  const Probability third{Probability::kOne / 3};
  fabric.apply(us(0), WireDuplicates{wire, third});
  fabric.apply(us(0), WireDelay{wire, us(3), us(2), third, true});
  fabric.apply(us(0), WireErrors{wire, {1'000'000'000}});
  fabric.run_until(FabricTime::from_ms(5));
  CHECK(fabric.host(0).finished());
  const HostStats receiver = fabric.stats(1);
  CHECK(receiver.bytes_verified == 8 * (256 << 10));
  CHECK(receiver.bytes_mismatched == 0);
  CHECK(receiver.refused_for(Refusal::kDuplicate) > 20);
  const NodeId t0 = fabric.topology.t0(0, 0);
  CHECK(fabric.observers[t0.value]
            .packets[{Direction::kIngress, PacketEvent::kDropped, DropCause::kFrameCheck}] > 2);
}

TEST_CASE("a host takes the note of damage in an elided frame for a wrong ICRC") {
  const Topology topology = test::octet();
  FramePool pool;
  const TopologyPaths paths(topology, topology.host(0));
  PacketMaker maker(pool, paths, 0, {});
  DataPacket packet;
  packet.opcode = Opcode::kWriteOnly;
  packet.ev = ev_of({3, 1});
  packet.payload = ConstMemory::elided(4096);
  packet.reth = {0x1000, 0xAB, 4096};
  struct Case {
    const char* what;
    size_t byte;
    uint8_t bits;
    Refusal expected;
  };
  for (const Case& c :
       {Case{"in the payload", 1000, 0, Refusal::kBadIcrc},
        Case{"a write becomes one with an immediate", kBthOffset, 1, Refusal::kBadIcrc},
        Case{"no opcode of MRC any more", kBthOffset, 0x40, Refusal::kMalformed},
        Case{"another address", kInnerOffset + 39, 2, Refusal::kWrongAddress}}) {
    INFO(c.what);
    test::RecordingObserver observer;
    HostConfig config;
    config.transport = make_profile("lab", topology);
    config.payload_elided = true;
    HostNode host({topology, topology.host(4), 1, pool, observer}, config);
    Arrival arrival;
    arrival.frame = maker.data(packet, {4, Qpn{0x123}}, {});
    const std::span<uint8_t> bytes = arrival.frame.writable_bytes();
    Ipv6Address carrier;
    std::copy_n(bytes.begin() + 38, 16, carrier.begin());
    for (int hop = 0; hop < 3; ++hop) shift_carrier(carrier);
    std::copy(carrier.begin(), carrier.end(), bytes.begin() + 38);
    if (c.byte < bytes.size()) bytes[c.byte] ^= c.bits;
    arrival.frame.add_damage(static_cast<uint32_t>(c.byte * 8));
    arrival.arrival = us(5);
    host.receive(PortId{3}, std::move(arrival));
    class Nowhere : public FrameSink {
      void transmit(Transmission&&) override { FAIL("it answers"); }
    } nowhere;
    host.run_until(us(10), nowhere);
    CHECK(host.stats().refused_for(c.expected) == 1);
  }
}
