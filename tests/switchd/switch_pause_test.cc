// Priority-based flow control of one switch, to the picosecond, and the room that it needs.

#include <doctest/doctest.h>

#include "fabric/packet/pause_frame.h"
#include "fixture.h"

using namespace mrclab;
using namespace mrclab::switchd;
using namespace mrclab::switchd::testing;

namespace {

const FrameText kLosslessToH1{.carrier = "5f00:0:2000:e001::", .dscp = kDscpLossless};
const FrameText kLosslessToUplink0{.carrier = "5f00:0:2000:1000:2001:e000::",
                                   .dscp = kDscpLossless};
const FrameText kDataToUplink0{.carrier = "5f00:0:2000:1000:2001:e000::"};
constexpr int64_t kPauseFrameTime = 84 * 80;

/// Without a pool: the second frame of 4,250 bytes that waits is more than the reserve.
FabricShape pausing_shape() {
  FabricShape shape;
  shape.name = "pausing";
  shape.planes = 1;
  shape.t0 = shape.t1 = shape.hosts_per_t0 = 2;
  shape.queues.buffer_share = 0;
  shape.lossless.pfc = true;
  return shape;
}

struct PauseBench : Bench {
  explicit PauseBench(const FabricShape& shape = pausing_shape())
      : Bench("p0.t0-0", build_topology(shape)) {}

  void pause_arrives(PortId port, FabricTime at, uint16_t quanta) {
    PauseFrame pause;
    pause.classes = 1u << kLosslessPriority;
    pause.quanta[kLosslessPriority] = quanta;
    frame_arrives(port, at, pause);
  }
  void frame_arrives(PortId port, FabricTime at, const PauseFrame& pause) {
    std::array<uint8_t, kPauseFrameBytes> bytes;
    write_pause(pause, MacAddress{}, bytes);
    arrive_bytes(port, at, {bytes.begin(), bytes.end()});
  }
  /// What left by a port that is a pause frame, or that is none.
  std::vector<Sent> sent_by(PortId port, bool pauses) const {
    std::vector<Sent> out;
    for (const Sent& sent : notes.sent) {
      if (sent.port == port && is_mac_control(sent.bytes) == pauses) out.push_back(sent);
    }
    return out;
  }
  std::vector<FabricTime> starts(PortId port, bool pauses = false) const {
    std::vector<FabricTime> out;
    for (const Sent& sent : sent_by(port, pauses)) out.push_back(sent.start);
    return out;
  }
};

using Times = std::vector<FabricTime>;

}  // namespace

TEST_CASE(
    "a port whose part is used up asks its neighbour to stop, and lets it go when it is free") {
  PauseBench bench;
  bench.arrive(kD0, ps(1'000'000), kLosslessToH1);  // leaves at once
  bench.arrive(kU0, ps(1'000'000), kLosslessToH1);  // waits, and is more than the reserve
  bench.run();
  CHECK(bench.starts(kD0, true).empty());
  const std::vector<Sent> pauses = bench.sent_by(kU0, true);
  REQUIRE(pauses.size() == 2);
  CHECK(pauses[0].start == ps(1'700'000));
  CHECK(pauses[0].end == ps(1'700'000 + kPauseFrameTime));
  CHECK(lossless_quanta(pauses[0].bytes) == kPauseQuanta);
  // It may go on when the frame that waited starts.
  CHECK(pauses[1].start == ps(1'700'000 + kFrameTime));
  CHECK(lossless_quanta(pauses[1].bytes) == 0);
  CHECK(bench.counters(kU0).xoff_sent == 1);
  CHECK(bench.counters(kU0).xon_sent == 1);
  CHECK(bench.notes.drops().empty());
}

TEST_CASE("the request to stop leaves next after the frame in flight, before all that waits") {
  PauseBench bench;
  for (int i = 0; i < 3; ++i) bench.arrive(kD1, ps(900'000 + i), kDataToUplink0);
  bench.arrive(kD0, ps(1'000'000), kLosslessToH1);
  bench.arrive(kU0, ps(1'000'000), kLosslessToH1);
  bench.run();
  const int64_t first = 1'600'000, then = first + kFrameTime + kPauseFrameTime;
  CHECK(bench.starts(kU0, true)[0] == ps(first + kFrameTime));
  // The rest goes on behind it; between the second and the third comes the leave to go on.
  CHECK(bench.starts(kU0) == Times{ps(first), ps(then), ps(then + kFrameTime + kPauseFrameTime)});
}

TEST_CASE("a request is repeated after half of the time that it asked for, while it is needed") {
  PauseBench bench;
  bench.pause_arrives(kD1, ps(300'000), kPauseQuanta);  // h1 takes nothing for 335,539,200 ps
  bench.arrive(kU0, ps(1'000'000), kLosslessToH1);
  bench.run();
  const FabricTime longest = pause_time(kPauseQuanta, BitRate::from_gbps(100));
  const Times times = bench.starts(kU0, true);
  REQUIRE(times.size() == 3);
  CHECK(times[0] == ps(1'700'000));
  CHECK(times[1] == ps(1'700'000) + longest / 2);
  CHECK(times[2] == ps(1'000'000) + longest);  // h1 takes it again
  CHECK(bench.starts(kD1) == Times{ps(1'000'000) + longest});
}

TEST_CASE(
    "a pause stops RoCE's data one ingress latency after its last bit, after the frame in flight") {
  PauseBench bench;
  const uint16_t quanta = 100;
  bench.pause_arrives(kU0, ps(2'000'000), quanta);
  bench.arrive(kD0, ps(1'999'999), kLosslessToUplink0);  // starts 1 ps before
  bench.arrive(kD0, ps(2'000'001), kLosslessToUplink0);
  bench.arrive(kD1, ps(2'000'001), kDataToUplink0);
  bench.run();
  const int64_t stopped = 2'700'000, goes_on = stopped + 100 * 64 * 80;
  const std::vector<Sent> sent = bench.sent_by(kU0, false);
  REQUIRE(sent.size() == 3);
  CHECK(sent[0].start == ps(stopped - 1));
  CHECK(sent[1].start == ps(stopped - 1 + kFrameTime));  // MRC's data
  CHECK(sent[1].bytes[15] == bytes_of(kDataToUplink0)[15]);
  CHECK(sent[2].start == ps(stopped - 1 + 2 * kFrameTime));
  CHECK(sent[2].start >= ps(goes_on));
  CHECK(bench.counters(kU0).xoff_received == 1);
}

TEST_CASE("a pause ends to the picosecond, or with the leave to go on") {
  for (const bool told : {false, true}) {
    PauseBench bench;
    bench.pause_arrives(kU0, ps(2'000'000), 1'000);
    bench.arrive(kD0, ps(2'100'000), kLosslessToUplink0);
    if (told) bench.pause_arrives(kU0, ps(3'000'000), 0);
    bench.run();
    CHECK(bench.starts(kU0) == Times{told ? ps(3'700'000) : ps(2'700'000 + 1'000 * 64 * 80)});
    CHECK(bench.counters(kU0).xon_received == (told ? 1 : 0));
  }
}

TEST_CASE("pause frames end at the switch; those about other classes stop nothing") {
  PauseBench bench;
  PauseFrame others;
  others.classes = 0xFF ^ 1u << kLosslessPriority;
  others.quanta.fill(kPauseQuanta);
  bench.frame_arrives(kU0, ps(1'000'000), others);
  bench.arrive(kD0, ps(2'000'000), kLosslessToUplink0);
  std::vector<uint8_t> plain(60, 0);  // the older PAUSE of 802.3x, for all classes
  plain[12] = 0x88, plain[13] = 0x08, plain[15] = 0x01, plain[16] = plain[17] = 0xFF;
  bench.arrive_bytes(kU0, ps(1'100'000), plain);
  bench.run();
  CHECK(bench.starts(kU0) == Times{ps(2'700'000)});
  CHECK(bench.notes.drops().empty());
  CHECK(bench.notes.sent.size() == 1);
  CHECK(bench.notes.packets[0].queue == QueueClass::kPause);
}

TEST_CASE("a broken pause frame stops nothing and is dropped under a name") {
  PauseBench bench;
  PauseFrame pause;
  pause.classes = 1u << kLosslessPriority;
  pause.quanta.fill(kPauseQuanta);
  std::array<uint8_t, kPauseFrameBytes> whole;
  write_pause(pause, MacAddress{}, whole);
  for (const size_t size : {14u, 16u, 33u}) {
    bench.arrive_bytes(kU0, ps(1'000'000), {whole.begin(), whole.begin() + size});
  }
  bench.arrive(kD0, ps(2'000'000), kLosslessToUplink0);
  bench.run();
  CHECK(bench.starts(kU0) == Times{ps(2'700'000)});
  const std::vector<SeenPacket> drops = bench.notes.drops();
  REQUIRE(drops.size() == 3);
  for (const SeenPacket& drop : drops) {
    CHECK(drop.cause == DropCause::kMalformed);
    CHECK(drop.queue == QueueClass::kPause);
  }
}

TEST_CASE("with the carrier go the pauses of both directions, and the frames that waited") {
  PauseBench bench;
  bench.pause_arrives(kU0, ps(1'000'000), kPauseQuanta);
  bench.arrive(kD0, ps(1'500'000), kLosslessToUplink0);
  const PortRef port{bench.self, kU0};
  bench.apply(ps(3'000'000), PortCarrier{port, false});
  bench.apply(ps(4'000'000), PortCarrier{port, true});
  bench.arrive(kD0, ps(4'100'000), kLosslessToUplink0);
  bench.run();
  const std::vector<SeenPacket> drops = bench.notes.drops();
  REQUIRE(drops.size() == 1);
  CHECK(drops[0].cause == DropCause::kPortDown);
  CHECK(drops[0].queue == QueueClass::kLossless);
  CHECK(bench.starts(kU0) == Times{ps(4'800'000)});
  const Times told = bench.starts(kD0, true);  // stop, and go on when the frame was dropped
  CHECK(told == Times{ps(2'200'000), ps(3'000'000)});
  CHECK(bench.node.pause_control()->buffer().held(kD0) == Bytes{0});
}

TEST_CASE("a neighbour that comes back while the buffer is full is asked to stop at once") {
  PauseBench bench;
  bench.pause_arrives(kD1, ps(300'000), kPauseQuanta);
  bench.arrive(kU0, ps(1'000'000), kLosslessToH1);
  const PortRef port{bench.self, kU0};
  bench.apply(ps(3'000'000), PortCarrier{port, false});
  bench.apply(ps(4'000'000), PortCarrier{port, true});
  bench.run(ps(5'000'000));
  CHECK(bench.starts(kU0, true) == Times{ps(1'700'000), ps(4'000'000)});
}

TEST_CASE(
    "a switch that hangs neither pauses nor hears pauses, and says afterwards what holds then") {
  PauseBench bench;
  bench.pause_arrives(kD1, ps(300'000), kPauseQuanta);
  bench.arrive(kU0, ps(1'000'000), kLosslessToH1);
  bench.apply(ps(2'000'000), SwitchState{bench.self, SwitchWork::kHung});
  bench.pause_arrives(kU1, ps(2'500'000), kPauseQuanta);
  bench.apply(ps(9'000'000), SwitchState{bench.self, SwitchWork::kForwarding});
  bench.run(ps(9'500'000));
  const std::vector<Sent> pauses = bench.sent_by(kU0, true);
  REQUIRE(pauses.size() == 2);
  CHECK(pauses[0].start == ps(1'700'000));
  CHECK(pauses[1].start == ps(9'000'000));
  CHECK(lossless_quanta(pauses[1].bytes) == 0);
  CHECK(bench.counters(kD1).dropped(DropCause::kSwitchHung) == 1);
  CHECK(bench.counters(kU1).xoff_received == 0);
}

TEST_CASE("a switch that loses its power forgets all pauses with its links") {
  PauseBench bench;
  bench.pause_arrives(kU0, ps(1'000'000), kPauseQuanta);
  bench.arrive(kD0, ps(1'500'000), kLosslessToUplink0);
  bench.apply(ps(3'000'000), SwitchState{bench.self, SwitchWork::kDown});
  for (uint32_t i = 0; i < 4; ++i) {
    bench.apply(ps(3'000'000), PortCarrier{{bench.self, PortId{i}}, false});
    bench.apply(ps(5'000'000), PortCarrier{{bench.self, PortId{i}}, true});
  }
  bench.apply(ps(5'000'000), SwitchState{bench.self, SwitchWork::kForwarding});
  bench.arrive(kD0, ps(6'000'000), kLosslessToUplink0);
  bench.run();
  CHECK(bench.starts(kU0) == Times{ps(6'700'000)});
  CHECK(bench.starts(kD0, true) == Times{ps(2'200'000)});
  CHECK(bench.notes.drops().size() == 1);
}

TEST_CASE("the watchdog drops what a storm blocks and what comes for it, until the storm is over") {
  for (const WatchdogAction action : {WatchdogAction::kDrop, WatchdogAction::kForward}) {
    const bool drops = action == WatchdogAction::kDrop;
    INFO(drops);
    FabricShape shape = pausing_shape();
    shape.lossless.watchdog = action;
    shape.lossless.detect = FabricTime::from_us(20);
    shape.lossless.restore = FabricTime::from_us(10);
    PauseBench bench(shape);
    bench.pause_arrives(kD1, ps(300'000), kPauseQuanta);
    bench.arrive(kU0, ps(1'000'000), kLosslessToH1);  // waits from 1,700,000 on
    bench.arrive(kU0, ps(2'000'000), kLosslessToH1);
    bench.arrive(kU0, ps(22'000'000), kLosslessToH1);  // in the storm
    bench.pause_arrives(kD1, ps(25'300'000), 0);       // the neighbour lets go
    bench.arrive(kU0, ps(35'299'999), kLosslessToH1);  // the last of the storm
    bench.arrive(kU0, ps(35'300'001), kLosslessToH1);  // the first one after it
    bench.run();
    REQUIRE(bench.notes.events.size() == 2);
    CHECK(bench.notes.events[0] == SeenEvent{ps(21'700'000), "pause_storm_detected", kD1});
    CHECK(bench.notes.events[1] == SeenEvent{ps(36'000'000), "pause_storm_over", kD1});
    CHECK(bench.counters(kD1).dropped(DropCause::kPauseStorm) == (drops ? 4 : 0));
    CHECK(bench.notes.drops().size() == (drops ? 4 : 0));
    CHECK(bench.sent_by(kD1, false).size() == (drops ? 1 : 5));
    CHECK(bench.starts(kD1)[0] == (drops ? ps(36'000'001) : ps(21'700'000)));
    CHECK(bench.node.pause_control()->buffer().held(kU0) == Bytes{0});
  }
}

TEST_CASE("a buffer that shrinks asks the neighbours whose part is too much now, and takes less") {
  FabricShape shape = pausing_shape();
  shape.queues.buffer_share = 3'000;
  PauseBench bench(shape);
  bench.pause_arrives(kD1, ps(300'000), kPauseQuanta);
  for (int i = 0; i < 4; ++i) bench.arrive(kU0, ps(1'000'000 + i), kLosslessToH1);
  bench.apply(ps(5'000'000), SwitchBuffer{bench.self, {Probability::kOne}});
  bench.arrive(kU0, ps(6'000'000), kLosslessToH1);
  bench.run(ps(10'000'000));
  CHECK(bench.starts(kU0, true) == Times{ps(5'000'000)});
  CHECK(bench.counters(kD1).dropped(DropCause::kQueueFull) == 1);
}

TEST_CASE("where nothing is paused a pause frame is a frame like any other that is no IPv6") {
  FabricShape shape = pausing_shape();
  shape.lossless.pfc = false;
  PauseBench bench(shape);
  bench.pause_arrives(kU0, ps(1'000'000), kPauseQuanta);
  bench.arrive(kD0, ps(2'000'000), kLosslessToUplink0);
  bench.run();
  CHECK(bench.starts(kU0) == Times{ps(2'700'000)});
  CHECK(bench.counters(kU0).dropped(DropCause::kNotIpv6) == 1);
}
