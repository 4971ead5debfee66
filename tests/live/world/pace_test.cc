#include "live/world/pace.h"

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
  Pace pace(clock, 2000, FabricTime::zero());
  pace.start(now);
  FabricTime slowest;
  drive(pace, clock, now, slowest, 2'000'000'000, 8000);
  CHECK(pace.dilation() == 2000);
  CHECK(clock.fabric_at(now) > slowest + FabricTime::from_us(700));  // of 1 ms, a quarter is done
  const lab::DilationReport report = pace.report(slowest, now);
  CHECK(report.mean == doctest::Approx(8000).epsilon(0.01));
  CHECK(report.min <= report.mean);
  CHECK(report.max >= report.mean);
}

TEST_CASE("a leash makes a clock of fixed pace forget what the processes cannot do in time") {
  netio::ClockPage clock;
  LabTime now{1};
  clock.reset(FabricTime::zero(), now);
  const FabricTime leash = FabricTime::from_us(50);
  Pace pace(clock, 2000, leash);
  pace.start(now);
  FabricTime slowest;
  drive(pace, clock, now, slowest, 500'000'000, 1000);
  CHECK(pace.report(slowest, now).holds == 0);  // quick processes
  for (int i = 0; i < 100; ++i) {
    drive(pace, clock, now, slowest, 20'000'000, 8000);
    REQUIRE(clock.fabric_at(now) <= slowest + leash + leash + FabricTime::from_us(2));
  }
  CHECK(pace.dilation() == 2000);
  CHECK(pace.report(slowest, now).holds > 5);
  const FabricTime before = slowest;
  // The processes are quick again. They make up for at most two leashes, and not for all that they were held up.
  drive(pace, clock, now, slowest, 400'000'000, 1000);
  CHECK(slowest - before < FabricTime::from_us(200) + leash + leash + FabricTime::from_us(5));
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
