// The pace over synthetic processes: what the slowest of them can do is given, what the controller
// makes of it is checked. Lab time is a number here; nothing waits.

#include "live/world/pace_controller.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace mrclab;
using lab::PaceController;
using lab::PaceDecision;
using netio::ClockPage;
using netio::LabTime;

namespace {

constexpr int64_t kStepNs = 2'000'000;
constexpr int64_t kSecond = 1'000'000'000;
const FabricTime kLeash = FabricTime::from_ns(1200);

/// Processes that can do one fabric second in `capacity` lab seconds, behind a real clock and its leash.
struct SyntheticLab {
  ClockPage clock;
  PaceController controller{kLeash};
  LabTime now{1};
  FabricTime slowest;
  double capacity = 4'000;
  bool stalled = false;
  bool idle = false;  ///< nothing under way: free to jump
  FabricTime next = FabricTime::never();
  double least = 1e9, most = 0;  ///< dilation in the last run()
  /// In the last run(): how far the clock was ahead of the slowest process at most, had there been no leash.
  FabricTime most_ahead;

  SyntheticLab() { clock.reset(FabricTime::zero(), now); }

  void step() {
    now = now + kStepNs;
    const FabricTime paced = clock.fabric_at(now);
    const auto possible = static_cast<int64_t>(kStepNs * 1000.0 / capacity);
    if (idle) slowest = paced;
    // GatePage::time_at moves the leash with the slowest process, so the leash is never in the way of that one.
    if (!stalled) {
      slowest = std::max(slowest, std::min(paced, slowest + FabricTime::from_ps(possible)));
    }
    lab::PaceInput input{now, paced, slowest, {}};
    if (idle) input.quiet_until = next;
    apply(controller.next_pace(input));
    most_ahead = std::max(most_ahead, paced - slowest);
    least = std::min(least, controller.dilation());
    most = std::max(most, controller.dilation());
  }

  void apply(const PaceDecision& decision) {
    switch (decision.kind) {
      case PaceDecision::Kind::kKeep: break;
      case PaceDecision::Kind::kRate: clock.set_dilation({decision.dilation}, now); break;
      case PaceDecision::Kind::kStepBack:
        clock.set_back(decision.to, {decision.dilation}, now);
        break;
      case PaceDecision::Kind::kJump: clock.jump(decision.to, {decision.dilation}, now); break;
    }
  }

  /// Returns the dilation that was achieved.
  double run(int64_t lab_ns) {
    least = 1e9;
    most = 0;
    most_ahead = FabricTime::zero();
    const FabricTime before = slowest;
    for (int64_t passed = 0; passed < lab_ns; passed += kStepNs) step();
    return 1000.0 * static_cast<double>(lab_ns) / static_cast<double>((slowest - before).ps());
  }
};

}  // namespace

TEST_CASE("the clock stands until every process has done the instant 0, however long that takes") {
  SyntheticLab lab;
  lab.slowest = FabricTime::from_ps(-1);
  lab.stalled = true;
  lab.run(kSecond);
  CHECK_FALSE(lab.controller.begun());
  CHECK(lab.clock.fabric_at(lab.now) == FabricTime::zero());
  CHECK(lab.controller.dilation() == PaceController::kStart);
  lab.stalled = false;
  lab.run(kSecond);
  CHECK(lab.clock.fabric_at(lab.now) > FabricTime::zero());
}

TEST_CASE(
    "under a steady load the lab is as fast as its machine, and the pace stays a little faster") {
  for (const double capacity : {800.0, 4'000.0, 30'000.0}) {
    CAPTURE(capacity);
    SyntheticLab lab;
    lab.capacity = capacity;
    lab.run(kSecond);
    CHECK(lab.run(6 * kSecond) < capacity * 1.02);
    CAPTURE(lab.least);
    CAPTURE(lab.most);
    CHECK(lab.least >= capacity * 0.6);
    CHECK(lab.most <= capacity * 1.1);
  }
}

TEST_CASE("a pace ten times faster than the first one is found within a fifth of a second") {
  SyntheticLab lab;
  lab.capacity = 400;
  lab.run(kSecond / 5);
  CHECK(lab.controller.dilation() < 400);
}

TEST_CASE("a load that grows threefold slows the pace, and costs nothing when it is gone") {
  SyntheticLab lab;
  lab.capacity = 2'000;
  lab.run(4 * kSecond);
  lab.capacity = 6'000;
  CHECK(lab.run(4 * kSecond) < 6'000 * 1.02);
  CHECK(lab.controller.dilation() > 6'000 * 0.6);
  lab.capacity = 2'000;
  lab.run(kSecond / 5);
  CHECK(lab.run(4 * kSecond) < 2'000 * 1.02);
}

TEST_CASE("a process that stands still for 200 ms stops the clock, not the pace for what follows") {
  SyntheticLab lab;
  lab.capacity = 2'000;
  lab.run(4 * kSecond);
  const double before = lab.controller.dilation();
  lab.stalled = true;
  lab.run(kSecond / 5);
  // What the pace makes of a step comes on top of two leashes.
  CHECK(lab.most_ahead < kLeash * 2 + FabricTime::from_ps(2 * kStepNs * 1000 / 1'000));
  CHECK(lab.controller.dilation() <
        before * 1.3);  // the window in which it began to stand moved a little
  lab.stalled = false;
  CHECK(lab.run(kSecond) < 2'000 * 1.02);
}

TEST_CASE("a process that is often without a processor does not make the pace slower and slower") {
  SyntheticLab lab;
  lab.capacity = 2'000;
  lab.run(4 * kSecond);
  int64_t stood = 0;
  const FabricTime before = lab.slowest;
  const LabTime from = lab.now;
  for (int i = 0; i < 200; ++i) {
    lab.stalled = true;
    lab.run(kStepNs << (i % 6));
    stood += kStepNs << (i % 6);
    lab.stalled = false;
    lab.run(kSecond / 25);
  }
  CHECK(lab.controller.dilation() < 2'000 * 1.5);
  // All the time in which it had a processor was used.
  const double worked = static_cast<double>(lab.now - from - stood);
  CHECK(worked * 1000 / static_cast<double>((lab.slowest - before).ps()) < 2'000 * 1.1);
}

TEST_CASE("how often the clock had to wait is counted") {
  SyntheticLab lab;
  lab.capacity = 1;
  lab.run(kSecond);
  CHECK(lab.controller.holds() == 0);
  lab.stalled = true;
  lab.run(kSecond);
  CHECK(lab.controller.holds() == 1);
}

TEST_CASE("the clock jumps to the next event over a stretch in which nothing happens") {
  SyntheticLab lab;
  lab.capacity = 4'000;
  lab.run(2 * kSecond);
  const FabricTime before = lab.clock.fabric_at(lab.now);
  lab.idle = true;
  lab.next = before + FabricTime::from_us(100'000);  // at this pace 400 s
  lab.run(kSecond / 20);
  CHECK(lab.controller.jumps() == 1);
  CHECK(lab.clock.fabric_at(lab.now) >= lab.next);
  lab.idle = false;
  lab.slowest = lab.next;
  CHECK(lab.run(kSecond) < 4'000 * 1.02);
}

TEST_CASE("a stretch that is over before a jump could take effect is waited for") {
  SyntheticLab lab;
  lab.run(2 * kSecond);
  lab.idle = true;
  for (int i = 0; i < 100; ++i) {
    lab.next = lab.clock.fabric_at(lab.now) + FabricTime::from_ns(300);
    lab.step();
  }
  CHECK(lab.controller.jumps() == 0);
}

TEST_CASE("many processes tick more rarely, and no tick takes much of the lookahead") {
  const int64_t few = lab::tick_for(5'000, kLeash, 10);
  CHECK(few == 750'000);  // 6 ms / 8
  CHECK(lab::tick_for(400, kLeash, 10) < 250'000);
  CHECK(lab::tick_for(5'000, kLeash, 80) > 1'000'000);
  CHECK(lab::tick_for(1e6, kLeash, 10) == 2'000'000);
  CHECK(lab::tick_for(100, kLeash, 1) == 100'000);
  CHECK(lab::tick_for(100, kLeash, 1, true) == lab::kStandingTickNs);
  CHECK(lab::tick_for(5'000, kLeash, 10, true) == few);  // longer by itself
}
