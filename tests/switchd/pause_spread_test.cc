// What pauses do between switches: the headroom is enough, and what stands behind a paused port stands too.

#include <doctest/doctest.h>

#include "wired_plane.h"

using namespace mrclab;
using namespace mrclab::switchd;
using namespace mrclab::switchd::testing;

namespace {

FabricShape two_racks() {
  FabricShape shape;
  shape.name = "racks";
  shape.planes = 1;
  shape.t0 = shape.hosts_per_t0 = 2;
  shape.t1 = 1;
  shape.lossless.pfc = true;
  return shape;
}

std::vector<uint8_t> pause_of(uint16_t quanta) {
  PauseFrame pause;
  pause.classes = 1u << kLosslessPriority;
  pause.quanta[kLosslessPriority] = quanta;
  std::array<uint8_t, kPauseFrameBytes> bytes;
  write_pause(pause, MacAddress{}, bytes);
  return {bytes.begin(), bytes.end()};
}

/// From h2 or h3, behind p0.t0-1, by the one T1 to a host behind p0.t0-0.
FrameText across(uint32_t host, uint8_t dscp = kDscpLossless) {
  return {.carrier = host == 0 ? "5f00:0:2001:1000:2000:e000::" : "5f00:0:2001:1000:2000:e001::",
          .dscp = dscp};
}

struct Cable {
  double gbps;
  int64_t propagation_ns;
  uint32_t pmtu;
};

struct Filled {
  size_t dropped;
  Bytes headroom, used;
};

/// A T0 whose host takes nothing is sent to at full speed by a neighbour that starts its last frame at the
/// last instant at which it may, while the T0's own transmitter is busy with the longest frames.
Filled fill_from_full_speed(const Cable& cable, Probability buffer_lost) {
  FabricShape shape = two_racks();
  shape.fabric_rate = shape.host_rate = BitRate::from_gbps(static_cast<uint64_t>(cable.gbps));
  shape.propagation = FabricTime::from_ns(cable.propagation_ns);
  shape.pmtu = cable.pmtu;
  shape.queues.buffer_share = 0;
  Bench bench("p0.t0-0", build_topology(shape));
  const PortId uplink{2};
  if (buffer_lost.ppb > 0) bench.apply(ps(0), SwitchBuffer{bench.self, buffer_lost});
  const Wire& in = bench.topology.wire(bench.wire_into(uplink));
  const size_t longest = cable.pmtu + 130;
  const FrameText to_h1{.carrier = "5f00:0:2000:e001::", .dscp = kDscpLossless, .size = longest};
  const FrameText up{.carrier = "5f00:0:2000:1000:2001:e000::", .size = longest};
  bench.arrive_bytes(kD1, FabricTime::from_ns(1), pause_of(kPauseQuanta));
  const FabricTime sending = serialization_time(wire_length({longest}), in.rate);
  const FabricTime reaction = in.propagation + shape.switch_latency;
  FabricTime start = FabricTime::from_us(2), stopped = FabricTime::never();
  // So many frames are more than any headroom here.
  for (uint32_t i = 0; i < 4'000 && start < stopped; ++i, start += sending) {
    bench.arrive(kD0, start + sending + sending / 3, up);
    bench.arrive(uplink, start + sending + in.propagation, to_h1);
    bench.run(start + sending - ps(1));
    for (const Sent& sent : bench.notes.sent) {
      if (sent.port == uplink && lossless_quanta(sent.bytes)) stopped = sent.end + reaction;
    }
  }
  CHECK(stopped != FabricTime::never());
  bench.run(start + FabricTime::from_us(300));
  const IngressBuffer& buffer = bench.node.pause_control()->buffer();
  return {bench.notes.drops().size(), pause_headroom(bench.topology, in.id),
          buffer.most_headroom_used(uplink)};
}

}  // namespace

TEST_CASE(
    "the headroom of a cable is enough for a neighbour at full speed, and less than it used is "
    "not") {
  const Cable cables[] = {{10, 5, 4096},       {10, 500, 1024},    {25, 5'000, 4096},
                          {100, 5, 1024},      {100, 500, 4096},   {100, 500, 1024},
                          {100, 50'000, 4096}, {200, 1'500, 2048}, {400, 500, 4096},
                          {800, 25, 4096},     {800, 500, 1024},   {800, 5'000, 4096}};
  for (const Cable& cable : cables) {
    INFO(cable.gbps << " Gb/s, " << cable.propagation_ns << " ns, PMTU " << cable.pmtu);
    const Filled whole = fill_from_full_speed(cable, {0});
    CHECK(whole.dropped == 0);
    CHECK(whole.used <= whole.headroom);
    // It is not simply large: what is left is the slack of frames that may begin just before.
    CHECK(whole.used + wire_length({cable.pmtu + 160}) * 3 >= whole.headroom);
    // One byte less than was needed, and frames are lost.
    const uint64_t spare = whole.headroom.value - whole.used.value + 1;
    const uint64_t lost = spare * Probability::kOne / whole.headroom.value + 1;
    CHECK(fill_from_full_speed(cable, {static_cast<uint32_t>(lost)}).dropped > 0);
  }
}

TEST_CASE("a paused host stops a flow to its neighbour whose own path is clear, until it lets go") {
  WiredPlane plane(two_racks());
  // h1 takes nothing from 1 to 300 us. h2 and h3 send to it and to h0, half and half, at 50 Gb/s each.
  const FabricTime released = FabricTime::from_us(300);
  plane.send(1, FabricTime::from_us(1), pause_of(kPauseQuanta));
  plane.send(1, released, pause_of(0));
  const FabricTime gap = ps(2 * kFrameTime);
  const std::vector<uint8_t> blocked = bytes_of(across(1)), victim = bytes_of(across(0));
  const std::vector<uint8_t> other = bytes_of(across(0, kDscpNoTrim));
  uint32_t victims = 0;
  FabricTime at = FabricTime::from_us(2);
  FabricTime heard = FabricTime::never();
  for (; at < FabricTime::from_us(500); at += gap) {
    plane.run(at);
    const auto stops = plane.stops("p0.t0-1", PortId{0});
    if (heard == FabricTime::never() && !stops.empty()) heard = stops.front();
    if (heard == FabricTime::never()) {  // h2 keeps to the pause for good
      plane.send(2, at, victims % 2 == 0 ? blocked : victim);
      ++victims;
    }
    plane.send(3, at, other);  // MRC's data to h0
  }
  plane.run(FabricTime::from_us(600));
  CHECK(plane.drops() == 0);
  // The pause spread from the port to h1 over two hops to h2, each a little later.
  const auto by_t0 = plane.stops("p0.t0-0", PortId{2});
  const auto by_t1 = plane.stops("p0.t1-0", PortId{1});
  const auto to_h2 = plane.stops("p0.t0-1", PortId{0});
  REQUIRE_FALSE(by_t0.empty());
  REQUIRE_FALSE(by_t1.empty());
  REQUIRE_FALSE(to_h2.empty());
  CHECK(by_t0.front() < by_t1.front());
  CHECK(by_t1.front() < to_h2.front());
  CHECK(plane.stops("p0.t0-0", kD0).empty());
  CHECK(plane.stops("p0.t0-1", kD1).empty());  // h3 sends no RoCE
  // RoCE's frames to h0, whose port is free, stand while h1's are blocked; MRC's pass all the time.
  const FabricTime stands = by_t1.front() + FabricTime::from_us(20);
  size_t passed = 0, standing = 0, after = 0;
  for (const auto& [when, bytes] : plane.delivered(0)) {
    const bool roce = bytes[15] == victim[15] && bytes[14] == victim[14];
    if (when < stands || when > FabricTime::from_us(500)) continue;
    if (!roce) ++passed;
    if (roce) ++(when < released ? standing : after);
  }
  CHECK(standing == 0);
  CHECK(after > 10);
  CHECK(passed > 300);
}
