#include "lab/live/pace.h"

#include <doctest/doctest.h>

using namespace mrclab;
using lab::Pace;
using netio::LabTime;

namespace {

/// Steps a pace for `lab_ns` while the slowest process manages at most one fabric us per
/// `capacity_k` lab us.
void drive(Pace& pace, netio::ClockPage& clock, LabTime& now, FabricTime& slowest, int64_t lab_ns,
           int64_t capacity_k) {
  for (int64_t passed = 0; passed < lab_ns; passed += 2'000'000) {
    now = now + 2'000'000;
    const FabricTime reachable = slowest + FabricTime::from_ps(2'000'000 * 1000 / capacity_k);
    slowest = std::min(clock.fabric_at(now), reachable);
    pace.step({slowest, {}}, now);
  }
}

}  // namespace

TEST_CASE("a fixed pace does not adapt, and the report says what really happened") {
  netio::ClockPage clock;
  LabTime now{1};
  clock.reset(FabricTime::zero(), now);
  Pace pace(clock, 2000, FabricTime::from_ns(1200));
  pace.start(now);
  FabricTime slowest;
  drive(pace, clock, now, slowest, 2'000'000'000, 8000);
  CHECK(pace.dilation() == 2000);
  const lab::DilationReport report = pace.report(slowest, now);
  CHECK(report.mean == doctest::Approx(8000).epsilon(0.01));
  CHECK(report.min <= report.mean);
  CHECK(report.max >= report.mean);
}

TEST_CASE("a paused pace stays paused, whatever the processes do, until it is resumed") {
  netio::ClockPage clock;
  LabTime now{1};
  clock.reset(FabricTime::zero(), now);
  Pace pace(clock, std::nullopt, FabricTime::from_ns(1200));
  pace.start(now);
  FabricTime slowest;
  drive(pace, clock, now, slowest, 1'000'000'000, 1'000);
  pace.pause(now);
  const FabricTime stands = clock.fabric_at(now + netio::ClockPage::kLeadNs);
  drive(pace, clock, now, slowest, 1'000'000'000, 1'000);
  CHECK(pace.paused());
  CHECK(clock.fabric_at(now) == stands);
  pace.resume(now);
  drive(pace, clock, now, slowest, 1'000'000'000, 1'000);
  CHECK(clock.fabric_at(now) > stands);
}
