// Which neighbour is paused when, and the watchdog, to the picosecond.

#include "switchd/pause_control.h"

#include <doctest/doctest.h>

#include "fabric/packet/pause_frame.h"
#include "fixture.h"

using namespace mrclab;
using namespace mrclab::switchd;
using namespace mrclab::switchd::testing;

namespace {

/// 65,535 quanta of 64 bytes at 80 ps a byte.
constexpr BitRate kRate{100'000'000'000};
constexpr FabricTime kLongest = FabricTime::from_ps(335'539'200);

Topology pausing(WatchdogAction watchdog = WatchdogAction::kOff) {
  FabricShape shape;
  shape.name = "pausing";
  shape.planes = 1;
  shape.t0 = shape.t1 = shape.hosts_per_t0 = 2;
  shape.queues.buffer_share = 0;  // reserve and headroom alone
  shape.lossless.pfc = true;
  shape.lossless.watchdog = watchdog;
  shape.lossless.detect = FabricTime::from_us(100);
  shape.lossless.restore = FabricTime::from_us(30);
  return build_topology(shape);
}

struct ControlBench {
  explicit ControlBench(WatchdogAction watchdog = WatchdogAction::kOff)
      : topology(pausing(watchdog)), control(topology, topology.t0(0, 0)) {}
  void fill() { REQUIRE(control.buffer().admit(kD0, {5'000})); }  // 904 above the reserve
  void drain() { control.buffer().release(kD0, {5'000}); }

  Topology topology;
  PauseControl control;
};

}  // namespace

TEST_CASE("a neighbour is asked to stop once, and again after half of the time it was told") {
  ControlBench bench;
  CHECK_FALSE(bench.control.take_request(kD0, ps(0)).has_value());
  CHECK(bench.control.deadline(kD0, ps(0)) == FabricTime::never());
  bench.fill();
  CHECK(bench.control.take_request(kD0, ps(1'000)) == kPauseQuanta);
  const FabricTime again = ps(1'000) + kLongest / 2;
  CHECK(bench.control.deadline(kD0, ps(1'000)) == again);
  CHECK_FALSE(bench.control.take_request(kD0, again - ps(1)).has_value());
  CHECK(bench.control.take_request(kD0, again) == kPauseQuanta);
  CHECK(bench.control.deadline(kD0, again) == again + kLongest / 2);
  CHECK_FALSE(bench.control.take_request(kD1, again).has_value());
}

TEST_CASE("a neighbour that may go on is told so once") {
  ControlBench bench;
  bench.fill();
  REQUIRE(bench.control.take_request(kD0, ps(0)) == kPauseQuanta);
  CHECK_FALSE(bench.control.may_let_go(kD0));
  bench.drain();
  CHECK(bench.control.may_let_go(kD0));
  CHECK(bench.control.take_request(kD0, ps(5)) == 0);
  CHECK_FALSE(bench.control.may_let_go(kD0));
  CHECK_FALSE(bench.control.take_request(kD0, ps(6)).has_value());
  CHECK(bench.control.deadline(kD0, ps(6)) == FabricTime::never());
}

TEST_CASE("a pause lasts as many bit times of its link as it says, and 0 quanta end it") {
  ControlBench bench;
  bench.control.on_pause(kU0, 100, ps(1'000), kRate);
  const FabricTime end = ps(1'000 + 100 * 64 * 80);
  CHECK(bench.control.deadline(kU0, ps(1'000)) == end);
  CHECK_FALSE(bench.control.may_send(kU0, end - ps(1)));
  CHECK(bench.control.may_send(kU0, end));
  CHECK(bench.control.may_send(kU1, ps(1'000)));
  bench.control.on_pause(kU0, kPauseQuanta, ps(2'000), kRate);
  CHECK_FALSE(bench.control.may_send(kU0, kLongest));
  bench.control.on_pause(kU0, 0, ps(3'000), kRate);
  CHECK(bench.control.may_send(kU0, ps(3'000)));
}

TEST_CASE("quanta are bit times of the rate at which the port sends when it is told") {
  ControlBench bench;
  bench.control.on_pause(kU0, 100, ps(1'000), {25'000'000'000});
  CHECK(bench.control.deadline(kU0, ps(1'000)) == ps(1'000 + 100 * 64 * 320));
}

TEST_CASE(
    "an account counts the time for which pauses were in force, and keeps it over a carrier") {
  ControlBench bench(WatchdogAction::kDrop);
  PauseControl& control = bench.control;
  const auto account = [&](FabricTime now) {
    PortPauses port;
    control.add_to(port, kU0, now);
    return port;
  };
  CHECK(account(ps(7)).stood == ps(0));
  control.on_pause(kU0, kPauseQuanta, ps(1'000), kRate);
  CHECK(account(ps(3'000)).stands);
  CHECK(account(ps(3'000)).stood == ps(2'000));
  control.on_pause(kU0, kPauseQuanta, ps(4'000), kRate);  // received again: the time goes on
  control.on_pause(kU0, 0, ps(6'000), kRate);
  CHECK_FALSE(account(ps(9'000)).stands);
  CHECK(account(ps(9'000)).stood == ps(5'000));
  control.on_pause(kU0, 1, ps(10'000), kRate);
  CHECK(account(ps(99'000)).stood == ps(5'000 + 64 * 80));
  control.on_pause(kU0, kPauseQuanta, ps(100'000), kRate);
  control.note_queue(kU0, true, false, ps(100'000));
  const FabricTime storm = ps(100'000) + FabricTime::from_us(100);
  REQUIRE(control.run_watchdog(kU0, storm));
  CHECK(account(storm).storm);
  control.reset(kU0, storm);
  CHECK_FALSE(account(storm).storm);
  CHECK(account(storm).storms == 1);
  CHECK(account(storm + ps(1)).stood == ps(5'000 + 64 * 80) + FabricTime::from_us(100));
  PortPauses full;
  bench.fill();
  control.add_to(full, kD0, storm);
  CHECK(full.held == Bytes{5'000});
  CHECK(full.headroom_held == Bytes{5'000});  // one frame that the reserve cannot take whole
  CHECK(full.headroom ==
        pause_headroom(bench.topology, bench.topology.port({bench.topology.t0(0, 0), kD0}).in));
}

TEST_CASE("a shorter pause takes the place of a longer one") {
  ControlBench bench;
  bench.control.on_pause(kU0, kPauseQuanta, ps(0), kRate);
  bench.control.on_pause(kU0, 1, ps(1'000), kRate);
  CHECK_FALSE(bench.control.may_send(kU0, ps(6'119)));
  CHECK(bench.control.may_send(kU0, ps(6'120)));
}

TEST_CASE("what was agreed over a link is void when its carrier changes") {
  ControlBench bench(WatchdogAction::kDrop);
  bench.fill();
  REQUIRE(bench.control.take_request(kD0, ps(0)) == kPauseQuanta);
  bench.control.on_pause(kD0, kPauseQuanta, ps(0), kRate);
  bench.control.reset(kD0, ps(0));
  CHECK(bench.control.may_send(kD0, ps(0)));
  CHECK(bench.control.deadline(kD0, ps(0)) == FabricTime::never());
  // The buffer is as full as before, so the neighbour is paused anew.
  CHECK(bench.control.take_request(kD0, ps(1)) == kPauseQuanta);
}

TEST_CASE("the watchdog sees a storm where frames waited for the detection time and none left") {
  for (const WatchdogAction action : {WatchdogAction::kDrop, WatchdogAction::kForward}) {
    INFO(static_cast<int>(action));
    ControlBench bench(action);
    PauseControl& control = bench.control;
    control.on_pause(kU0, kPauseQuanta, ps(0), kRate);
    control.note_queue(kU0, false, false, ps(0));  // paused, but nothing waits
    CHECK(control.deadline(kU0, ps(0)) == kLongest);
    const FabricTime begins = FabricTime::from_us(7);
    control.note_queue(kU0, true, false, begins);
    control.note_queue(kU0, true, false, begins + ps(9));  // one more; the time goes on
    const FabricTime storm = begins + FabricTime::from_us(100);
    CHECK(control.deadline(kU0, begins) == storm);
    CHECK_FALSE(control.run_watchdog(kU0, storm - ps(1)));
    CHECK_FALSE(control.may_send(kU0, storm - ps(1)));
    CHECK(control.run_watchdog(kU0, storm));
    CHECK(control.in_storm(kU0));
    CHECK(control.drops(kU0) == (action == WatchdogAction::kDrop));
    CHECK(control.may_send(kU0, storm));  // whatever the neighbour sends
    // The restoration time begins when the pause is over.
    CHECK(control.deadline(kU0, storm) == kLongest + FabricTime::from_us(30));
    CHECK_FALSE(control.in_storm(kU1));
  }
}

TEST_CASE("a frame that leaves, or an empty queue, begins the detection time anew") {
  ControlBench bench(WatchdogAction::kDrop);
  PauseControl& control = bench.control;
  control.on_pause(kU0, kPauseQuanta, ps(0), kRate);
  control.note_queue(kU0, true, false, ps(0));
  control.note_queue(kU0, true, true, FabricTime::from_us(60));
  CHECK_FALSE(control.run_watchdog(kU0, FabricTime::from_us(159)));
  control.note_queue(kU0, false, true, FabricTime::from_us(159));
  CHECK_FALSE(control.run_watchdog(kU0, FabricTime::from_us(300)));
}

TEST_CASE(
    "a storm is over when no pause was in force for the restoration time; a shorter gap is none") {
  ControlBench bench(WatchdogAction::kDrop);
  PauseControl& control = bench.control;
  control.on_pause(kU0, kPauseQuanta, ps(0), kRate);
  control.note_queue(kU0, true, false, ps(0));
  const FabricTime storm = FabricTime::from_us(100), restore = FabricTime::from_us(30);
  REQUIRE(control.run_watchdog(kU0, storm));
  control.on_pause(kU0, kPauseQuanta, storm, kRate);
  CHECK(control.deadline(kU0, storm) == storm + kLongest + restore);
  // One pause is longer than the restoration time, and asked again it goes on.
  control.on_pause(kU0, kPauseQuanta, storm + kLongest / 2, kRate);
  CHECK_FALSE(control.run_watchdog(kU0, storm + kLongest + restore));
  const FabricTime let_go = storm + kLongest + FabricTime::from_us(40);
  control.on_pause(kU0, 0, let_go, kRate);
  control.on_pause(kU0, 1, let_go + restore - ps(1), kRate);
  CHECK_FALSE(control.run_watchdog(kU0, let_go + restore));
  const FabricTime over = let_go + restore - ps(1) + ps(64 * 80) + restore;
  CHECK(control.deadline(kU0, let_go + restore) == over);
  CHECK_FALSE(control.run_watchdog(kU0, over - ps(1)));
  CHECK(control.run_watchdog(kU0, over));
  CHECK_FALSE(control.in_storm(kU0));
  CHECK(control.may_send(kU0, over));
  CHECK_FALSE(control.drops(kU0));
}

TEST_CASE("without a watchdog a storm lasts as long as its pauses") {
  ControlBench bench;
  bench.control.on_pause(kU0, kPauseQuanta, ps(0), kRate);
  bench.control.note_queue(kU0, true, false, ps(0));
  CHECK_FALSE(bench.control.run_watchdog(kU0, kLongest - ps(1)));
  CHECK_FALSE(bench.control.in_storm(kU0));
}
