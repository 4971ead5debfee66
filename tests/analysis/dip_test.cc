// The rule of analysis/measure/dip.h on hand-made series: base RTT 10 us, first fault at 300 us, end at 1 ms.

#include "analysis/measure/dip.h"

#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include "analysis/measure/measurements.h"
#include "tests/support/times.h"

namespace mrclab::analysis {
namespace {

constexpr int64_t kFullBytes = 1000;  // every 100 ns: 80 Gb/s

using test::us;

/// `percent` is what is delivered at an instant, in percent of 80 Gb/s.
Measurements delivering(const std::function<int64_t(FabricTime)>& percent) {
  std::vector<Delivery> deliveries;
  deliveries.reserve(10'000);
  for (FabricTime t = us(0); t < us(1000); t += FabricTime::from_ns(100)) {
    deliveries.push_back({t, 0, static_cast<uint32_t>(kFullBytes * percent(t) / 100), 0});
  }
  Measurements m;
  m.goodput = GoodputMeter(deliveries);
  m.base_rtt = us(10);
  m.end = m.delivered_until = us(1000);
  m.baseline = baseline_before(us(300), m.goodput, m.window(), m.end);
  return m;
}

/// One that impairs wire 0 from 300 us until 800 us.
FaultSpan outage_of_500_us() {
  FaultSpan fault;
  fault.start = us(300);
  fault.healed_at = us(800);
  fault.impairments = {{WireId{0}, us(300), us(800)}};
  return fault;
}

DipMeasurement dip_of(const Measurements& m, const std::vector<FaultSpan>& faults) {
  return measure_dip(m, faults, 0);
}
DipMeasurement dip_of(const Measurements& m) { return dip_of(m, {outage_of_500_us()}); }

/// Down to `lowest` % from 305 us until 372 us, then `rest` % until 800 us.
std::function<int64_t(FabricTime)> deep_then(int64_t lowest, int64_t rest) {
  return [=](FabricTime t) -> int64_t {
    if (t < us(305) || t >= us(800)) return 100;
    return t < us(372) ? lowest : rest;
  };
}

}  // namespace

TEST_CASE("a dip has a transient part, until the last RTT below what stays, and a steady one") {
  const DipMeasurement found = dip_of(delivering(deep_then(20, 75)));
  REQUIRE(found.dip);
  CHECK(found.why_not.empty());
  CHECK(found.dip->transient == us(80));  // the RTT from 370 us to 380 us is below as well
  CHECK(found.dip->baseline.bps == 80'000'000'000);
  CHECK(found.dip->lowest.bps == 16'000'000'000);
  CHECK(found.dip->steady.bps == 60'000'000'000);
  CHECK(to_string(*found.dip) ==
        "transient for 8 RTT (80us), at the lowest 20.0 % of baseline; then steady at 75.0 %");
}

TEST_CASE("goodput that falls at once to what stays has no transient part") {
  const DipMeasurement found = dip_of(delivering(deep_then(75, 75)));
  REQUIRE(found.dip);
  CHECK(found.dip->transient == FabricTime::zero());
  CHECK(to_string(*found.dip) == "steady at 75.0 % of baseline, without a transient part");
}

TEST_CASE("a fault that takes no capacity has a transient part only") {
  const DipMeasurement found = dip_of(delivering(deep_then(20, 100)));
  REQUIRE(found.dip);
  CHECK(found.dip->transient == us(80));
  CHECK(found.dip->steady == found.dip->baseline);
}

TEST_CASE("a dip that comes again before the last 20 RTT of the outage is not over before") {
  const DipMeasurement found = dip_of(delivering([](FabricTime t) -> int64_t {
    if (t >= us(500) && t < us(510)) return 60;
    return deep_then(20, 75)(t);
  }));
  REQUIRE(found.dip);
  CHECK(found.dip->transient == us(210));
  CHECK(found.dip->lowest.bps == 16'000'000'000);
}

TEST_CASE("a low RTT in the last 20 RTT of the outage belongs to the steady part") {
  const DipMeasurement found = dip_of(delivering([](FabricTime t) -> int64_t {
    if (t >= us(700) && t < us(710)) return 60;
    return deep_then(20, 75)(t);
  }));
  REQUIRE(found.dip);
  CHECK(found.dip->transient == us(80));
  CHECK(found.dip->steady.bps == 59'400'000'000);
}

TEST_CASE("what is 5 % of the baseline below the steady goodput, or less, is no dip") {
  CHECK(dip_of(delivering(deep_then(71, 75))).dip->transient == FabricTime::zero());
  CHECK(dip_of(delivering(deep_then(69, 75))).dip->transient == us(70));
}

TEST_CASE("a workload whose baseline has low RTTs is allowed such later") {
  const auto bursts = [](FabricTime t) { return t / us(10) % 2 == 0 ? 120 : 80; };
  const auto with_fault = [&](FabricTime t) -> int64_t {
    return bursts(t) * (t >= us(300) && t < us(800) ? 75 : 100) / 100;
  };
  const DipMeasurement found = dip_of(delivering(with_fault));
  REQUIRE(found.dip);
  CHECK(found.dip->transient == FabricTime::zero());  // 60 % is 15 % below, in the baseline 20 %
}

TEST_CASE("parts of a dip that cannot be told apart are not told") {
  const auto deep = delivering(deep_then(20, 75));
  SUBCASE("the outage ends, be it in part, within 40 RTT") {
    FaultSpan fault = outage_of_500_us();
    fault.impairments.push_back({WireId{1}, us(320), us(690)});
    CHECK(dip_of(deep, {fault}).why_not == "the outage is shorter than 40 RTT");
  }
  SUBCASE("the run ends too early") {
    FaultSpan fault = outage_of_500_us();
    fault.impairments[0].until = fault.healed_at = FabricTime::never();
    CHECK(dip_of(deep, {fault}).dip);
    auto shorter = deep;
    shorter.delivered_until = us(699);
    CHECK(dip_of(shorter, {fault}).why_not == "the outage is shorter than 40 RTT");
  }
  SUBCASE("another fault begins meanwhile, or is still on") {
    FaultSpan other = outage_of_500_us();
    other.start = us(790);
    CHECK(dip_of(deep, {outage_of_500_us(), other}).why_not ==
          "another fault is on at the same time");
    other.start = us(100);
    other.healed_at = us(301);
    CHECK_FALSE(dip_of(deep, {outage_of_500_us(), other}).dip);
  }
  SUBCASE("goodput goes on changing") {
    const auto rising = [](FabricTime t) { return t < us(300) ? 100 : (t / us(10) - 30) * 2; };
    CHECK(dip_of(delivering(rising)).why_not ==
          "goodput varies by more than 5 % in the last 20 RTT of the outage");
  }
  SUBCASE("there is no baseline") {
    const auto late =
        delivering([](FabricTime t) { return t < us(200) ? 100 : 10 * (t / us(100)); });
    CHECK_FALSE(late.baseline.usable);
    CHECK(dip_of(late).why_not == late.baseline.why_not);
  }
}

TEST_CASE("a fault before or behind an outage leaves its dip alone") {
  FaultSpan before = outage_of_500_us(), behind = outage_of_500_us();
  before.start = us(20), before.healed_at = us(50);
  behind.start = us(800), behind.healed_at = us(900);
  // The baseline lies before the first fault of all, so it is given here.
  Measurements m = delivering(deep_then(20, 75));
  CHECK(measure_dip(m, std::vector{outage_of_500_us(), behind}, 0).dip);
  CHECK(measure_dip(m, std::vector{before, outage_of_500_us()}, 1).why_not == dip_of(m).why_not);
}

}  // namespace mrclab::analysis
