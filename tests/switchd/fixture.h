#pragma once
// A switch on a bench: frames go in by hand, everything that it reports or sends is kept.
//
//   one plane of the bench fabric (2 planes, 2 T0, 2 T1, 2 hosts per T0, 100 Gb/s, 80 ps a byte)
//
//     p.t1-0      p.t1-1          T0 ports: 0 = d0, 1 = d1, 2 = u0, 3 = u1
//       |  \      /  |            T1 ports: 0 = d0, 1 = d1
//       |    \  /    |
//     p.t0-0      p.t0-1
//      h0 h1       h2 h3

#include <arpa/inet.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fabric/packet/headers.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/path.h"
#include "fabric/topology/topology.h"
#include "switchd/switch_node.h"
#include "tests/support/times.h"

namespace mrclab::switchd::testing {

using test::ps;

inline constexpr PortId kD0{0}, kD1{1}, kU0{2}, kU1{3};
inline constexpr FabricTime kLatency = FabricTime::from_ns(700);
inline constexpr FabricTime kPropagation = FabricTime::from_ns(500);

inline Topology bench_fabric() {
  FabricShape shape;
  shape.name = "bench";
  shape.planes = 2;
  shape.t0 = shape.t1 = shape.hosts_per_t0 = 2;
  return build_topology(shape);
}

inline Ipv6Address address(const std::string& text) {
  Ipv6Address out{};
  REQUIRE(::inet_pton(AF_INET6, text.c_str(), out.data()) == 1);
  return out;
}

/// An Ethernet frame with an outer IPv6 header; the rest is a recognisable filling, which for a
/// switch is as good as any inner packet.
struct FrameText {
  std::string carrier = "5f00:0:2000:e001::";  ///< at p0.t0-0: to h1
  uint8_t dscp = kDscpNoTrim;
  uint8_t ecn = kEcnEct0;
  uint8_t hop_limit = 64;
  size_t size = 4226;  ///< 4250 on the wire: 340,000 ps
  uint8_t filling = 0;
};

inline const FrameText kToH1{.carrier = "5f00:0:2000:e001::"};
inline constexpr int64_t kFrameTime = 340'000;  // for 4,250 bytes on the wire, in ps

inline std::vector<uint8_t> bytes_of(const FrameText& text) {
  std::vector<uint8_t> out(text.size);
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<uint8_t>(i * 7 + text.filling);
  out[12] = 0x86;
  out[13] = 0xDD;
  const uint8_t traffic_class = static_cast<uint8_t>(text.dscp << 2 | text.ecn);
  out[14] = static_cast<uint8_t>(0x60 | traffic_class >> 4);
  out[15] = static_cast<uint8_t>(traffic_class << 4 | 0x3);
  const size_t length = text.size - 54;
  out[18] = static_cast<uint8_t>(length >> 8);
  out[19] = static_cast<uint8_t>(length);
  out[20] = 41;
  out[21] = text.hop_limit;
  const Ipv6Address carrier = address(text.carrier);
  std::copy(carrier.begin(), carrier.end(), out.begin() + 38);
  return out;
}

struct SeenPacket {
  FabricTime t;
  PortId port;
  Direction direction;
  PacketEvent event;
  DropCause cause;
  QueueClass queue;
  std::vector<uint8_t> bytes;
  bool operator==(const SeenPacket&) const = default;
};

struct SeenEvent {
  FabricTime t;
  std::string kind;
  PortId port;
  bool operator==(const SeenEvent&) const = default;
};

struct Sent {
  PortId port;
  FabricTime start, end, flight;
  DropCause lost;
  std::vector<uint8_t> bytes;
  bool operator==(const Sent&) const = default;
};

class Notebook : public NodeObserver, public FrameSink {
 public:
  void packet(const PacketRecord& r) override {
    packets.push_back({r.t,
                       r.port,
                       r.direction,
                       r.event,
                       r.cause,
                       r.queue,
                       {r.frame.bytes().begin(), r.frame.bytes().end()}});
  }
  void event(const EventRecord& r) override {
    events.push_back({r.t, std::string(r.kind), r.port.value_or(PortId{})});
  }
  void transmit(Transmission&& t) override {
    sent.push_back({t.port,
                    t.start,
                    t.end,
                    t.flight,
                    t.lost,
                    {t.frame.bytes().begin(), t.frame.bytes().end()}});
  }

  std::vector<SeenPacket> drops() const {
    std::vector<SeenPacket> out;
    for (const SeenPacket& p : packets) {
      if (p.event == PacketEvent::kDropped) out.push_back(p);
    }
    return out;
  }
  size_t count(PacketEvent event, Direction direction) const {
    return static_cast<size_t>(std::count_if(packets.begin(), packets.end(), [&](const auto& p) {
      return p.event == event && p.direction == direction;
    }));
  }

  std::vector<SeenPacket> packets;
  std::vector<SeenEvent> events;
  std::vector<Sent> sent;
};

class Bench {
 public:
  explicit Bench(const std::string& name = "p0.t0-0", Topology fabric = bench_fabric(),
                 uint64_t seed = 1)
      : topology(std::move(fabric)),
        self(topology.find_node(name).value()),
        node({topology, self, seed, pool, notes}) {}

  /// The last bit of `text` arrives at `at`; it was sent at full rate from just before.
  void arrive(PortId port, FabricTime at, const FrameText& text) {
    arrive_bytes(port, at, bytes_of(text));
  }
  void arrive_bytes(PortId port, FabricTime at, const std::vector<uint8_t>& bytes) {
    Arrival arrival;
    arrival.frame = pool.copy(bytes);
    const FabricTime sending = serialization_time(
        arrival.frame.wire_length(), topology.wire(topology.port({self, port}).in).rate);
    arrival.start = at - kPropagation - sending;
    arrival.arrival = at;
    arrival.sequence = sequence_++;
    node.receive(port, std::move(arrival));
  }
  void apply(FabricTime at, const Effect& effect) { node.apply({at, effect, effect_sequence_++}); }
  void run(FabricTime until = FabricTime::from_ms(10)) { node.run_until(until, notes); }

  WireId wire_into(PortId port) const { return topology.port({self, port}).in; }
  WireId wire_out_of(PortId port) const { return topology.port({self, port}).out; }
  PortCounters counters(PortId port) const { return node.counters().ports[port.value]; }

  Topology topology;
  NodeId self;
  FramePool pool;
  Notebook notes;
  SwitchNode node;

 private:
  uint64_t sequence_ = 0;
  uint64_t effect_sequence_ = 0;
};

}  // namespace mrclab::switchd::testing
