// The pace over synthetic processes: what the slowest of them can do is given, what the controller
// makes of it is checked. Lab time is a number here; nothing waits.

#include "lab/live/pace_controller.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace mrclab;
using lab::PaceController;
using lab::PaceDecision;
using netio::ClockPage;
using netio::LabTime;

namespace {

constexpr int64_t kStepNs = 2'000'000;
constexpr int64_t kSecond = 1'000'000'000;
const FabricTime kLookahead = FabricTime::from_ns(1200);

/// Processes that can do one fabric second in `capacity` lab seconds, behind a real clock.
struct SyntheticLab {
  ClockPage clock;
  PaceController controller{kLookahead};
  LabTime now{1};
  FabricTime slowest;
  double capacity = 4'000;
  bool stalled = false;
  bool idle = false;  ///< nothing under way: free to jump, and no frame comes
  FabricTime next = FabricTime::never();
  double least = 1e9, most = 0;  ///< dilation in the last run()
  FabricTime most_ahead;         ///< of the clock, in the last run()

  SyntheticLab() { clock.reset(FabricTime::zero(), now); }

  void step() {
    now = now + kStepNs;
    const FabricTime shown = clock.fabric_at(now);
    const auto possible = static_cast<int64_t>(kStepNs * 1000.0 / capacity);
    if (idle) slowest = shown;
    if (!stalled) slowest = std::min(shown, slowest + FabricTime::from_ps(possible));
    lab::PaceInput input{now, shown, slowest, {}, {}};
    const FabricTime behind = shown - slowest;
    if (!idle && !stalled && !controller.holding()) {
      const double left = static_cast<double>((kLookahead - behind).ps()) / 1000.0;
      input.window_slack_ns = static_cast<int64_t>(left * controller.dilation()) - 300'000;
    }
    if (idle) input.quiet_until = next;
    apply(controller.step(input));
    most_ahead = std::max(most_ahead, behind);
    least = std::min(least, controller.dilation());
    most = std::max(most, controller.dilation());
  }

  void apply(const PaceDecision& decision) {
    switch (decision.kind) {
      case PaceDecision::Kind::kKeep: break;
      case PaceDecision::Kind::kRate: clock.set_dilation({decision.dilation}, now); break;
      case PaceDecision::Kind::kHold: clock.set_dilation({0}, now); break;
      case PaceDecision::Kind::kJump: clock.jump(decision.to, {decision.dilation}, now); break;
    }
  }

  void run(int64_t lab_ns) {
    least = 1e9;
    most = 0;
    most_ahead = FabricTime::zero();
    for (int64_t passed = 0; passed < lab_ns; passed += kStepNs) step();
  }
};

}  // namespace

TEST_CASE("the clock stands until every process has done the instant 0, however long that takes") {
  SyntheticLab lab;
  lab.slowest = FabricTime::from_ps(-1);
  lab.stalled = true;
  lab.run(kSecond);
  CHECK(lab.clock.fabric_at(lab.now) == FabricTime::zero());
  CHECK(lab.controller.dilation() == PaceController::kStart);
  lab.stalled = false;
  lab.run(kSecond);
  CHECK(lab.clock.fabric_at(lab.now) > FabricTime::zero());
}

TEST_CASE("under a steady load the pace settles near what the machine can do, and stays there") {
  for (const double capacity : {800.0, 4'000.0, 30'000.0}) {
    CAPTURE(capacity);
    SyntheticLab lab;
    lab.capacity = capacity;
    lab.run(6 * kSecond);
    const uint64_t holds = lab.controller.holds();
    lab.run(6 * kSecond);
    CAPTURE(lab.least);
    CAPTURE(lab.most);
    CHECK(lab.least >= capacity * 0.8);
    CHECK(lab.most <= capacity * 1.6);
    CHECK(lab.most <= lab.least * 1.5);
    CHECK(lab.controller.holds() - holds <= 8);
  }
}

TEST_CASE("calibration finds a pace ten times faster than the first one within half a second") {
  SyntheticLab lab;
  lab.capacity = 400;
  lab.run(kSecond / 2);
  CHECK(lab.controller.dilation() < 1'000);
}

TEST_CASE(
    "a load that grows threefold slows the pace before the clock is three head starts ahead") {
  SyntheticLab lab;
  lab.capacity = 2'000;
  lab.run(4 * kSecond);
  lab.capacity = 6'000;
  lab.run(4 * kSecond);
  CHECK(lab.most_ahead < kLookahead * 3);
  CHECK(lab.controller.dilation() > 6'000 * 0.8);
  lab.capacity = 2'000;
  lab.run(4 * kSecond);
  CHECK(lab.controller.dilation() < 2'000 * 1.6);
}

TEST_CASE("a process that stands still for 200 ms stops the clock, not the pace for what follows") {
  SyntheticLab lab;
  lab.capacity = 2'000;
  lab.run(4 * kSecond);
  const double before = lab.controller.dilation();
  const uint64_t holds = lab.controller.holds();
  lab.stalled = true;
  lab.run(kSecond / 5);
  CHECK(lab.controller.holding());
  CHECK(lab.controller.holds() == holds + 1);
  CHECK(lab.most_ahead < kLookahead * 3);
  lab.stalled = false;
  lab.run(kSecond / 5);
  CHECK_FALSE(lab.controller.holding());
  CHECK(lab.most < before * 1.3);
  lab.run(kSecond);
  CHECK(lab.controller.dilation() < before * 1.15);
}

TEST_CASE("what was slow only when time began is forgotten within a second") {
  SyntheticLab lab;
  lab.capacity = 30'000;
  lab.run(kSecond / 2);
  CHECK(lab.controller.dilation() > 12'000);
  lab.capacity = 2'000;
  lab.run(kSecond * 6 / 5);
  CHECK(lab.controller.dilation() < 2'000 * 1.6);
}

TEST_CASE("the more often a pace was too fast, the longer it is not tried again") {
  SyntheticLab lab;
  lab.capacity = 2'000;
  uint64_t before = 0;
  std::vector<uint64_t> holds;
  for (int i = 0; i < 4; ++i) {
    lab.run(4 * kSecond);
    holds.push_back(lab.controller.holds() - before);
    before = lab.controller.holds();
  }
  CAPTURE(holds[0]);
  CHECK(holds[0] > 0);
  CHECK(holds[3] <= 4);
  CHECK(lab.most < 2'000 * 1.4);
}

TEST_CASE("a process that is often without a processor does not make the pace slower and slower") {
  SyntheticLab lab;
  lab.capacity = 2'000;
  lab.run(4 * kSecond);
  const double before = lab.controller.dilation();
  // Longer than any lookahead at a sensible pace, and at a slow one.
  for (int i = 0; i < 200; ++i) {
    lab.stalled = true;
    lab.run(kStepNs << (i % 6));
    lab.stalled = false;
    lab.run(kSecond / 25);
  }
  CHECK(lab.controller.holds() > 50);
  CHECK(lab.controller.dilation() < before * 2);
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
  lab.run(kSecond);
  CHECK_FALSE(lab.controller.holding());
  CHECK(lab.controller.dilation() < 4'000 * 1.6);
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
  const int64_t few = lab::tick_for(5'000, kLookahead, 10);
  CHECK(few == 375'000);  // 6 ms / 16
  CHECK(lab::tick_for(400, kLookahead, 10) < 250'000);
  CHECK(lab::tick_for(5'000, kLookahead, 80) > 1'000'000);
  CHECK(lab::tick_for(1e6, kLookahead, 10) == 2'000'000);
  CHECK(lab::tick_for(100, kLookahead, 1) == 100'000);
}
