#include "netio/runtime/clock_page.h"

#include <doctest/doctest.h>

#include <memory>
#include <thread>

using namespace mrclab;
using netio::ClockPage;
using netio::LabTime;

TEST_CASE("fabric time stands still until a rate is set") {
  ClockPage clock;
  clock.reset(FabricTime::from_us(3), LabTime{1'000});
  CHECK(clock.fabric_at(LabTime{1'000}) == FabricTime::from_us(3));
  CHECK(clock.fabric_at(LabTime{9'000'000'000}) == FabricTime::from_us(3));
}

TEST_CASE("at dilation 5000 one microsecond of fabric time takes 5 ms of lab time") {
  ClockPage clock;
  clock.reset(FabricTime::zero(), LabTime{0});
  clock.set_dilation({5000}, LabTime{0});
  const LabTime start{ClockPage::kLeadNs};
  CHECK(clock.fabric_at(start) == FabricTime::zero());
  const int64_t ps = clock.fabric_at(start + 5'000'000).ps();
  CHECK(ps >= 999'999);
  CHECK(ps <= 1'000'000);
  CHECK(clock.lab_ns_between(FabricTime::zero(), FabricTime::from_us(1), start) >= 5'000'000);
  CHECK(clock.lab_ns_between(FabricTime::zero(), FabricTime::from_us(1), start) < 5'000'010);
}

TEST_CASE("a rate change is continuous, takes effect ahead, and keeps the past as it was") {
  ClockPage clock;
  clock.reset(FabricTime::zero(), LabTime{0});
  clock.set_dilation({1000}, LabTime{0});
  const LabTime change{100'000'000};
  const FabricTime before = clock.fabric_at(change);
  clock.set_dilation({4000}, change);
  CHECK(clock.fabric_at(change) == before);
  const LabTime effective = change + ClockPage::kLeadNs;
  const FabricTime at = clock.fabric_at(effective);
  // The lead at k = 1000, then 4 ms at k = 4000; the fixed-point rate rounds down by under a ps/us.
  CHECK((at - before).ps() == doctest::Approx(ClockPage::kLeadNs).epsilon(1e-5));
  CHECK((clock.fabric_at(effective + 4'000'000) - at).ps() ==
        doctest::Approx(1'000'000).epsilon(1e-6));
  CHECK(clock.fabric_at(LabTime{ClockPage::kLeadNs + 45'000'000}).us() == doctest::Approx(45.0));
}

TEST_CASE("a jump goes forward only") {
  ClockPage clock;
  clock.reset(FabricTime::from_us(10), LabTime{0});
  clock.jump(FabricTime::from_us(50), {1000}, LabTime{0});
  CHECK(clock.fabric_at(LabTime{ClockPage::kLeadNs}) == FabricTime::from_us(50));
  clock.jump(FabricTime::from_us(5), {1000}, LabTime{ClockPage::kLeadNs});
  CHECK(clock.fabric_at(LabTime{2 * ClockPage::kLeadNs}) >= FabricTime::from_us(50));
}

TEST_CASE("the clock steps back at once, and what it showed before stays known") {
  ClockPage clock;
  clock.reset(FabricTime::zero(), LabTime{0});
  clock.set_dilation({1000}, LabTime{0});
  const LabTime change{100'000'000};
  const FabricTime before = clock.fabric_at(change + -1'000'000);
  clock.set_back(FabricTime::from_us(20), {500}, change);
  CHECK(clock.fabric_at(change) == FabricTime::from_us(20));
  CHECK(clock.fabric_at(change + 5'000'000) == FabricTime::from_us(30));
  CHECK(clock.fabric_at(change + -1'000'000) == before);
}

TEST_CASE("readers never see a torn segment while the writer publishes") {
  auto clock = std::make_unique<ClockPage>();
  clock->reset(FabricTime::zero(), LabTime{0});
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    // Every segment is on the line fabric = lab (k = 1), so any mixture of two would leave it.
    for (int64_t i = 1; i <= 20'000; ++i) {
      clock->jump(FabricTime::from_ns(i * 1000 + ClockPage::kLeadNs), {1}, LabTime{i * 1000});
    }
    stop = true;
  });
  uint64_t torn = 0;
  while (!stop) {
    const LabTime probe{30'000'000'000};
    const FabricTime seen = clock->fabric_at(probe);
    if (seen != FabricTime::zero() && seen.ns() != probe.ns) ++torn;
  }
  writer.join();
  CHECK(torn == 0);
}
