// Deadlock of flow control: in a ring of switches under a load that goes around it, and never in planes of
// leaves and spines, whose ways go up and then down. The hosts send at full speed as soon as they may.
//
//        s0 --- s1            every host hN, at sN, sends to the one two hops on, so that each link of
//       /         \           the ring carries two flows and what waits in each switch waits for the
//     s4           s2         next one
//        \        /
//           s3

#include <doctest/doctest.h>

#include "fabric/topology/fabric_file.h"
#include "wired_plane.h"

using namespace mrclab;
using namespace mrclab::switchd;
using namespace mrclab::switchd::testing;

namespace {

Topology ring(const std::string& watchdog) {
  FabricShape shape =
      parse_fabric(read_yaml_text("name: ring\n"
                                  "switches: {s0: 0100, s1: 0200, s2: 0300, s3: 0400, s4: 0500}\n"
                                  "hosts: [[s0], [s1], [s2], [s3], [s4]]\n"
                                  "links: {s0: [s1], s1: [s2], s2: [s3], s3: [s4], s4: [s0]}\n"
                                  "roce: {watchdog: " +
                                      watchdog + "}\n",
                                  "ring"));
  shape.lossless.pfc = true;
  return build_topology(shape);
}

/// Twice as many hosts as a T0 has capacity upward.
Topology leaves_and_spines() {
  FabricShape shape;
  shape.name = "planes";
  shape.planes = 1;
  shape.t0 = 5;
  shape.t1 = 2;
  shape.hosts_per_t0 = 4;
  shape.lossless.pfc = true;
  return build_topology(shape);
}

constexpr FabricTime kSendUntil = FabricTime::from_us(400), kAllOver = FabricTime::from_us(1'200);

/// Everybody sends to the host so many numbers on.
class FullLoad {
 public:
  FullLoad(Topology fabric, uint32_t shift) : plane(std::move(fabric)) {
    const Topology& topology = plane.topology;
    const uint32_t hosts = topology.host_count();
    for (FabricTime t = FabricTime::from_us(1); t < kSendUntil; t += ps(kFrameTime)) {
      plane.run(t);
      for (uint32_t host = 0; host < hosts; ++host) {
        if (!plane.may_send(host, t)) continue;
        plane.send(host, t, frame(host, (host + shift) % hosts));
        ++sent;
      }
    }
    plane.run(kAllOver);
    for (uint32_t host = 0; host < hosts; ++host) {
      for (const auto& [at, bytes] : plane.delivered(host)) {
        ++delivered;
        if (at > last) last = at;
      }
    }
    for (const NodeSite& site : topology.nodes) {
      if (site.role == NodeRole::kHost) continue;
      for (const PortCounters& port : plane.node(site.name).counters().ports) {
        waiting += port.queued;
        pauses += port.xoff_sent;
        in_storm += port.dropped(DropCause::kPauseStorm);
      }
    }
  }

  WiredPlane plane;
  uint64_t sent = 0, delivered = 0, waiting = 0, pauses = 0, in_storm = 0;
  FabricTime last;

 private:
  std::vector<uint8_t> frame(uint32_t from, uint32_t to) const {
    std::vector<uint8_t> bytes =
        bytes_of({.dscp = kDscpLossless, .filling = static_cast<uint8_t>(from * 37)});
    const Ipv6Address source = host_address(plane.topology, from);
    const Ipv6Address destination = host_address(plane.topology, to);
    std::copy(source.begin(), source.end(), bytes.begin() + 22);
    std::copy(destination.begin(), destination.end(), bytes.begin() + 38);
    bytes[20] = 17;
    return bytes;
  }
};

}  // namespace

TEST_CASE("in a ring of buffers everything stands for ever, though nothing is lost") {
  const FullLoad load(ring("off"), 2);
  CHECK(load.delivered > 50);
  CHECK(load.waiting > 20);
  CHECK(load.sent == load.delivered + load.waiting);
  CHECK(load.last < FabricTime::from_us(300));
  CHECK(load.in_storm == 0);
}

TEST_CASE("a watchdog ends a deadlock by what it drops, and all that was not dropped arrives") {
  const FullLoad stuck(ring("off"), 2);
  const FullLoad load(ring("{detect: 50us, restore: 20us}"), 2);
  CHECK(load.in_storm > 0);
  CHECK(load.waiting == 0);
  CHECK(load.sent == load.delivered + load.in_storm);
  CHECK(load.last > stuck.last + FabricTime::from_us(100));
  CHECK(load.delivered > 2 * stuck.delivered);
}

TEST_CASE("planes of leaves and spines pause under that load, and everything arrives") {
  for (const uint32_t shift : {4u, 9u, 13u}) {
    const FullLoad load(leaves_and_spines(), shift);
    CHECK(load.pauses > 100);
    CHECK(load.waiting == 0);
    CHECK(load.sent == load.delivered);
    CHECK(load.plane.topology.host_count() == 20);
  }
}
